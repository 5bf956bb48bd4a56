//! Connections to one server: opened with their bounds set, lent out, and killed on the server when a
//! statement is left alone.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use sqlx::mysql::MySqlConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, MySqlConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::bounds::{self, ServerFacts};
use super::errors::own_failure;
use super::role;
use crate::DatabaseError;

/// How many transactions are begun on idle connections that turn out to be closed, before a new one
/// is opened.
const MAX_STALE: usize = 8;

/// How long the end of a transaction may take. A connection that takes longer is not used again.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// The connections to one server.
pub(super) struct MySqlConnections {
    options: MySqlConnectOptions,
    connect_timeout: Duration,
    limit: u32,
    allows_privileged: bool,
    facts: OnceLock<ServerFacts>,
    permits: Arc<Semaphore>,
    /// Connections that wait, one for each [`MySqlLease`] that was given back.
    idle: Mutex<Vec<MySqlSession>>,
}

/// One connection.
struct MySqlSession {
    connection: MySqlConnection,
    /// The server's number for it.
    id: u64,
}

/// A connection that is lent out, in a transaction. Dropping it ends both on the server.
pub(super) struct MySqlLease {
    session: Option<MySqlSession>,
    connections: Arc<MySqlConnections>,
    permit: Option<OwnedSemaphorePermit>,
}

