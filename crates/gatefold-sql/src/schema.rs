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
