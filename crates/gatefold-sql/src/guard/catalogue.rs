//! The parts of a server's catalogue that tell of tables and columns, made of what may be seen.
//!
//! Models ask for a schema where they learned to, such as `information_schema.columns`. The server's own
//! catalogue tells of what is hidden too, so a statement that may select from it is sent with the rows
//! written out.

use sqlparser::ast::{Expr, FunctionArg, FunctionArgExpr, Ident, Value};

use super::error::GuardError;
use super::inspector::Inspector;
use super::scopes::{OutputColumn, Relation};
use crate::{Column, Dialect, Table, TableKind, VisibleSchema, VisibleTable};

/// The longest text of rows. SQLite takes statements up to 256 KiB.
const MAX_BYTES: usize = 128 * 1024;

/// The most rows. MySQL and MariaDB have to be sent one `SELECT` for each.
const MAX_ROWS: usize = 2_000;

/// Rows of a catalogue, each as long as the columns.
struct CatalogueRows {
    columns: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

enum Cell {
    Null,
    Number(usize),
    Text(String),
}

impl Inspector<'_> {
    /// A part of the catalogue that a statement names as a table, if it is one that can be told.
    pub(super) fn catalogue_table(
        &mut self,
        idents: &[&Ident],
        is_aliased: bool,
    ) -> Result<Option<Relation>, GuardError> {
        let (schema, first, last) = match idents {
            [last] => (None, *last, *last),
            [schema, last] => (Some(self.name(schema)), *schema, *last),
            _ => return Ok(None),
        };
        let name = self.name(last);
        if !self.tells_catalogue || self.schema.table(schema.as_deref(), &name).is_some() {
            return Ok(None);
        }
        let Some(told) = catalogue_rows(self.schema, schema.as_deref(), &name.to_ascii_lowercase())
        else {
            return Ok(None);
        };
        let text = told.to_sql(self.dialect(), (!is_aliased).then_some(&*name))?;
        self.edits.replace(first.span, last.span, text)?;
        let relation = Relation { schema, ..told.relation(name) };
        Ok(Some(relation))
    }

    /// `pragma_table_info('name')`, which tells the columns of a table.
    pub(super) fn catalogue_function(
        &mut self,
        idents: &[&Ident],
        args: &[FunctionArg],
        is_aliased: bool,
    ) -> Result<Option<Relation>, GuardError> {
        let [last] = idents else { return Ok(None) };
        let name = self.name(last).to_ascii_lowercase();
        let is_known = matches!(&*name, "pragma_table_info" | "pragma_table_xinfo");
        if !self.tells_catalogue || self.dialect() != Dialect::Sqlite || !is_known {
            return Ok(None);
        }
        let Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) = args.first() else {
            return Ok(None);
        };
        let table = match argument {
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => text.replace("''", "'"),
                _ => return Ok(None),
            },
            Expr::Identifier(ident) if ident.quote_style == Some('"') => ident.value.clone(),
            _ => return Ok(None),
        };
        // A table that may not be seen has no columns, as one that is not there.
        let table = self.schema.table(None, &table);
        let rows = table.map(|table| column_infos(&table.table)).unwrap_or_default();
        let columns = &["cid", "name", "type", "notnull", "dflt_value", "pk"];
        let told = CatalogueRows { columns, rows };
        let text = told.to_sql(self.dialect(), (!is_aliased).then_some(&*name))?;
        self.edits.replace_call(self.tokens, last.span, text)?;
        Ok(Some(told.relation(name)))
    }
}

impl CatalogueRows {
    fn relation(&self, name: String) -> Relation {
        let column = |name: &&str| OutputColumn { name: (*name).to_owned(), is_masked: false };
        Relation::new(Some(name), self.columns.iter().map(column).collect())
    }

