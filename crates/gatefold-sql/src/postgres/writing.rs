//! Statements that write, whose transaction stays open.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::AssertSqlSafe;
use tokio::time::timeout;

use super::connections::{Connections, Lease};
use super::errors::Statement;
use super::session::{TransactionMode, Wrapping};
use crate::{DatabaseError, OpenWrite};

/// How much longer than the statement's own time we wait for the server to say that it is over.
const GRACE: Duration = Duration::from_secs(2);

/// A statement that has written, and its transaction.
struct OpenTransaction {
    lease: Lease,
    rows_affected: u64,
    timeout: Duration,
}

pub(super) async fn write(
    connections: &Arc<Connections>,
    sql: String,
    limit: Duration,
) -> Result<Box<dyn OpenWrite>, DatabaseError> {
    let statement = Statement::new(&sql, Wrapping::nothing(), limit)?;
    let mut lease = connections.begin(TransactionMode::Write, limit).await?;
    let write = async {
        lease.check_names(&sql, limit).await?;
        let write = sqlx::query(AssertSqlSafe(statement.around())).persistent(false);
        let done = write.execute(lease.connection()).await;
        done.map_err(|error| statement.error(error))
    };
    match timeout(limit + GRACE, write).await {
        Ok(Ok(done)) => {
            let rows_affected = done.rows_affected();
            Ok(Box::new(OpenTransaction { lease, rows_affected, timeout: limit }))
        }
        Ok(Err(error)) => {
            if matches!(error, DatabaseError::Statement { .. }) {
                lease.end().await;
            }
            Err(error)
        }
        Err(_elapsed) => Err(DatabaseError::Timeout(limit)),
    }
}

impl OpenWrite for OpenTransaction {
    fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<(), DatabaseError>> {
        let Self { lease, timeout: limit, .. } = *self;
        async move {
            match timeout(limit + GRACE, lease.commit()).await {
                Ok(Ok(())) => Ok(()),
                // A constraint may wait for the commit to fail.
                Ok(Err(error)) => Err(Statement::ours(limit).error(error)),
                Err(_elapsed) => Err(DatabaseError::Timeout(limit)),
            }
        }
        .boxed()
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.lease.end().boxed()
    }
}
