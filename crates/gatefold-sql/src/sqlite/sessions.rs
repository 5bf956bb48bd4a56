//! Connections to one file: opened with their guards set, lent out, and ended when a statement is
//! left alone.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use sqlx::sqlite::{LockedSqliteHandle, SqliteConnectOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authorizer;
use super::errors::{needs_to_write_beside, own_failure};
use super::watch::StatementWatch;
use crate::DatabaseError;

/// How long SQLite waits for another process that has locked the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// Pages that one connection keeps, in KiB; SQLite's pragma takes that as a negative number.
const CACHE_KIB: i32 = -8192;

/// How many rows the driver reads ahead.
const ROW_BUFFER: usize = 16;

/// How many virtual tables are connected when a file is opened.
const MAX_CONNECTED: usize = 64;

/// Whether a connection may change the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileAccess {
    Read,
    Write,
}

/// The connections to one file.
#[derive(Debug)]
pub(super) struct SessionPool {
    path: PathBuf,
    connect_timeout: Duration,
    limit: u32,
    permits: Arc<Semaphore>,
    /// Sessions that wait, one for each [`SqliteLease`] that was given back.
    idle: Mutex<Vec<SqliteSession>>,
    /// One share for each connection that SQLite has not closed yet, and this one.
    open: Arc<()>,
}

/// One connection, and what watches over its statements.
#[derive(Debug)]
pub(super) struct SqliteSession {
    pub connection: SqliteConnection,
    pub watch: Arc<StatementWatch>,
    /// Of a file that is taken for one that nobody changes, how it was when it was opened.
    at_rest: Option<FileState>,
}

/// What shows that a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
}

impl FileState {
    /// The state of a file at rest: one that no log of unfinished changes lies beside.
    fn at_rest(path: &Path) -> Option<Self> {
        let is_quiet = ["-wal", "-journal"].iter().all(|end| {
            let mut beside = path.as_os_str().to_owned();
            beside.push(end);
            std::fs::metadata(&beside).map_or(true, |data| data.len() == 0)
        });
        let data = std::fs::metadata(path).ok().filter(|_| is_quiet)?;
        Some(Self { length: data.len(), modified: data.modified().ok() })
    }
}

/// A session that is lent out. Dropping it ends its statement and its transaction, and closes it.
#[derive(Debug)]
pub(super) struct SqliteLease {
    session: Option<SqliteSession>,
    watch: Arc<StatementWatch>,
    pool: Arc<SessionPool>,
    _permit: OwnedSemaphorePermit,
}

