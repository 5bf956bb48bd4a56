//! A model's statements that write, each in a transaction that waits for a decision.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::{AssertSqlSafe, Executor as _};

use super::connections::{MySqlConnections, MySqlLease};
use super::errors::{own_failure, refusal, statement_failure};
use super::reading::{GRACE, prepare};
use super::texts::text;
use super::words;
use crate::{DatabaseError, OpenWrite};

/// The most tables without transactions that are looked for.
const MAX_UNSAFE_TABLES: usize = 10_000;

/// Dropping the lease ends the connection on the server, by which it rolls back.
struct MySqlWrite {
    lease: MySqlLease,
    rows_affected: u64,
}

pub(super) async fn write(
    connections: &Arc<MySqlConnections>,
    sql: String,
    timeout: Duration,
) -> Result<Box<dyn OpenWrite>, DatabaseError> {
    if !words::starts_with(&sql, words::WRITING) {
        return Err(refusal("only `INSERT`, `UPDATE` and `DELETE` can be asked for"));
    }
    let mut lease = connections.writing(timeout).await?;
    let run = tokio::time::timeout(timeout + GRACE, run(&mut lease, &sql, timeout)).await;
    let rows_affected = run.map_err(|_| DatabaseError::Timeout(timeout))??;
    Ok(Box::new(MySqlWrite { lease, rows_affected }))
}

async fn run(lease: &mut MySqlLease, sql: &str, timeout: Duration) -> Result<u64, DatabaseError> {
    prepare(lease, sql, timeout).await?;
    refuse_without_transactions(lease, sql).await?;
    let statement = sqlx::query(AssertSqlSafe(sql));
    let done = statement.execute(lease.connection()?).await;
    Ok(done.map_err(|error| statement_failure(error, sql, timeout))?.rows_affected())
}

/// Refuses a statement that names a table of an engine without transactions: what it wrote there
/// would stay. A name that is part of another word is taken for the table, which errs on the safe
/// side.
async fn refuse_without_transactions(
    lease: &mut MySqlLease,
    sql: &str,
) -> Result<(), DatabaseError> {
    let tables = format!(
        "SELECT t.TABLE_NAME, t.ENGINE FROM information_schema.TABLES t \
         LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE \
         WHERE t.TABLE_TYPE = 'BASE TABLE' AND COALESCE(e.TRANSACTIONS, 'NO') <> 'YES' \
         AND t.TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') \
         LIMIT {MAX_UNSAFE_TABLES}"
    );
    let rows = lease.connection()?.fetch_all(sqlx::raw_sql(AssertSqlSafe(tables))).await;
    let sql = sql.to_lowercase();
    for row in rows.map_err(own_failure)? {
        let name = text(&row, 0).unwrap_or_default();
        if sql.contains(&name.to_lowercase()) {
            let engine = text(&row, 1).unwrap_or_default();
            return Err(refusal(format!(
                "the table `{name}` is kept by `{engine}`, which has no transactions, so nothing \
                 that is written to it can be taken back"
            )));
        }
    }
    Ok(())
}

impl OpenWrite for MySqlWrite {
    fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    fn commit(mut self: Box<Self>) -> BoxFuture<'static, Result<(), DatabaseError>> {
        async move {
            self.lease.execute("COMMIT".to_owned()).await?;
            self.lease.close().await;
            Ok(())
        }
        .boxed()
    }

    fn roll_back(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        async move {
            // If this fails, ending the connection rolls back.
            match self.lease.execute("ROLLBACK".to_owned()).await {
                Ok(()) => self.lease.close().await,
                Err(error) => {
                    tracing::debug!(%error, "a transaction was not rolled back by itself");
                }
            }
        }
        .boxed()
    }
}
