//! A SQLite database in the scratch folder that makes and fills itself on first start.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::{Timestamp, Unit};
use sqlx::{
    SqlitePool,
    error::DatabaseError,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::time::sleep;

use crate::DemoError;

/// How long a statement waits for another process to finish writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// <https://www.sqlite.org/rescode.html#busy>
const SQLITE_BUSY: &str = "5";
/// One writer at a time is SQLite's rule; the rest read.
const MAX_CONNECTIONS: u32 = 4;

/// Opens `{scratch}/{file}`. `first` is run once in the file's life: schema and seed data.
pub(crate) async fn open(
    scratch: &Path,
    file: &str,
    first: &'static str,
) -> Result<SqlitePool, DemoError> {
    let path = scratch.join(file);
    connect(&path, first).await.map_err(|source| DemoError::Database { path, source })
}

/// The present moment as the databases keep it: RFC 3339 in UTC, whole seconds.
pub(crate) fn now() -> String {
    let now = Timestamp::now();
    now.round(Unit::Second).unwrap_or(now).to_string()
}

/// The words of a search as a JSON array, for `json_each` to take apart.
pub(crate) fn words(query: &str) -> String {
    let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
    serde_json::json!(words).to_string()
}

async fn connect(path: &Path, first: &'static str) -> Result<SqlitePool, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(BUSY_TIMEOUT);
    let pool = pool(options).await?;
    // The lock comes before the look, so that two processes cannot both find the file new.
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    let version: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *transaction).await?;
    if version == 0 {
        sqlx::raw_sql(first).execute(&mut *transaction).await?;
        sqlx::raw_sql("PRAGMA user_version = 1").execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(pool)
}

/// Connects. While another process gives a new file its journal, SQLite refuses at once, whatever the
/// timeout is; so it is asked again.
async fn pool(options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let pool = SqlitePoolOptions::new().max_connections(MAX_CONNECTIONS);
        match pool.connect_with(options.clone()).await {
            Err(error) if is_busy(&error) && Instant::now() < deadline => sleep(BUSY_PAUSE).await,
            result => return result,
        }
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == SQLITE_BUSY)
}
