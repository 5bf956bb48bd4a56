//! What a database holds, as its own catalogue tells it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Everything that a role can see in one database, before any rule of Gatefold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The server's own words for its version.
    pub version: String,
    /// The schemas in which a bare table name is looked up, in their order. SQLite has `main`, MySQL
    /// the database that was connected to.
    pub default_schemas: Vec<String>,
    /// By schema, then by name.
    pub tables: Vec<Table>,
    /// How many more there are than [`Schema::MAX_TABLES`].
    pub tables_left_out: usize,
    /// Functions that are not built in, one for all of a name in a schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routines: Vec<Routine>,
    /// Operators that are not built in, one for each function behind a name in a schema.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<Operator>,
    /// The types of columns that are lists of labels or of fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<OwnType>,
}

impl Schema {
    /// The most tables that are read of one database.
    pub const MAX_TABLES: usize = 20_000;
    /// The most columns that are read of one database.
    pub const MAX_COLUMNS: usize = 500_000;
}

/// A table's full name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TableName {
    pub schema: String,
    pub name: String,
}

impl TableName {
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: schema.into(), name: name.into() }
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// A table, or something that can be selected from like one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    pub name: TableName,
    pub kind: TableKind,
    pub comment: Option<String>,
    /// The server's estimate; `None` where it has none.
    pub rows: Option<u64>,
    pub columns: Vec<Column>,
    /// The columns of its primary key, in the key's order.
    pub primary_key: Vec<String>,
    pub foreign_keys: Vec<ForeignKey>,
    pub indexes: Vec<Index>,
    /// What a view reads, directly, or a table that keeps its rows in others. `None` where the server does not
    /// tell: such a one is shown only if it is named itself. Empty for other tables.
    pub reads: Option<Vec<TableName>>,
    /// The tables whose rows it has besides its own, with the same columns: partitions, and tables that inherit
    /// from it, at any depth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<TableName>,
    /// The functions that a view calls and that might read more than [`Table::reads`] says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<TableName>,
    /// Whether it is a full-text table of SQLite, which has a column of its own name to search in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_full_text: bool,
}

/// All functions of one name in one schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routine {
    pub name: TableName,
    /// The gravest of them.
    pub volatility: Volatility,
    /// Whether an extension made all of them.
    pub of_extension: bool,
    /// Whether one runs with its owner's rights.
    pub as_owner: bool,
}

/// What the server is told of a function, the most harmless first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Volatility {
    /// Its arguments alone decide what it answers.
    Immutable,
    /// It may read tables.
    Stable,
    /// It may do anything.
    Volatile,
}

/// An operator, and the function that it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operator {
    pub name: TableName,
    pub routine: TableName,
}

/// A type that somebody made, of which a column is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnType {
    pub name: TableName,
    /// As the types of columns are written.
    pub written: String,
    /// The names of its fields; an enumeration has none.
    pub fields: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    Table,
    View,
    MaterializedView,
    ForeignTable,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    /// The type as the server writes it, such as `character varying(20)`.
    pub column_type: String,
    pub nullable: bool,
    /// The default as an expression of SQL.
    pub default: Option<String>,
    /// Whether the server computes it.
    pub generated: bool,
    pub comment: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    pub table: TableName,
    /// The columns there, in the order of [`ForeignKey::columns`].
    pub references: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    pub name: String,
    /// Columns, or expressions as the server writes them.
    pub columns: Vec<String>,
    pub unique: bool,
}
