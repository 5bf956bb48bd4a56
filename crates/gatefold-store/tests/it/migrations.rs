//! Databases of earlier versions of Gatefold.

use std::path::Path;

use gatefold_dispatch::{AuditLog as _, AuditOutcome, CallOpened};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _, SqlSafeStr as _};
use tempfile::tempdir;

use crate::fixture::{NOW, closed, connect, id, open, opened, records};

/// A database of the first schema, with a call that has ended and one that is suspended.
async fn first_schema(directory: &Path) {
    let options = SqliteConnectOptions::new().create_if_missing(true);
    let mut connection = options.filename(directory.join("gatefold.db")).connect().await.unwrap();
    let sql = include_str!("../../migrations/0001_records.sql").into_sql_str();
    let first = Migration::new(1, "records".into(), MigrationType::Simple, sql, false);
    Migrator::with_migrations(vec![first]).run(&mut connection).await.unwrap();
    let expires = NOW.as_millis() + 60_000;
    for (number, outcome, closed_at, expires_at) in
        [(1, "done", "7", "null"), (2, "suspended", "null", &*expires.to_string())]
    {
        let row = format!(
            "INSERT INTO calls (id, owner, attempt, opened_at, user, subject, arguments_digest, \
             arguments_bytes, outcome, closed_at, expires_at) VALUES (unhex('{}'), 1, 1, 5, 'ann', \
             'send', unhex('09'), 2, '{outcome}', {closed_at}, {expires_at})",
            id(number)
        );
        connection.execute(sqlx::AssertSqlSafe(row)).await.unwrap();
    }
}

#[tokio::test]
async fn calls_of_the_first_schema_are_kept_and_were_calls_of_tools() {
    let directory = tempdir().unwrap();
    first_schema(directory.path()).await;
    let store = open(directory.path()).await;
    let kept = records(&store).await;
    let kept: Vec<_> = kept.iter().map(|call| (&*call.outcome, &*call.operation)).collect();
    assert_eq!(kept, [("done", "tool"), ("suspended", "tool")]);

    let prompt = CallOpened { operation: "prompt", ..opened(3) };
    store.open(prompt).await.unwrap().close(closed(id(3), AuditOutcome::Done)).await;
    store.open(opened(2)).await.unwrap().close(closed(id(2), AuditOutcome::Done)).await;
    store.open(opened(1)).await.err().expect("an ended call is not opened again");
    let now = records(&store).await;
    let now: Vec<_> = now.iter().map(|call| (&*call.outcome, &*call.operation)).collect();
    assert_eq!(now, [("done", "tool"), ("done", "tool"), ("done", "prompt")]);

    drop(store);
    let mut connection = connect(directory.path()).await;
    let versions = sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version");
    let versions: Vec<i64> = versions.fetch_all(&mut connection).await.unwrap();
    assert_eq!(versions, (1..=19).collect::<Vec<_>>());
}
