use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Domain, SystemClock};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::querying::QueryBounds;
use super::{DatabaseSource, DatabaseSourceSettings, TableNotes};
use crate::{ColumnPattern, DatabaseAddress, DatabaseSettings, SqliteFile, TableRules, Writes};

const BOUNDS: QueryBounds =
    QueryBounds { max_rows: 10, max_bytes: 10_000, timeout: Duration::from_secs(10) };

async fn change(path: &std::path::Path, sql: &str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

fn source(path: &std::path::Path) -> DatabaseSource {
    let settings = DatabaseSettings::new(DatabaseAddress::Sqlite(path.to_owned()));
    let rules = TableRules {
        hide: vec![ColumnPattern::new("*.salary").unwrap()],
        mask: vec![ColumnPattern::new("*.email").unwrap()],
        ..TableRules::default()
    };
    let of_source = DatabaseSourceSettings {
        domain: Domain::parse("hr").unwrap(),
        rules,
        notes: TableNotes::default(),
        writes: Writes::Refuse,
        rows: 10,
        statement_timeout: Duration::from_secs(10),
    };
    let file = SqliteFile::new(path.to_owned(), &settings);
    DatabaseSource::new(of_source, Arc::new(file), Arc::new(SystemClock), None)
}

async fn rows(source: &DatabaseSource, sql: &str) -> Value {
    let (_, rows) = source.read(&*source.database, sql, &BOUNDS).await.unwrap();
    json!(rows.unwrap().rows)
}

#[tokio::test]
async fn a_column_that_a_table_gets_later_is_hidden_and_masked_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hr.db");
    let tables = "CREATE TABLE t (id); INSERT INTO t VALUES (1); \
                  CREATE TABLE u (id); INSERT INTO u VALUES (2)";
    change(&path, tables).await;
    let source = source(&path);
    assert_eq!(rows(&source, "SELECT * FROM t").await, json!([[1]]));
    change(&path, "ALTER TABLE t ADD COLUMN salary DEFAULT 9").await;
    assert_eq!(rows(&source, "SELECT * FROM t").await, json!([[1]]));
    change(&path, "ALTER TABLE u ADD COLUMN email DEFAULT 'a@b'").await;
    assert_eq!(rows(&source, "SELECT * FROM u").await, json!([[2, "***"]]));
    assert_eq!(rows(&source, "SELECT 2 AS salary, id FROM t").await, json!([[2, 1]]));
}
