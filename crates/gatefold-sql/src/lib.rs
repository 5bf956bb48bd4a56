//! Databases as sources: SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! A model's statement passes four walls: the guard, which reads it and knows which tables may be
//! seen; a transaction that cannot write; session settings that bound what it may use; and a check of
//! the role at connect. This crate knows no MCP and no HTTP.

mod address;
mod database;
mod dialect;
mod function_names;
mod functions;
mod guard;
mod mysql;
mod opening;
mod pattern;
mod postgres;
mod rows;
mod schema;
mod settings;
mod source;
mod sqlite;
mod visible;

/// The corpora of statements name this crate as those do who use it.
#[cfg(test)]
extern crate self as gatefold_sql;

#[cfg(test)]
#[path = "../tests/corpus/statements.rs"]
mod statements;

pub use address::{
    AddressError, DatabaseAddress, ServerAddress, ServerPlace, TlsMode, TlsSettings,
};
pub use database::{
    Database, DatabaseError, Missing, OpenWrite, Privilege, QueryRows, ReadQuery, ResultColumn,
    Role, Stop,
};
pub use dialect::Dialect;
pub use guard::{CheckedStatement, Guard, GuardError, LimitForm, StatementKind, WriteVerb};
pub use mysql::MySqlServer;
pub use opening::open;
pub use pattern::{ColumnPattern, PatternError, TablePattern};
pub use postgres::Postgres;
pub use rows::{MASK, RowCollector};
pub use schema::{
    Column, ForeignKey, Index, Operator, OwnType, Routine, Schema, Table, TableKind, TableName,
    Volatility,
};
pub use settings::{DatabaseSettings, Writes};
pub use source::{DatabaseSource, DatabaseSourceSettings, TableNote, TableNotes};
pub use sqlite::{SQLITE_TASK, SqliteFile, SqliteWorker};
pub use visible::{TableRules, VisibleColumn, VisibleSchema, VisibleTable};
