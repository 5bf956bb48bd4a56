use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{CallError, Digest, Domain, EntryKind, Hints, SystemClock, Target, ToolId};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};

use super::querying::QueryBounds;
use super::{DatabaseSource, DatabaseSourceSettings, TableNotes, ToolError};
use crate::{
    ColumnPattern, DatabaseAddress, DatabaseError, DatabaseSettings, OpenWrite, SqliteFile,
    TableRules, Writes,
};

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

const SECOND: Duration = Duration::from_secs(1);

fn target(name: &str) -> Target {
    Target {
        kind: EntryKind::Tool,
        domain: Domain::parse("hr").unwrap(),
        id: ToolId::new(format!("hr__{name}")),
        name: name.into(),
        digest: Digest::new([0; 32]),
        hints: Hints::default(),
    }
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

/// A change whose commit has no answer, or is refused.
struct UnansweredCommit(DatabaseError);

impl OpenWrite for UnansweredCommit {
    fn rows_affected(&self) -> u64 {
        1
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), DatabaseError>> {
        async move { Err(self.0) }.boxed()
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }
}

#[tokio::test]
async fn a_commit_whose_end_is_not_known_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(&folder.path().join("hr.db"));
    let told = async |error| {
        let failed = super::writing::commit(Box::new(UnansweredCommit(error))).await.unwrap_err();
        source.failed(failed, &target("execute")).to_string()
    };
    let reason = "the connection was lost".to_owned();
    let lost = DatabaseError::Unreachable { reason, source: Some("reset".into()) };
    for (error, cause) in [(lost, "lost: reset"), (DatabaseError::Timeout(SECOND), "1 s")] {
        let told = told(error).await;
        assert!(told.contains("it may have taken effect: ") && told.contains(cause), "{told}");
    }
    let told = told(DatabaseError::Write).await;
    assert!(told.contains("refused the call"), "{told}");
}

#[test]
fn a_database_that_answers_is_not_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(&folder.path().join("hr.db"));
    let told = |error| source.failed(ToolError::Database(error), &target("query"));
    let failed = told(DatabaseError::Failed("a type that nobody knows".into()));
    assert!(matches!(failed, CallError::NoResult { .. }), "{failed}");
    assert!(failed.to_string().contains("a type that nobody knows"), "{failed}");
    let privileged = DatabaseError::Privileged { role: "a".to_owned(), could: "b".to_owned() };
    assert!(matches!(told(privileged), CallError::NotSent { .. }));
}