impl SessionPool {
    pub(super) fn new(path: PathBuf, connect_timeout: Duration, limit: u32) -> Self {
        let permits = Arc::new(Semaphore::new(limit as usize));
        let idle = Mutex::new(Vec::new());
        Self { path, connect_timeout, limit, permits, idle, open: Arc::new(()) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A session that reads, an idle one if there is one.
    pub(super) async fn reading(self: &Arc<Self>) -> Result<SqliteLease, DatabaseError> {
        let permit = self.permit().await?;
        let idle = self.idle().pop();
        let session = match idle {
            Some(session) => session,
            None => self.open(FileAccess::Read).await?,
        };
        Ok(self.lend(session, permit))
    }

    /// A new session that may write.
    pub(super) async fn writing(self: &Arc<Self>) -> Result<SqliteLease, DatabaseError> {
        let permit = self.permit().await?;
        let session = self.open(FileAccess::Write).await?;
        Ok(self.lend(session, permit))
    }

    pub(super) async fn close(&self) {
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle());
        for session in idle {
            if let Err(error) = session.connection.close().await {
                tracing::debug!(%error, "a connection to a file did not close");
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

    async fn open(&self, access: FileAccess) -> Result<SqliteSession, DatabaseError> {
        // A call that SQLite does not break off holds its connection after its lease is gone.
        if Arc::strong_count(&self.open) > 2 * self.limit as usize {
            return Err(DatabaseError::Busy(self.limit));
        }
        let opened = async {
            let share = || Arc::clone(&self.open);
            let error = match SqliteSession::open(&self.path, access, None, share()).await {
                Err(error) if needs_to_write_beside(&error) => error,
                opened => return opened,
            };
            // In a folder that cannot be written, SQLite reads a file of the WAL kind only if it may take
            // it for one that nobody changes.
            let Some(at_rest) = FileState::at_rest(&self.path) else { return Err(error) };
            SqliteSession::open(&self.path, FileAccess::Read, Some(at_rest), share()).await
        };
        match tokio::time::timeout(self.connect_timeout, opened).await {
            Ok(session) => session,
            Err(_) => Err(unreachable("opening the file took too long")),
        }
    }

    fn lend(self: &Arc<Self>, session: SqliteSession, permit: OwnedSemaphorePermit) -> SqliteLease {
        let watch = Arc::clone(&session.watch);
        SqliteLease { session: Some(session), watch, pool: Arc::clone(self), _permit: permit }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<SqliteSession>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SqliteSession {
    async fn open(
        path: &Path,
        access: FileAccess,
        at_rest: Option<FileState>,
        share: Arc<()>,
    ) -> Result<Self, DatabaseError> {
        let path = existing_file(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(access == FileAccess::Read)
            .immutable(at_rest.is_some())
            .create_if_missing(false)
            .statement_cache_capacity(0)
            .busy_timeout(BUSY_TIMEOUT)
            .row_buffer_size(ROW_BUFFER)
            .disable_statement_logging()
            .pragma("query_only", if access == FileAccess::Read { "ON" } else { "OFF" })
            .pragma("trusted_schema", "OFF")
            .pragma("cell_size_check", "ON")
            .pragma("mmap_size", "0")
            .pragma("cache_size", CACHE_KIB.to_string())
            .pragma("temp_store", "MEMORY");
        let connection = options.connect().await.map_err(own_failure)?;
        let watch = Arc::new(StatementWatch::new(share));
        let mut session = Self { connection, watch, at_rest };
        session.connect_virtual_tables().await?;
        let guarded = session.with_handle(authorizer::guard).await;
        let (session, guarded) = guarded?;
        guarded.map_err(|error| DatabaseError::Failed(error.message.into()))?;
        Ok(session)
    }

    /// Has virtual tables make their own statements, some of which write, before anything asks whether
    /// they may. This also reads the file for the first time.
    async fn connect_virtual_tables(&mut self) -> Result<(), DatabaseError> {
        let names: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL %' \
             LIMIT {MAX_CONNECTED}"
        )))
        .fetch_all(&mut self.connection)
        .await
        .map_err(own_failure)?;
        for name in names {
            let sql = format!("SELECT 1 FROM {} LIMIT 0", crate::Dialect::Sqlite.quoted(&name));
            let connected = sqlx::query(AssertSqlSafe(sql)).execute(&mut self.connection).await;
            if let Err(error) = connected {
                tracing::debug!(table = name, %error, "a virtual table did not connect");
            }
        }
        Ok(())
    }

    /// Calls into SQLite on a thread that may block.
    async fn with_handle<T: Send + 'static>(
        mut self,
        call: impl FnOnce(&mut LockedSqliteHandle<'_>, &Arc<StatementWatch>) -> T + Send + 'static,
    ) -> Result<(Self, T), DatabaseError> {
        let runtime = tokio::runtime::Handle::current();
        let called = tokio::task::spawn_blocking(move || {
            let mut handle = runtime.block_on(self.connection.lock_handle())?;
            let result = call(&mut handle, &self.watch);
            drop(handle);
            Ok((self, result))
        });
        match called.await {
            Ok(result) => result.map_err(own_failure),
            Err(error) => Err(DatabaseError::Failed(error.into())),
        }
    }
}

impl SqliteLease {
    pub(super) fn watch(&self) -> &Arc<StatementWatch> {
        &self.watch
    }

    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection, DatabaseError> {
        match &mut self.session {
            Some(session) => Ok(&mut session.connection),
            None => Err(unreachable("its connection was lost")),
        }
    }

    /// Runs a statement of Gatefold's own that has no rows.
    pub(super) async fn execute(&mut self, sql: &'static str) -> Result<(), DatabaseError> {
        let connection = self.connection()?;
        sqlx::query(sql).execute(connection).await.map_err(own_failure)?;
        Ok(())
    }

    /// Calls into SQLite on a thread that may block. If this is left alone, the connection goes.
    pub(super) async fn with_handle<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut LockedSqliteHandle<'_>, &Arc<StatementWatch>) -> T + Send + 'static,
    ) -> Result<T, DatabaseError> {
        let Some(session) = self.session.take() else {
            return Err(unreachable("its connection was lost"));
        };
        let (session, result) = session.with_handle(call).await?;
        self.session = Some(session);
        Ok(result)
    }

    /// Fails if a file that was taken for one at rest was changed meanwhile: what was read of it may be
    /// half of the change.
    pub(super) fn check_at_rest(&self) -> Result<(), DatabaseError> {
        let opened = self.session.as_ref().and_then(|session| session.at_rest);
        match opened {
            Some(state) if FileState::at_rest(&self.pool.path) != Some(state) => {
                Err(unreachable("another process changed the file meanwhile; try again"))
            }
            _ => Ok(()),
        }
    }

    /// Ends the transaction of a statement that read, and gives the session to the next one.
    pub(super) async fn give_back(mut self) {
        self.watch.take_back();
        if self.execute("ROLLBACK").await.is_err() {
            return;
        }
        self.watch.end();
        // A file at rest is opened anew each time, since its changes would not be noticed.
        let is_kept =
            |session: &SqliteSession| session.at_rest.is_none() && !self.pool.permits.is_closed();
        if let Some(session) = self.session.take().filter(is_kept) {
            self.pool.idle().push(session);
        }
    }
}

impl Drop for SqliteLease {
    fn drop(&mut self) {
        // A session that was given back is not here any more.
        if self.session.is_some() {
            self.watch.cancel();
        }
    }
}

/// The file's full path, which SQLite cannot take for a URI or for the name of a database in memory.
fn existing_file(path: &Path) -> Result<PathBuf, DatabaseError> {
    let shown = path.display();
    match std::fs::metadata(path) {
        Ok(data) if data.is_file() => {
            std::path::absolute(path).map_err(|error| DatabaseError::Failed(error.into()))
        }
        Ok(_) => Err(unreachable(format!("`{shown}` is not a file"))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(unreachable(format!("there is no file `{shown}`")))
        }
        Err(error) => Err(DatabaseError::Unreachable {
            reason: format!("`{shown}` cannot be looked at"),
            source: Some(error.into()),
        }),
    }
}

fn unreachable(reason: impl Into<String>) -> DatabaseError {
    DatabaseError::Unreachable { reason: reason.into(), source: None }
}
