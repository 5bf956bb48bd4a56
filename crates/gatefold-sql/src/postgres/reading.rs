//! Queries and plans.

use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Column as _, Executor as _, Row as _, SqlSafeStr as _, Statement as _};
use tokio::time::{Instant, timeout_at};

use super::connections::{Connections, Lease};
use super::errors::Statement;
use super::session::{self, TransactionMode, Wrapping};
use super::texts::text;
use super::types::{KnownTypes, TypeReading};
use super::values;
use crate::{DatabaseError, QueryRows, ReadQuery, ResultColumn, RowCollector, Stop};

/// The most rows that are asked for at once.
const MAX_BATCH: usize = 1_000;

/// The most rows that are asked for before any is known.
const FIRST_BATCH: usize = 64;

/// How much longer than the statement's own time we wait for the server to say that it is over.
const GRACE: Duration = Duration::from_secs(2);

/// The longest plan.
const MAX_PLAN_BYTES: usize = 256 * 1024;

pub(super) async fn query(
    connections: &Arc<Connections>,
    types: &KnownTypes,
    query: ReadQuery,
) -> Result<QueryRows, DatabaseError> {
    let statement = Statement::new(&query.sql, Wrapping::cursor(), query.timeout)?;
    let mut lease = connections.begin(TransactionMode::Read, query.timeout).await?;
    let deadline = Instant::now() + query.timeout;
    let read = rows(&mut lease, types, &query, &statement, deadline);
    let result = timeout_at(deadline + GRACE, read).await;
    finish(lease, result.unwrap_or(Err(DatabaseError::Timeout(query.timeout)))).await
}

pub(super) async fn explain(
    connections: &Arc<Connections>,
    sql: String,
    timeout: Duration,
) -> Result<String, DatabaseError> {
    let statement = Statement::new(&sql, Wrapping::explain(), timeout)?;
    let mut lease = connections.begin(TransactionMode::Read, timeout).await?;
    let deadline = Instant::now() + timeout + GRACE;
    let plan = async {
        lease.check_names(&sql, timeout).await?;
        plan(&mut lease, &statement).await
    };
    let result = timeout_at(deadline, plan).await;
    finish(lease, result.unwrap_or(Err(DatabaseError::Timeout(timeout)))).await
}

/// Gives the connection back unless it may be broken or busy still.
async fn finish<T>(lease: Lease, result: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
    match &result {
        Ok(_) | Err(DatabaseError::Statement { .. } | DatabaseError::Write) => lease.end().await,
        Err(_) => drop(lease),
    }
    result
}

async fn plan(lease: &mut Lease, statement: &Statement<'_>) -> Result<String, DatabaseError> {
    let explain = sqlx::query(AssertSqlSafe(statement.around())).persistent(false);
    let mut lines = explain.fetch(lease.connection());
    let mut plan = String::new();
    while let Some(row) = lines.try_next().await.map_err(|error| statement.error(error))? {
        let line: String = row.try_get(0).map_err(|error| statement.error(error))?;
        if plan.len() + line.len() > MAX_PLAN_BYTES {
            plan.push_str("…\n");
            break;
        }
        plan.push_str(&line);
        plan.push('\n');
    }
    plan.truncate(plan.trim_end().len());
    Ok(plan)
}

/// Reads until the query or a bound of it ends.
///
/// Types that were not seen before can only be looked up between two batches, by which the query has to
/// begin again. That happens once for each type.
async fn rows(
    lease: &mut Lease,
    types: &KnownTypes,
    query: &ReadQuery,
    statement: &Statement<'_>,
    deadline: Instant,
) -> Result<QueryRows, DatabaseError> {
    let failed = |error| statement.error(error);
    let collector = RowCollector::new(query.max_rows, query.max_bytes);
    let mut result =
        ResultReader { query, statement, deadline, collector, readings: None, fitting: 0 };
    lease.check_names(&query.sql, query.timeout).await?;
    result.declare(lease).await?;
    // One row more than may be taken tells that there are more. Each turn reads one at least.
    let mut batch = query.max_rows.saturating_add(1).min(FIRST_BATCH);
    let mut read = 0;
    loop {
        match result.read_batch(lease, types, batch).await? {
            BatchEnd::UnknownTypes(row) => {
                let readings = types.readings(lease, &oids(row.columns())).await.map_err(failed)?;
                result.set_columns(&row, readings);
                lease.run(session::CLOSE).await.map_err(failed)?;
                result.declare(lease).await?;
            }
            BatchEnd::Full => {
                read += batch;
                let left = query.max_rows.saturating_add(1).saturating_sub(read);
                batch = left.min(result.fitting).clamp(1, MAX_BATCH);
            }
            BatchEnd::Last => break,
        }
    }
    if result.readings.is_none() {
        let columns = empty_columns(lease, types).await.map_err(failed)?;
        result.collector.set_columns(columns, &query.masked);
    }
    let result = result.collector.finish();
    if result.rows.is_empty() && result.stopped == Some(Stop::Bytes) {
        return Err(DatabaseError::RowTooLarge(query.max_bytes));
    }
    Ok(result)
}