impl MySqlConnections {
    pub(super) fn new(
        options: MySqlConnectOptions,
        connect_timeout: Duration,
        limit: u32,
        allows_privileged: bool,
    ) -> Self {
        Self {
            options,
            connect_timeout,
            limit,
            allows_privileged,
            facts: OnceLock::new(),
            permits: Arc::new(Semaphore::new(limit as usize)),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// What the server said of itself, once a connection was opened.
    pub(super) fn facts(&self) -> Option<&ServerFacts> {
        self.facts.get()
    }

    /// A connection in a transaction that only reads. `max_rows` bounds the rows of each statement in
    /// it that has no limit of its own.
    pub(super) async fn reading(
        self: &Arc<Self>,
        timeout: Duration,
        max_rows: Option<usize>,
    ) -> Result<MySqlLease, DatabaseError> {
        let permit = self.permit().await?;
        for _ in 0..MAX_STALE {
            let Some(session) = self.idle().pop() else { break };
            let mut lease = self.lend(session, None);
            if lease.begin_reading(timeout, max_rows).await.is_ok() {
                lease.permit = Some(permit);
                return Ok(lease);
            }
            // The server has closed it.
            lease.session = None;
        }
        let session = self.open().await?;
        let mut lease = self.lend(session, Some(permit));
        lease.execute("SET SESSION TRANSACTION READ ONLY".to_owned()).await?;
        lease.begin_reading(timeout, max_rows).await?;
        Ok(lease)
    }

    /// A new connection in a transaction that may write.
    pub(super) async fn writing(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<MySqlLease, DatabaseError> {
        let permit = self.permit().await?;
        let session = self.open().await?;
        let mut lease = self.lend(session, Some(permit));
        let limit = lease.statement_limit(timeout);
        let begin = format!("SET SESSION {limit}; START TRANSACTION READ WRITE");
        lease.execute(begin).await?;
        Ok(lease)
    }

    pub(super) async fn close(&self) {
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle());
        for session in idle {
            if let Err(error) = session.connection.close().await {
                tracing::debug!(%error, "a connection to a server did not close");
            }
        }
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, DatabaseError> {
        let permit = Arc::clone(&self.permits).acquire_owned();
        match tokio::time::timeout(self.connect_timeout, permit).await {
            Err(_) => Err(DatabaseError::Busy(self.limit)),
            Ok(Err(_)) => Err(unreachable("it was closed")),
            Ok(Ok(permit)) => Ok(permit),
        }
    }

    async fn open(&self) -> Result<MySqlSession, DatabaseError> {
        match tokio::time::timeout(self.connect_timeout, self.connect()).await {
            Ok(session) => session,
            Err(_) => Err(unreachable("connecting took too long")),
        }
    }

    async fn connect(&self) -> Result<MySqlSession, DatabaseError> {
        let mut connection = self.options.connect().await.map_err(own_failure)?;
        let (facts, id) = bounds::set(&mut connection).await?;
        if !self.allows_privileged {
            role::refuse_privileged(&mut connection, &facts).await?;
        }
        self.facts.get_or_init(|| facts);
        Ok(MySqlSession { connection, id })
    }

    fn lend(
        self: &Arc<Self>,
        session: MySqlSession,
        permit: Option<OwnedSemaphorePermit>,
    ) -> MySqlLease {
        MySqlLease { session: Some(session), connections: Arc::clone(self), permit }
    }

    /// Ends a connection on the server, and with it its statement and its transaction.
    async fn kill(&self, id: u64) {
        let killed = async {
            let mut connection = self.options.connect().await?;
            let sql = AssertSqlSafe(format!("KILL {id}"));
            sqlx::raw_sql(sql).execute(&mut connection).await?;
            connection.close().await
        };
        match tokio::time::timeout(self.connect_timeout, killed).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "a connection was not ended on the server"),
            Err(_) => tracing::debug!("ending a connection on the server took too long"),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<MySqlSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MySqlLease {
    pub(super) fn connection(&mut self) -> Result<&mut MySqlConnection, DatabaseError> {
        match &mut self.session {
            Some(session) => Ok(&mut session.connection),
            None => Err(unreachable("its connection was lost")),
        }
    }

    /// Runs statements of Gatefold's own that have no rows.
    pub(super) async fn execute(&mut self, sql: String) -> Result<(), DatabaseError> {
        let statements = sqlx::raw_sql(AssertSqlSafe(sql));
        statements.execute(self.connection()?).await.map_err(own_failure)?;
        Ok(())
    }

    /// Ends a transaction that read, all of whose rows are here, and lets the next one have the
    /// connection.
    pub(super) async fn give_back(mut self) {
        let ended = tokio::time::timeout(END_TIMEOUT, self.execute("ROLLBACK".to_owned())).await;
        if !matches!(ended, Ok(Ok(()))) {
            return;
        }
        let session = self.session.take().filter(|_| !self.connections.permits.is_closed());
        self.connections.idle().extend(session);
    }

    /// Closes a connection whose transaction has ended.
    pub(super) async fn close(mut self) {
        if let Some(session) = self.session.take()
            && let Err(error) = session.connection.close().await
        {
            tracing::debug!(%error, "a connection to a server did not close");
        }
    }

    async fn begin_reading(
        &mut self,
        timeout: Duration,
        max_rows: Option<usize>,
    ) -> Result<(), DatabaseError> {
        // One more shows that there are more.
        let rows = max_rows.map_or_else(|| "DEFAULT".to_owned(), |most| (most + 1).to_string());
        let limit = self.statement_limit(timeout);
        let begin =
            format!("SET SESSION {limit}, sql_select_limit = {rows}; START TRANSACTION READ ONLY");
        self.execute(begin).await
    }

    fn statement_limit(&self, timeout: Duration) -> String {
        self.connections.facts().map_or_else(String::new, |facts| facts.statement_limit(timeout))
    }
}

impl Drop for MySqlLease {
    fn drop(&mut self) {
        // A session that was given back or closed is not here any more.
        let Some(session) = self.session.take() else { return };
        let connections = Arc::clone(&self.connections);
        // The permit is held until it is done, which bounds how many of these there are.
        let permit = self.permit.take();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                connections.kill(session.id).await;
                drop((session, permit));
            });
        }
    }
}

fn unreachable(reason: &str) -> DatabaseError {
    DatabaseError::Unreachable { reason: reason.to_owned(), source: None }
}
