//! A model's statements that write, each in a transaction that waits for a decision.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::AssertSqlSafe;

use super::authorizer;
use super::errors::{own_failure, preparation_failure, refusal, run_failure};
use super::reading::GRACE;
use super::sessions::{SessionPool, SqliteLease};
use super::watch::Phase;
use crate::{DatabaseError, OpenWrite};

/// Dropping the lease closes the connection, by which SQLite rolls back.
struct SqliteWrite {
    lease: SqliteLease,
    rows_affected: u64,
}

pub(super) async fn write(
    pool: &Arc<SessionPool>,
    sql: String,
    timeout: Duration,
) -> Result<Box<dyn OpenWrite>, DatabaseError> {
    let mut lease = pool.writing().await?;
    let run = tokio::time::timeout(timeout + GRACE, run(&mut lease, &sql, timeout)).await;
    let rows_affected = run.map_err(|_| DatabaseError::Timeout(timeout))??;
    lease.watch().end();
    Ok(Box::new(SqliteWrite { lease, rows_affected }))
}

/// Runs the statement and counts the rows that it changed, those of triggers and foreign keys
/// included.
async fn run(lease: &mut SqliteLease, sql: &str, timeout: Duration) -> Result<u64, DatabaseError> {
    lease.execute("BEGIN IMMEDIATE").await?;
    let before = total_changes(lease).await?;
    lease.watch().begin(Phase::Write, timeout);
    let text = sql.to_owned();
    let inspected = lease.with_handle(move |handle, _| authorizer::inspect(handle, &text)).await?;
    let inspection =
        inspected.map_err(|error| preparation_failure(error, sql, lease.watch(), timeout))?;
    if inspection.has_more {
        return Err(refusal("only one statement at a time is run"));
    }
    let watch = Arc::clone(lease.watch());
    sqlx::query(AssertSqlSafe(sql))
        .persistent(false)
        .execute(lease.connection()?)
        .await
        .map_err(|error| run_failure(error, &watch, timeout))?;
    lease.watch().end();
    let changed = total_changes(lease).await? - before;
    Ok(u64::try_from(changed).unwrap_or_default())
}

async fn total_changes(lease: &mut SqliteLease) -> Result<i64, DatabaseError> {
    let query = sqlx::query_scalar("SELECT total_changes()");
    query.fetch_one(lease.connection()?).await.map_err(own_failure)
}

impl OpenWrite for SqliteWrite {
    fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    fn commit(mut self: Box<Self>) -> BoxFuture<'static, Result<(), DatabaseError>> {
        async move { self.lease.execute("COMMIT").await }.boxed()
    }

    fn roll_back(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        async move {
            // If this fails, closing the connection rolls back.
            if let Err(error) = self.lease.execute("ROLLBACK").await {
                tracing::debug!(%error, "a transaction was not rolled back by itself");
            }
        }
        .boxed()
    }
}