/// A result while it is read.
struct ResultReader<'a> {
    query: &'a ReadQuery,
    statement: &'a Statement<'a>,
    deadline: Instant,
    collector: RowCollector,
    /// How to read each column, once there was a row.
    readings: Option<Vec<Arc<TypeReading>>>,
    /// Somewhat more rows than fit if all are like the first.
    fitting: usize,
}

enum BatchEnd {
    /// Its first row has types that must be looked up.
    UnknownTypes(PgRow),
    /// There may be more.
    Full,
    /// There are no more, or no more are wanted.
    Last,
}

impl ResultReader<'_> {
    async fn declare(&self, lease: &mut Lease) -> Result<(), DatabaseError> {
        let declare = sqlx::query(AssertSqlSafe(self.statement.around())).persistent(false);
        let declared = declare.execute(lease.connection()).await;
        declared.map(|_| ()).map_err(|error| self.statement.error(error))
    }

    async fn read_batch(
        &mut self,
        lease: &mut Lease,
        types: &KnownTypes,
        batch: usize,
    ) -> Result<BatchEnd, DatabaseError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let fetch = sqlx::raw_sql(AssertSqlSafe(session::fetch(batch, left)));
        let mut rows = fetch.fetch(lease.connection());
        let mut fetched = 0;
        while let Some(row) = rows.try_next().await.map_err(|error| self.statement.error(error))? {
            if self.readings.is_none() {
                let Some(readings) = types.known(&oids(row.columns())) else {
                    return Ok(BatchEnd::UnknownTypes(row));
                };
                self.set_columns(&row, readings);
            }
            fetched += 1;
            let readings = self.readings.as_deref().unwrap_or_default();
            if !self.collector.push(values_of(&row, readings)) {
                return Ok(BatchEnd::Last);
            }
        }
        Ok(if fetched == batch { BatchEnd::Full } else { BatchEnd::Last })
    }

    fn set_columns(&mut self, row: &PgRow, readings: Vec<Arc<TypeReading>>) {
        self.collector.set_columns(columns(row.columns(), &readings), &self.query.masked);
        self.readings = Some(readings);
        let bytes = (0..row.len()).map(|at| text(row, at).map_or(1, str::len) + 1).sum::<usize>();
        self.fitting = (self.query.max_bytes / bytes.max(1)).saturating_add(FIRST_BATCH);
    }
}

/// The columns of a result without a row.
async fn empty_columns(
    lease: &mut Lease,
    types: &KnownTypes,
) -> Result<Vec<ResultColumn>, sqlx::Error> {
    use sqlx::Connection as _;
    let prepared = lease.connection().prepare(session::DESCRIBED.into_sql_str()).await?;
    // The next cursor has the same name and other columns.
    lease.connection().clear_cached_statements().await?;
    let readings = types.readings(lease, &oids(prepared.columns())).await?;
    Ok(columns(prepared.columns(), &readings))
}

fn oids(columns: &[sqlx::postgres::PgColumn]) -> Vec<u32> {
    columns.iter().map(|column| column.type_info().oid().map_or(0, |oid| oid.0)).collect()
}

fn columns(
    columns: &[sqlx::postgres::PgColumn],
    readings: &[Arc<TypeReading>],
) -> Vec<ResultColumn> {
    let columns = columns.iter().zip(readings).map(|(column, reading)| ResultColumn {
        name: column.name().to_owned(),
        column_type: reading.name.clone(),
    });
    columns.collect()
}

fn values_of(row: &PgRow, readings: &[Arc<TypeReading>]) -> Vec<serde_json::Value> {
    let values = readings.iter().enumerate();
    values.map(|(at, reading)| values::read(text(row, at), &reading.form)).collect()
}