    /// A subquery with these rows.
    fn to_sql(&self, dialect: Dialect, alias: Option<&str>) -> Result<String, GuardError> {
        let quoted = |name: &str| dialect.quoted(name);
        let row = |row: &[Cell]| row.iter().map(|cell| cell.to_sql(dialect)).collect::<Vec<_>>();
        let names: Vec<_> = self.columns.iter().map(|name| quoted(name)).collect();
        let select = |values: Vec<String>| {
            let values = values.iter().zip(&names);
            let values: Vec<_> = values.map(|(value, name)| format!("{value} AS {name}")).collect();
            format!("SELECT {}", values.join(", "))
        };
        if self.rows.len() > MAX_ROWS {
            return Err(GuardError::LongCatalogue);
        }
        let is_mysql = matches!(dialect, Dialect::MySql | Dialect::MariaDb);
        let mut text = if self.rows.is_empty() {
            let none = names.iter().map(|_| "NULL".to_owned()).collect();
            let from = if is_mysql { " FROM DUAL" } else { "" };
            format!("({}{from} WHERE 1 = 0)", select(none))
        } else if is_mysql {
            let selects: Vec<_> = self.rows.iter().map(|cells| select(row(cells))).collect();
            format!("({})", selects.join(" UNION ALL "))
        } else {
            let places = (1..=names.len()).map(|at| format!("column{at}")).collect();
            let rows: Vec<_> =
                self.rows.iter().map(|cells| format!("({})", row(cells).join(", "))).collect();
            format!("({} FROM (VALUES {}) AS told)", select(places), rows.join(", "))
        };
        if text.len() > MAX_BYTES {
            return Err(GuardError::LongCatalogue);
        }
        if let Some(alias) = alias {
            text.push_str(" AS ");
            text.push_str(&quoted(alias));
        }
        Ok(text)
    }
}

impl Cell {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn optional(text: Option<&String>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.clone()))
    }

    fn to_sql(&self, dialect: Dialect) -> String {
        match self {
            Self::Null => "NULL".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => {
                let is_mysql = matches!(dialect, Dialect::MySql | Dialect::MariaDb);
                let plain: String =
                    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                let plain = if is_mysql { plain.replace('\\', "\\\\") } else { plain };
                format!("'{}'", plain.replace('\'', "''"))
            }
        }
    }
}

/// The rows of a part of the catalogue, by its name in lower case; of too many, one more than may be.
fn catalogue_rows(
    visible: &VisibleSchema,
    schema: Option<&str>,
    name: &str,
) -> Option<CatalogueRows> {
    let schema = schema.map(str::to_ascii_lowercase);
    let tables = visible.tables();
    let of_tables = |columns: &'static [&'static str], row: &dyn Fn(&VisibleTable) -> Vec<Cell>| {
        Some(CatalogueRows { columns, rows: tables.iter().take(MAX_ROWS + 1).map(row).collect() })
    };
    match (visible.dialect(), schema.as_deref(), name) {
        (Dialect::Sqlite, None | Some("main"), "sqlite_master" | "sqlite_schema") => {
            of_tables(&["type", "name", "tbl_name", "rootpage", "sql"], &|table| {
                let name = || Cell::text(&table.table.name.name);
                let kind = if table.table.kind == TableKind::View { "view" } else { "table" };
                vec![Cell::text(kind), name(), name(), Cell::Null, Cell::text(definition(table))]
            })
        }
        (Dialect::Sqlite, ..) => None,
        (Dialect::Postgres, None | Some("pg_catalog"), "pg_tables" | "pg_views") => {
            let is_view = |table: &&VisibleTable| table.table.kind == TableKind::View;
            let wants_views = name == "pg_views";
            let wanted = tables.iter().filter(|table| is_view(table) == wants_views);
            let row = |table: &VisibleTable| {
                let own = &table.table.name;
                vec![Cell::text(&own.schema), Cell::text(&own.name)]
            };
            let columns: &'static [&'static str] = if wants_views {
                &["schemaname", "viewname"]
            } else {
                &["schemaname", "tablename"]
            };
            Some(CatalogueRows { columns, rows: wanted.take(MAX_ROWS + 1).map(row).collect() })
        }
        (_, Some("information_schema"), "tables") => {
            of_tables(&["table_schema", "table_name", "table_type", "table_comment"], &|table| {
                let own = &table.table;
                let kind = match own.kind {
                    TableKind::Table => "BASE TABLE",
                    TableKind::View | TableKind::MaterializedView => "VIEW",
                    TableKind::ForeignTable => "FOREIGN",
                };
                vec![
                    Cell::text(&own.name.schema),
                    Cell::text(&own.name.name),
                    Cell::text(kind),
                    Cell::optional(own.comment.as_ref()),
                ]
            })
        }
        (_, Some("information_schema"), "columns") => {
            let rows = tables.iter().flat_map(|table| {
                let columns = (1..).zip(&table.table.columns);
                columns.map(move |(at, column)| information(&table.table, at, column))
            });
            Some(CatalogueRows { columns: COLUMNS, rows: rows.take(MAX_ROWS + 1).collect() })
        }
        _ => None,
    }
}

