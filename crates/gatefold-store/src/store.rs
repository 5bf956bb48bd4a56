use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Clock, SystemClock, Timestamp};
use gatefold_dispatch::{Lesson, SealKey};
use sqlx::SqliteConnection;
use tokio::sync::{Mutex, MutexGuard, Notify, mpsc};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::sleep;

use crate::audit::{Ledger, Writer};
use crate::database::Database;
use crate::owner::Owner;
use crate::{StoreError, housekeeping, key, past};

/// How long one process waits for another to bring the schema up to date.
const STARTUP_WAIT: Duration = Duration::from_secs(10);
const STARTUP_POLL: Duration = Duration::from_millis(10);

/// How to keep things, and for how long.
#[derive(Clone)]
pub struct StoreOptions {
    pub durability: Durability,
    pub retention: Retention,
    pub clock: Arc<dyn Clock>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Process,
            retention: Retention::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

/// What a record that was opened outlives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however sudden. A power cut may take the last moments.
    Process,
    /// A power cut too. Every commit then waits for the disk.
    Disk,
}

/// How long records of calls and of discoveries are kept, each.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    pub age: Duration,
    pub rows: u32,
}

impl Default for Retention {
    fn default() -> Self {
        const DAYS: u64 = 30;
        Self { age: Duration::from_hours(24 * DAYS), rows: 1_000_000 }
    }
}

/// The state directory, open. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) state_dir: PathBuf,
    pub(crate) retention: Retention,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) owner: i64,
    ledger: Ledger,
    pub(crate) database: Database,
    /// The connection for everything but audit records.
    connection: Mutex<SqliteConnection>,
    seal_key: SealKey,
    /// Past queries on their way to the database.
    pub(crate) lessons: mpsc::Sender<Lesson>,
    _housekeeping: JoinSet<()>,
}

impl Store {
    /// Opens a state directory, making it when need be, and sees to the records that processes
    /// now gone have left open.
    ///
    /// Must be called within a Tokio runtime, which runs the writer.
    pub async fn open(state_dir: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let directory = state_dir.to_owned();
        let (owner, seal_key) = blocking(move || prepare(&directory)).await?;
        let database = Database::at(state_dir, options.durability);
        let starting = wait_to_start(state_dir).await?;
        let mut writing = database.connect().await?;
        database.migrate(&mut writing).await?;
        drop(starting);
        let connection = database.connect().await?;
        let (ledger, intake) = Ledger::new(owner.id, options.clock.clone());
        let checkpoint = Arc::new(Notify::new());
        let (lessons, coming) = mpsc::channel(past::LESSONS);
        let inner = Arc::new_cyclic(|inner| {
            let mut tasks = JoinSet::new();
            tasks.spawn(housekeeping::keep(inner.clone(), checkpoint.clone()));
            tasks.spawn(past::keep(inner.clone(), coming));
            Inner {
                state_dir: state_dir.to_owned(),
                retention: options.retention,
                clock: options.clock,
                owner: owner.id,
                ledger,
                database: database.clone(),
                connection: Mutex::new(connection),
                seal_key,
                lessons,
                _housekeeping: tasks,
            }
        });
        housekeeping::recover(&inner).await?;
        tokio::spawn(Writer::new(database, writing, intake, owner, checkpoint).run());
        Ok(Self { inner })
    }

    /// The state directory, for what others keep there.
    pub fn state_dir(&self) -> &Path {
        &self.inner.state_dir
    }

    /// The key that seals suspended calls, the same for every process on this directory.
    pub fn seal_key(&self) -> SealKey {
        self.inner.seal_key.clone()
    }

    /// Waits until every record handed in before is written.
    pub async fn flush(&self) -> Result<(), Arc<StoreError>> {
        self.ledger().flush().await
    }

    /// Writes what waits and ends. A record still open counts as interrupted from now on, and
    /// later calls find the store closed.
    pub async fn close(&self) -> Result<(), Arc<StoreError>> {
        self.ledger().close().await
    }

    /// Deletes the records that are past the bounds of [`Retention`], the past queries that weigh too
    /// little, and the manifests that nothing refers to; says how many records went. Happens by itself every few minutes.
    pub async fn prune(&self) -> Result<u64, StoreError> {
        housekeeping::prune(&self.inner).await
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.inner.ledger
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }
}

impl Inner {
    pub(crate) async fn connection(&self) -> MutexGuard<'_, SqliteConnection> {
        self.connection.lock().await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn error(&self, source: sqlx::Error) -> StoreError {
        self.database.error(source)
    }
}

/// Makes the directory and the files in it that do not need the database.
fn prepare(state_dir: &Path) -> Result<(Owner, SealKey), StoreError> {
    let unusable = |source| StoreError::unusable(state_dir, source);
    create_private_directory(state_dir).map_err(unusable)?;
    create_private_file(&Database::path(state_dir)).map_err(unusable)?;
    let seal_key = key::load_or_create(state_dir)?;
    let id = getrandom::u64().map_err(StoreError::Random)?;
    let owner = Owner::register(state_dir, (id >> 1).cast_signed()).map_err(unusable)?;
    Ok((owner, seal_key))
}

/// Makes a directory, and those above it, that only its owner may look into. One that is there
/// stays as it is.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// SQLite gives its other files the mode of this one.
fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.append(true).create(true).open(path).map(drop)
}

/// Waits for the turn to bring the schema up to date, and keeps it until the file is dropped.
async fn wait_to_start(state_dir: &Path) -> Result<File, StoreError> {
    let path = state_dir.join("startup.lock");
    let file = File::create(&path).map_err(|source| StoreError::unusable(&path, source))?;
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(StoreError::unusable(&path, source)),
            Err(TryLockError::WouldBlock) if waited >= STARTUP_WAIT => {
                return Err(StoreError::Held { path, source: None });
            }
            Err(TryLockError::WouldBlock) => sleep(STARTUP_POLL).await,
        }
        waited += STARTUP_POLL;
    }
}

/// Runs what waits for the file system where it holds up nobody.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
