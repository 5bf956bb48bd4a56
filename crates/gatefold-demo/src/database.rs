//! A SQLite database that is created and filled on first start.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use sqlx::{
    AssertSqlSafe, Row, SqlitePool,
    error::DatabaseError,
    sqlite::{
        SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
    },
};
use tokio::time::sleep;

use crate::{
    DemoError,
    error::{ToolError, refuse},
    fields::{Arguments, Field, Kind},
};

/// How long a statement waits for another process to finish writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// <https://www.sqlite.org/rescode.html#busy>
const SQLITE_BUSY: &str = "5";
/// SQLite allows one writer at a time; the other connections read.
const MAX_CONNECTIONS: u32 = 4;
/// The beginning of SQLite's message about a constraint. Our constraints are named by sentences.
const CONSTRAINT: &str = "CHECK constraint failed: ";
/// What a trigger raised: a sentence too. <https://www.sqlite.org/rescode.html#constraint_trigger>
const RAISED: &str = "1811";
/// The arguments that say which entry is meant.
const IDS: [&str; 4] = ["id", "issue_id", "order_id", "sku"];

/// A server's entries of one kind.
#[derive(Clone)]
pub(crate) struct Database {
    pool: SqlitePool,
    /// What an entry is called, such as `issue`.
    entry: &'static str,
}

/// How many rows a statement returns, and how they are presented.
#[derive(Clone)]
pub(crate) enum Rows {
    /// The row is the result. Without a row, the entry that the call names does not exist.
    One,
    All {
        name: &'static str,
        entry: Vec<Field>,
    },
    /// One row more than the page holds means that there is a next page.
    Page {
        name: &'static str,
        entry: Vec<Field>,
    },
}

impl Database {
    /// Opens `{scratch}/{entry}s.sqlite`. `first` runs once in the file's life: it creates the
    /// tables and fills them.
    pub(crate) async fn open(
        scratch: &Path,
        entry: &'static str,
        first: &'static str,
    ) -> Result<Self, DemoError> {
        let path = scratch.join(format!("{entry}s.sqlite"));
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .foreign_keys(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(BUSY_TIMEOUT);
        let opened = connect(options, first).await;
        let pool = opened.map_err(|source| DemoError::Database { path, source })?;
        Ok(Self { pool, entry })
    }

    /// Creates `{scratch}/{name}.sqlite`, filled by `first`, for somebody else to read.
    pub(crate) async fn create(
        scratch: &Path,
        name: &str,
        first: &'static str,
    ) -> Result<PathBuf, DemoError> {
        let path = scratch.join(format!("{name}.sqlite"));
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT);
        match connect(options, first).await {
            Ok(pool) => pool.close().await,
            Err(source) => return Err(DemoError::Database { path, source }),
        }
        Ok(path)
    }

    /// The same file, in which an entry is something else.
    pub(crate) fn of(&self, entry: &'static str) -> Self {
        Self { pool: self.pool.clone(), entry }
    }

    pub(crate) async fn run(
        &self,
        statement: &'static str,
        arguments: &Arguments,
        rows: &Rows,
        results: &[Field],
    ) -> Result<Value, ToolError> {
        let query =
            sqlx::query(statement).bind(arguments.to_json()).bind(words(arguments.text("query")));
        let mut found = query.fetch_all(&self.pool).await.map_err(refused)?;
        let objects = |found: &[SqliteRow], entry: &[Field]| {
            found.iter().map(|row| object(row, entry)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match rows {
            Rows::One => match found.first() {
                Some(row) => object(row, results)?,
                None => return Err(self.missing(arguments)),
            },
            Rows::All { name, entry } => json!({ *name: objects(&found, entry)? }),
            Rows::Page { name, entry } => {
                let limit = arguments.size("limit");
                let is_last = found.len() <= limit;
                found.truncate(limit);
                let mut page = json!({ *name: objects(&found, entry)? });
                if !is_last {
                    page["next_offset"] = json!(arguments.size("offset") + limit);
                }
                page
            }
        })
    }

    /// The one number that a statement returns, or nothing if it divides by zero.
    pub(crate) async fn calculate(&self, statement: String) -> Result<Option<f64>, sqlx::Error> {
        // The caller lets only arithmetic into the statement, and no two calls have the same one,
        // so it is not worth caching.
        let query = sqlx::query(AssertSqlSafe(statement)).persistent(false);
        query.fetch_one(&self.pool).await?.try_get_unchecked(0)
    }

    fn missing(&self, arguments: &Arguments) -> ToolError {
        let id = IDS.into_iter().find(|name| arguments.has(name)).unwrap_or("id");
        let id = match arguments.text(id) {
            "" => arguments.integer(id).to_string(),
            text => text.to_owned(),
        };
        let entry = self.entry;
        ToolError::Missing {
            fault: format!("there is no {entry} {id}"),
            hint: format!("list_{entry}s gives the ids"),
        }
    }
}

async fn connect(
    options: SqliteConnectOptions,
    first: &'static str,
) -> Result<SqlitePool, sqlx::Error> {
    let pool = pool(options).await?;
    // The lock comes before the check, so that two processes cannot both find the file new.
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

/// Connects, and retries while the file is busy: while another process sets up the journal of a new
/// file, SQLite refuses at once, whatever the timeout is.
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

fn refused(error: sqlx::Error) -> ToolError {
    let database = error.as_database_error();
    let message = database.map(DatabaseError::message).unwrap_or_default();
    let is_raised = database.and_then(DatabaseError::code).is_some_and(|code| code == RAISED);
    let rule = message.split_once(CONSTRAINT).map(|(_, rule)| rule);
    match rule.or(is_raised.then_some(message)) {
        Some(rule) => refuse(rule, "change the call so that it keeps to this"),
        None => ToolError::Database(error),
    }
}

/// A row as an object with these fields. NULLs are left out.
fn object(row: &SqliteRow, fields: &[Field]) -> Result<Value, ToolError> {
    let mut object = Map::new();
    for field in fields {
        let value = match &field.kind {
            Kind::Integer(_) => json!(row.try_get_unchecked::<Option<i64>, _>(field.name)?),
            Kind::Number => json!(row.try_get_unchecked::<Option<f64>, _>(field.name)?),
            Kind::Flag => json!(row.try_get_unchecked::<Option<bool>, _>(field.name)?),
            Kind::List(..) | Kind::Object(_) => {
                let text: String = row.try_get_unchecked(field.name)?;
                let parsed = serde_json::from_str(&text);
                parsed.map_err(|error| sqlx::Error::Decode(error.into()))?
            }
            _ => json!(row.try_get_unchecked::<Option<String>, _>(field.name)?),
        };
        if !value.is_null() {
            object.insert(field.name.to_owned(), value);
        }
    }
    Ok(Value::Object(object))
}

/// The words of a search as a JSON array, for `json_each` to split.
fn words(query: &str) -> String {
    let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
    json!(words).to_string()
}
