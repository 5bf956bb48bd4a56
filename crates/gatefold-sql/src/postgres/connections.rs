//! Connections, each used by one statement at a time and kept for the next.
//!
//! sqlx's own pool hides why it cannot connect behind its timeout, and asks an idle connection whether
//! it lives before each use; this one does neither.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::TryStreamExt as _;
use gatefold_core::Secret;
use sqlx::postgres::{PgConnectOptions, PgRow, PgSslMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::errors::{Statement, connect_error};
use super::session::{self, TransactionEnd, TransactionMode};
use super::texts::text;
use super::{path, privileges};
use crate::guard::PathNames;
use crate::{DatabaseError, DatabaseSettings, ServerAddress, ServerPlace, TlsMode};

/// How long a connection may lie unused.
const MAX_IDLE: Duration = Duration::from_secs(300);

/// How long the end of a transaction may take, what is left of a result included.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// How long stopping a statement from another connection may take. A pooler may have no session for that
/// one until this statement's is free.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(2);

/// Variables of the environment that the driver would obey and nothing here can overrule.
const UNWANTED_VARIABLES: &str = "`PGOPTIONS`, `PGSSLCERT` and `PGSSLKEY`";

/// The connections to one database.
pub(super) struct Connections {
    options: PgConnectOptions,
    permits: Arc<Semaphore>,
    limit: u32,
    /// Connections that wait, one for each [`Lease`] that was given back.
    idle: Mutex<Vec<IdleConnection>>,
    connect_timeout: Duration,
    privileged_role: bool,
}

struct IdleConnection {
    connection: PgConnection,
    /// Sets what holds in each transaction.
    settings: String,
    since: Instant,
}

impl Connections {
    pub(super) fn new(
        address: &ServerAddress,
        settings: &DatabaseSettings,
    ) -> Result<Self, DatabaseError> {
        let limit = settings.connections.max(1);
        Ok(Self {
            options: options(address, settings)?,
            permits: Arc::new(Semaphore::new(usize::try_from(limit).unwrap_or(usize::MAX))),
            limit,
            idle: Mutex::new(Vec::new()),
            connect_timeout: settings.connect_timeout,
            privileged_role: settings.privileged_role,
        })
    }

    /// A connection inside a transaction. Its statements may take as long as `limit`.
    pub(super) async fn begin(
        self: &Arc<Self>,
        mode: TransactionMode,
        limit: Duration,
    ) -> Result<Lease, DatabaseError> {
        let permits = Arc::clone(&self.permits).acquire_owned();
        let permit = match timeout(self.connect_timeout, permits).await {
            Ok(Ok(permit)) => permit,
            Ok(Err(_closed)) => return Err(closed()),
            Err(_elapsed) => return Err(DatabaseError::Busy(self.limit)),
        };
        let Some(idle) = self.take_idle() else {
            return self.begin_anew(permit, mode, limit).await;
        };
        let mut lease = self.lease(idle, permit);
        if let Ok(Ok(())) = timeout(self.connect_timeout, lease.begin(mode, limit)).await {
            return Ok(lease);
        }
        // The server may have closed what lay idle, and then most likely all of it.
        self.idle().clear();
        let Some(permit) = lease.abandon() else { return Err(closed()) };
        self.begin_anew(permit, mode, limit).await
    }

    async fn begin_anew(
        self: &Arc<Self>,
        permit: OwnedSemaphorePermit,
        mode: TransactionMode,
        limit: Duration,
    ) -> Result<Lease, DatabaseError> {
        let fresh = timeout(self.connect_timeout, async {
            let mut lease = self.lease(self.connect().await?, permit);
            let begun = lease.begin(mode, limit).await;
            begun.map_err(|error| Statement::ours(limit).error(error))?;
            Ok(lease)
        });
        fresh.await.unwrap_or_else(|_elapsed| {
            Err(DatabaseError::Unreachable {
                reason: format!(
                    "it did not answer within {} s",
                    self.connect_timeout.as_secs_f64()
                ),
                source: None,
            })
        })
    }

    /// A new connection, for a role that is not refused.
    async fn connect(&self) -> Result<IdleConnection, DatabaseError> {
        let failed = |error| connect_error(error, &self.options);
        let mut connection = PgConnection::connect_with(&self.options).await.map_err(failed)?;
        let begin = session::begin_asking(self.connect_timeout);
        let applicable = format!("{begin}; {}", session::applicable());
        let rows = rows_of(&mut connection, applicable).await.map_err(failed)?;
        let applicable = rows.iter().filter_map(|row| Some((text(row, 0)?, text(row, 1)?)));
        let settings = session::settings(applicable);
        if !self.privileged_role {
            let rows = rows_of(&mut connection, privileges::REFUSED).await.map_err(failed)?;
            privileges::refuse(&rows)?;
        }
        rows_of(&mut connection, "COMMIT").await.map_err(failed)?;
        Ok(IdleConnection { connection, settings, since: Instant::now() })
    }

    fn lease(self: &Arc<Self>, idle: IdleConnection, permit: OwnedSemaphorePermit) -> Lease {
        let connections = Arc::clone(self);
        let held = HeldConnection { idle, permit, process: None, locks_before: 0 };
        Lease { held: Some(held), connections }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_idle(&self) -> Option<IdleConnection> {
        let mut idle = self.idle();
        idle.retain(|idle| idle.since.elapsed() < MAX_IDLE);
        idle.pop()
    }

    /// Stops what a process of the server runs, from another connection: a client that goes away does
    /// not stop a statement that is not yet sending rows.
    async fn cancel(&self, process: i32) {
        let cancel = format!("SELECT pg_catalog.pg_cancel_backend({process})");
        let cancelled = timeout(CANCEL_TIMEOUT, async {
            let mut connection = PgConnection::connect_with(&self.options).await?;
            rows_of(&mut connection, cancel).await?;
            connection.close().await
        });
        if !matches!(cancelled.await, Ok(Ok(()))) {
            tracing::warn!("could not stop a statement, which goes on until its timeout");
        }
    }

    pub(super) async fn close(&self) {
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle());
        for idle in idle {
            // A server that does not listen loses the connection as well.
            let _ = timeout(END_TIMEOUT, idle.connection.close()).await;
        }
    }
}

fn closed() -> DatabaseError {
    DatabaseError::Unreachable { reason: "its source was closed".to_owned(), source: None }
}

/// Connects as the address says and as nothing else does.
///
/// The driver starts from the environment and the user's name, so that every field is set.
fn options(
    address: &ServerAddress,
    settings: &DatabaseSettings,
) -> Result<PgConnectOptions, DatabaseError> {
    let options = PgConnectOptions::new_without_pgpass();
    let url = options.clone().host("localhost").username("nobody").to_url_lossy();
    let has_certificate = url.query_pairs().any(|(name, _)| name == "sslcert" || name == "sslkey");
    if has_certificate || options.get_options().is_some() {
        return Err(DatabaseError::Unreachable {
            reason: format!("the environment sets one of {UNWANTED_VARIABLES}; unset it"),
            source: None,
        });
    }
    let user = address.user.as_deref().ok_or_else(|| DatabaseError::Unreachable {
        reason: "its address names no user; write it as `postgres://USER@HOST/DATABASE`".to_owned(),
        source: None,
    })?;
    let password = settings.password.as_ref().or(address.password.as_ref());
    let tls = settings.tls.or(&address.tls);
    let (options, mode) = match &address.place {
        ServerPlace::Host(host) => {
            let mode = match tls.mode {
                Some(TlsMode::Disable) => PgSslMode::Disable,
                None | Some(TlsMode::Prefer) => PgSslMode::Prefer,
                Some(TlsMode::Require) => PgSslMode::Require,
                Some(TlsMode::VerifyCa) => PgSslMode::VerifyCa,
                Some(TlsMode::VerifyFull) => PgSslMode::VerifyFull,
            };
            (options.host(host), mode)
        }
        ServerPlace::Socket(folder) => {
            (options.host("localhost").socket(folder), PgSslMode::Disable)
        }
    };
    let options = options
        .port(address.port)
        .username(user)
        .password(password.map_or("", Secret::expose))
        .database(address.database.as_deref().unwrap_or(user))
        .ssl_mode(mode)
        .application_name("gatefold")
        // Each transaction sets it: a pooler refuses what it does not know at the start of a session.
        .extra_float_digits(None)
        .disable_statement_logging();
    let options = match &tls.ca {
        Some(ca) => options.ssl_root_cert(ca),
        None => options.ssl_root_cert_from_pem(Vec::new()),
    };
    let options = tls.cert.iter().fold(options, PgConnectOptions::ssl_client_cert);
    Ok(tls.key.iter().fold(options, PgConnectOptions::ssl_client_key))
}

/// A connection inside a transaction. Dropping it stops its statement and ends the connection, and the
/// transaction with it.
pub(super) struct Lease {
    held: Option<HeldConnection>,
    connections: Arc<Connections>,
}

struct HeldConnection {
    idle: IdleConnection,
    permit: OwnedSemaphorePermit,
    /// The server's process that runs this transaction.
    process: Option<i32>,
    /// How many advisory locks the session held before.
    locks_before: u64,
}

impl Lease {
    pub(super) fn connection(&mut self) -> &mut PgConnection {
        &mut self.held().idle.connection
    }

    fn held(&mut self) -> &mut HeldConnection {
        self.held.as_mut().expect("it is held until it ends")
    }

    async fn begin(&mut self, mode: TransactionMode, limit: Duration) -> Result<(), sqlx::Error> {
        let begin = session::begin(mode, limit, &self.held().idle.settings);
        let rows = self.run(begin).await?;
        let held = self.held();
        held.process = rows.first().and_then(|row| text(row, 0)?.parse().ok());
        held.locks_before = rows.first().and_then(|row| text(row, 1)?.parse().ok()).unwrap_or(0);
        Ok(())
    }

    /// Refuses a model's statement in which a name may mean something that is not built in. It holds for the
    /// statement that follows in this transaction.
    pub(super) async fn check_names(
        &mut self,
        sql: &str,
        limit: Duration,
    ) -> Result<(), DatabaseError> {
        let names = PathNames::of(sql);
        if names.is_empty() {
            return Ok(());
        }
        let rows = self.run(path::foreign_names(&names)).await;
        path::refuse(&rows.map_err(|error| Statement::ours(limit).error(error))?)
    }

    /// Runs statements of our own, never a model's: there may be several in one text.
    pub(super) async fn run(
        &mut self,
        sql: impl Into<String> + Send,
    ) -> Result<Vec<PgRow>, sqlx::Error> {
        rows_of(self.connection(), sql).await
    }

    /// Rolls back and keeps the connection for the next one.
    pub(super) async fn end(mut self) {
        let end = session::end(TransactionEnd::RollBack, self.held().locks_before);
        if let Ok(Ok(_)) = timeout(END_TIMEOUT, self.run(end)).await {
            self.keep();
        }
    }

    pub(super) async fn commit(mut self) -> Result<(), sqlx::Error> {
        let end = session::end(TransactionEnd::Commit, self.held().locks_before);
        self.run(end).await?;
        self.keep();
        Ok(())
    }

    /// Keeps the connection, which is in no transaction any more.
    fn keep(mut self) {
        let Some(HeldConnection { mut idle, permit, .. }) = self.held.take() else { return };
        if !self.connections.permits.is_closed() {
            idle.connection.shrink_buffers();
            idle.since = Instant::now();
            self.connections.idle().push(idle);
        }
        drop(permit);
    }

    /// Ends a connection on which nothing runs.
    fn abandon(mut self) -> Option<OwnedSemaphorePermit> {
        self.held.take().map(|held| held.permit)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let connections = Arc::clone(&self.connections);
        runtime.spawn(async move {
            // The connection stays until then, so that the number of its process is no other's.
            if let Some(process) = held.process {
                connections.cancel(process).await;
            }
            drop(held);
        });
    }
}

async fn rows_of(
    connection: &mut PgConnection,
    sql: impl Into<String> + Send,
) -> Result<Vec<PgRow>, sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(sql.into())).fetch(connection).try_collect().await
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The options of the driver would show the password.
        f.debug_struct("Connections").field("limit", &self.limit).finish_non_exhaustive()
    }
}
