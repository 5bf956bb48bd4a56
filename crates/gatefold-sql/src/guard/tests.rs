use super::*;
use crate::{Column, ColumnPattern, Dialect, Schema, Table, TableKind, TablePattern, TableRules};

mod catalogue;
mod corpus;
mod everyday;
mod forms;
mod masks;
mod mixtures;
mod names;
mod own;
mod sizes;
mod strings;
mod writes;

const DIALECTS: [Dialect; 4] =
    [Dialect::Sqlite, Dialect::Postgres, Dialect::MySql, Dialect::MariaDb];

/// What of the tables of the corpus may be seen.
#[derive(Debug, Clone, Copy)]
enum Rules {
    /// All but `secrets`.
    Open,
    /// No salaries, and marks instead of e-mail addresses.
    Closed,
}

fn default_schema(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "main",
        Dialect::Postgres => "public",
        Dialect::MySql | Dialect::MariaDb => "hr",
    }
}

fn table(dialect: Dialect, name: &str, kind: TableKind, columns: &[&str]) -> Table {
    let column = |name: &&str| Column {
        name: (*name).to_owned(),
        column_type: "text".to_owned(),
        nullable: true,
        default: None,
        generated: false,
        comment: None,
    };
    Table {
        name: TableName::new(default_schema(dialect), name),
        kind,
        comment: None,
        rows: None,
        columns: columns.iter().map(column).collect(),
        primary_key: vec!["id".to_owned()],
        foreign_keys: Vec::new(),
        indexes: Vec::new(),
        reads: Some(Vec::new()),
        parts: Vec::new(),
        calls: Vec::new(),
        is_full_text: false,
    }
}

fn visible(dialect: Dialect, rules: Rules) -> VisibleSchema {
    let plain = |name: &str, columns: &[&str]| table(dialect, name, TableKind::Table, columns);
    let employees =
        ["id", "name", "email", "salary", "manager_id", "department_id", "hired_at", "data"];
    let schema = Schema {
        version: String::new(),
        default_schemas: vec![default_schema(dialect).to_owned()],
        tables: vec![
            plain("departments", &["id", "name", "city", "budget"]),
            plain("employees", &employees),
            plain("orders", &["id", "employee_id", "amount", "placed_at", "note", "tags"]),
            plain("secrets", &["id", "token"]),
            table(dialect, "staff", TableKind::View, &["id", "name"]),
        ],
        tables_left_out: 0,
        ..Schema::default()
    };
    let column = |text: &str| ColumnPattern::new(text).unwrap();
    let mut made =
        TableRules { deny: vec![TablePattern::new("secrets").unwrap()], ..TableRules::default() };
    if let Rules::Closed = rules {
        made.hide.push(column("employees.salary"));
        made.mask.push(column("*.email"));
    }
    VisibleSchema::new(dialect, &schema, &made)
}

fn check(dialect: Dialect, sql: &str) -> Result<CheckedStatement, GuardError> {
    Guard::new(&visible(dialect, Rules::Closed)).check(sql)
}

/// The text that is sent.
fn sent(dialect: Dialect, sql: &str) -> String {
    check(dialect, sql).unwrap_or_else(|error| panic!("{dialect} {sql}: {error}")).sql
}

/// The message for a statement that is refused.
fn message(dialect: Dialect, sql: &str) -> String {
    match check(dialect, sql) {
        Ok(passed) => panic!("{dialect} {sql}: passed as {}", passed.sql),
        Err(error) => error.to_string(),
    }
}
