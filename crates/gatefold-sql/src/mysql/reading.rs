//! A model's statements that only read.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use sqlx::mysql::MySqlStatement;
use sqlx::{AssertSqlSafe, Either, Executor as _, SqlSafeStr as _, Statement as _};

use super::connections::{MySqlConnections, MySqlLease};
use super::errors::{own_failure, refusal, statement_failure};
use super::values::{ColumnReader, row_values};
use super::words;
use crate::{DatabaseError, QueryRows, ReadQuery, ResultColumn, RowCollector, Stop};

/// How long the server may take to end a statement after its timeout.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// How long a cut result may take to end by itself, so that its connection can be used again.
const END_WAIT: Duration = Duration::from_millis(20);

/// The most rows of a plan that are told.
const MAX_PLAN_ROWS: usize = 1_000;

/// The most bytes of a plan that are told.
const MAX_PLAN_BYTES: usize = 256 << 10;

pub(super) async fn query(
    connections: &Arc<MySqlConnections>,
    query: ReadQuery,
) -> Result<QueryRows, DatabaseError> {
    if !words::starts_with(&query.sql, words::READING) {
        return Err(refusal("only a statement that reads is run"));
    }
    let lease = connections.reading(query.timeout, Some(query.max_rows)).await?;
    let rows = collect_in_time(lease, None, &query).await?;
    if rows.rows.is_empty() && rows.stopped == Some(Stop::Bytes) {
        return Err(DatabaseError::RowTooLarge(query.max_bytes));
    }
    Ok(rows)
}

pub(super) async fn explain(
    connections: &Arc<MySqlConnections>,
    sql: String,
    timeout: Duration,
) -> Result<String, DatabaseError> {
    // After `EXPLAIN`, some words would run the statement.
    if !words::starts_with(&sql, words::READING) {
        return Err(refusal("only a statement that reads can be explained"));
    }
    let lease = connections.reading(timeout, Some(MAX_PLAN_ROWS)).await?;
    let explained = ReadQuery {
        sql: format!("EXPLAIN {sql}"),
        masked: Vec::new(),
        max_rows: MAX_PLAN_ROWS,
        max_bytes: MAX_PLAN_BYTES,
        timeout,
    };
    Ok(plan_lines(&collect_in_time(lease, Some(&sql), &explained).await?))
}

/// Runs a query to its bounds, and gives its connection back if the server has sent all that it will.
/// `alone` is looked at first, so that positions in errors are its own.
async fn collect_in_time(
    mut lease: MySqlLease,
    alone: Option<&str>,
    query: &ReadQuery,
) -> Result<QueryRows, DatabaseError> {
    let collected = async {
        if let Some(sql) = alone {
            prepare(&mut lease, sql, query.timeout).await?;
        }
        collect(&mut lease, query).await
    };
    match tokio::time::timeout(query.timeout + GRACE, collected).await {
        Err(_) => Err(DatabaseError::Timeout(query.timeout)),
        Ok(Ok((rows, true))) => {
            lease.give_back().await;
            Ok(rows)
        }
        // The server is still sending: the lease is dropped, which ends the connection there.
        Ok(Ok((rows, false))) => Ok(rows),
        Ok(Err(error)) => {
            lease.give_back().await;
            Err(error)
        }
    }
}

/// Has the server parse one statement, whose text never reaches it in any other way: a prepared
/// statement is one statement.
pub(super) async fn prepare(
    lease: &mut MySqlLease,
    sql: &str,
    timeout: Duration,
) -> Result<MySqlStatement, DatabaseError> {
    if sql.contains('\0') {
        return Err(refusal("the statement contains a NUL character"));
    }
    let text = AssertSqlSafe(sql).into_sql_str();
    let prepared = lease.connection()?.prepare(text).await;
    prepared.map_err(|error| statement_failure(error, sql, timeout))
}

/// The rows up to the query's bounds, and whether the server has sent all that it will.
async fn collect(
    lease: &mut MySqlLease,
    query: &ReadQuery,
) -> Result<(QueryRows, bool), DatabaseError> {
    let failed = |error| statement_failure(error, &query.sql, query.timeout);
    let statement = prepare(lease, &query.sql, query.timeout).await?;
    // The driver would wait for an answer to what it never sent.
    if has_parameters(&statement) {
        return Err(refusal("the statement has placeholders; write the values into it"));
    }
    // What answers no columns is no query, and does something instead.
    if statement.columns().is_empty() {
        return Err(DatabaseError::Write);
    }
    let readers: Vec<_> = statement.columns().iter().map(ColumnReader::new).collect();
    let columns = readers.iter().map(|reader| ResultColumn {
        name: reader.name.clone(),
        column_type: reader.column_type.clone(),
    });
    let mut rows = RowCollector::new(query.max_rows, query.max_bytes);
    rows.set_columns(columns.collect(), &query.masked);
    let mut is_cut = false;
    // The driver finds the prepared statement by its text.
    let mut stream = sqlx::query(AssertSqlSafe(query.sql.as_str())).fetch(lease.connection()?);
    while let Some(row) = stream.try_next().await.map_err(&failed)? {
        if !rows.push(row_values(&row, &readers).map_err(own_failure)?) {
            is_cut = true;
            break;
        }
    }
    let is_at_end =
        !is_cut || matches!(tokio::time::timeout(END_WAIT, stream.try_next()).await, Ok(Ok(None)));
    drop(stream);
    Ok((rows.finish(), is_at_end))
}

fn has_parameters(statement: &MySqlStatement) -> bool {
    statement.parameters().is_some_and(|parameters| match parameters {
        Either::Left(types) => !types.is_empty(),
        Either::Right(count) => count > 0,
    })
}

/// A plan's rows, one a line, each with those of its columns that say something.
fn plan_lines(rows: &QueryRows) -> String {
    let mut text = String::new();
    for row in &rows.rows {
        let cells = rows.columns.iter().zip(row).filter_map(|(column, value)| match value {
            serde_json::Value::Null => None,
            serde_json::Value::String(value) if value.is_empty() => None,
            serde_json::Value::String(value) => Some(format!("{}: {value}", column.name)),
            other => Some(format!("{}: {other}", column.name)),
        });
        text.push_str(&cells.collect::<Vec<_>>().join(", "));
        text.push('\n');
    }
    text
}