/// The columns of `information_schema.columns` that are told.
const COLUMNS: &[&str] = &[
    "table_schema",
    "table_name",
    "column_name",
    "ordinal_position",
    "column_default",
    "is_nullable",
    "data_type",
    "character_maximum_length",
    "column_type",
    "column_key",
    "column_comment",
];

fn information(table: &Table, at: usize, column: &Column) -> Vec<Cell> {
    let (base, size) = base_type(&column.column_type);
    let is_text = base.contains("char");
    let is_key = table.primary_key.contains(&column.name);
    vec![
        Cell::text(&table.name.schema),
        Cell::text(&table.name.name),
        Cell::text(&column.name),
        Cell::Number(at),
        Cell::optional(column.default.as_ref()),
        Cell::text(if column.nullable { "YES" } else { "NO" }),
        Cell::text(base),
        size.filter(|_| is_text).map_or(Cell::Null, Cell::Number),
        Cell::text(&column.column_type),
        Cell::text(if is_key { "PRI" } else { "" }),
        Cell::optional(column.comment.as_ref()),
    ]
}

/// A type without what stands in parentheses, and a number that does: `varchar(20)` is `varchar` and 20.
fn base_type(written: &str) -> (String, Option<usize>) {
    let Some((base, rest)) = written.split_once('(') else { return (written.to_owned(), None) };
    let (size, behind) = rest.split_once(')').unwrap_or((rest, ""));
    // `unsigned` is a part of MySQL's types, and `with time zone` of PostgreSQL's.
    let behind = behind.trim();
    let base = base.trim();
    let whole = if behind.is_empty() || behind.contains("unsigned") {
        base.to_owned()
    } else {
        format!("{base} {behind}")
    };
    (whole, size.parse().ok())
}

/// What `pragma_table_info` tells of a table.
fn column_infos(table: &Table) -> Vec<Vec<Cell>> {
    let row = |(at, column): (usize, &Column)| {
        let key = table.primary_key.iter().position(|name| *name == column.name);
        vec![
            Cell::Number(at),
            Cell::text(&column.name),
            Cell::text(&column.column_type),
            Cell::Number(usize::from(!column.nullable)),
            Cell::optional(column.default.as_ref()),
            Cell::Number(key.map_or(0, |at| at + 1)),
        ]
    };
    table.columns.iter().enumerate().map(row).collect()
}

/// A statement that would make a table with the columns that may be seen.
fn definition(table: &VisibleTable) -> String {
    let own = &table.table;
    let quoted = |name: &String| Dialect::Sqlite.quoted(name);
    let list = |names: &[String]| names.iter().map(quoted).collect::<Vec<_>>().join(", ");
    let column = |column: &Column| {
        let not_null = if column.nullable { "" } else { " NOT NULL" };
        format!("{} {}{not_null}", quoted(&column.name), column.column_type)
    };
    let mut parts: Vec<_> = own.columns.iter().map(column).collect();
    if !own.primary_key.is_empty() {
        parts.push(format!("PRIMARY KEY ({})", list(&own.primary_key)));
    }
    let keys = own.foreign_keys.iter().map(|key| {
        let (from, to) = (list(&key.columns), list(&key.references));
        format!("FOREIGN KEY ({from}) REFERENCES {} ({to})", quoted(&key.table.name))
    });
    parts.extend(keys);
    let kind = if own.kind == TableKind::View { "VIEW" } else { "TABLE" };
    format!("CREATE {kind} {} ({})", quoted(&own.name.name), parts.join(", "))
}
