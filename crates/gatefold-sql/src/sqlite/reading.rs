//! A model's statements that only read.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use sqlx::{AssertSqlSafe, Row as _};

use super::authorizer::{self, Inspection};
use super::errors::{own_failure, preparation_failure, refusal, run_failure};
use super::sessions::{SessionPool, SqliteLease};
use super::values::row_values;
use super::watch::Phase;
use crate::{DatabaseError, QueryRows, ReadQuery, ResultColumn, RowCollector, Stop};

/// How long a statement may go on after its timeout where SQLite does not look at the clock.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// The most steps of a plan that are told.
const MAX_PLAN_STEPS: usize = 1_000;

/// How deep a plan is indented.
const MAX_PLAN_DEPTH: usize = 32;

/// The type of a column that is no table's and has no value.
const UNKNOWN_TYPE: &str = "any";

pub(super) async fn query(
    pool: &Arc<SessionPool>,
    query: ReadQuery,
) -> Result<QueryRows, DatabaseError> {
    let mut lease = pool.reading().await?;
    let timeout = query.timeout;
    let collected = tokio::time::timeout(timeout + GRACE, collect(&mut lease, &query)).await;
    // Past its grace, the session is dropped with the lease.
    let collected = collected.map_err(|_| DatabaseError::Timeout(timeout))?;
    let at_rest = lease.check_at_rest();
    lease.give_back().await;
    at_rest.and(collected)
}

pub(super) async fn explain(
    pool: &Arc<SessionPool>,
    sql: String,
    timeout: Duration,
) -> Result<String, DatabaseError> {
    let mut lease = pool.reading().await?;
    let steps = tokio::time::timeout(timeout + GRACE, plan(&mut lease, &sql, timeout)).await;
    let steps = steps.map_err(|_| DatabaseError::Timeout(timeout))?;
    lease.give_back().await;
    Ok(indented(&steps?))
}

async fn collect(lease: &mut SqliteLease, query: &ReadQuery) -> Result<QueryRows, DatabaseError> {
    let inspection = begin(lease, &query.sql, query.timeout).await?;
    let watch = Arc::clone(lease.watch());
    let failed = |error| run_failure(error, &watch, query.timeout);
    let mut types: Vec<_> =
        inspection.columns.iter().map(|column| column.declared.clone()).collect();
    let names: Vec<_> = inspection.columns.into_iter().map(|column| column.name).collect();
    let mut rows = RowCollector::new(query.max_rows, query.max_bytes);
    rows.set_columns(Vec::new(), &query.masked);
    let statement = sqlx::query(AssertSqlSafe(query.sql.as_str())).persistent(false);
    let mut stream = statement.fetch(lease.connection()?);
    while let Some(row) = stream.try_next().await.map_err(&failed)? {
        if !rows.push(row_values(&row, &mut types).map_err(own_failure)?) {
            break;
        }
    }
    drop(stream);
    let columns = names.into_iter().zip(types).map(|(name, column_type)| ResultColumn {
        name,
        column_type: column_type.unwrap_or_else(|| UNKNOWN_TYPE.to_owned()).to_ascii_lowercase(),
    });
    rows.set_columns(columns.collect(), &query.masked);
    let rows = rows.finish();
    if rows.rows.is_empty() && rows.stopped == Some(Stop::Bytes) {
        return Err(DatabaseError::RowTooLarge(query.max_bytes));
    }
    Ok(rows)
}

/// Begins a transaction, and has SQLite look at the statement before it runs.
pub(super) async fn begin(
    lease: &mut SqliteLease,
    sql: &str,
    timeout: Duration,
) -> Result<Inspection, DatabaseError> {
    lease.execute("BEGIN DEFERRED").await?;
    // Reading begins here, with the tables as they are from now on. Otherwise a statement that is
    // prepared before another process changes a table gets more columns when it runs than the driver
    // has counted, on which its thread ends.
    lease.execute("SELECT 1 FROM sqlite_schema LIMIT 1").await?;
    lease.watch().begin(Phase::Read, timeout);
    let text = sql.to_owned();
    let inspected = lease.with_handle(move |handle, _| authorizer::inspect(handle, &text)).await?;
    let inspection =
        inspected.map_err(|error| preparation_failure(error, sql, lease.watch(), timeout))?;
    if inspection.has_more {
        return Err(refusal("only one statement at a time is run"));
    }
    if !inspection.is_read_only {
        return Err(DatabaseError::Write);
    }
    Ok(inspection)
}

/// One step of a plan.
struct PlanStep {
    id: i64,
    parent: i64,
    detail: String,
}

async fn plan(
    lease: &mut SqliteLease,
    sql: &str,
    timeout: Duration,
) -> Result<Vec<PlanStep>, DatabaseError> {
    // The statement is looked at by itself first, so that positions in errors are its own.
    begin(lease, sql, timeout).await?;
    let watch = Arc::clone(lease.watch());
    let failed = |error| run_failure(error, &watch, timeout);
    let statement = format!("EXPLAIN QUERY PLAN {sql}");
    let mut stream =
        sqlx::query(AssertSqlSafe(statement)).persistent(false).fetch(lease.connection()?);
    let mut steps = Vec::new();
    while let Some(row) = stream.try_next().await.map_err(&failed)? {
        let step = PlanStep {
            id: row.try_get(0).map_err(own_failure)?,
            parent: row.try_get(1).map_err(own_failure)?,
            detail: row.try_get(3).map_err(own_failure)?,
        };
        steps.push(step);
        if steps.len() >= MAX_PLAN_STEPS {
            break;
        }
    }
    Ok(steps)
}

/// A plan's steps, one a line, each below the step that it serves and deeper by two spaces.
fn indented(steps: &[PlanStep]) -> String {
    let mut depths = std::collections::HashMap::new();
    let mut text = String::new();
    for step in steps {
        let depth = depths.get(&step.parent).map_or(0, |depth: &usize| depth + 1);
        depths.insert(step.id, depth);
        text.push_str(&"  ".repeat(depth.min(MAX_PLAN_DEPTH)));
        text.push_str(&step.detail);
        text.push('\n');
    }
    text
}
