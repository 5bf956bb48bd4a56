//! How a state directory becomes a store.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatefold_dispatch::SealKey;
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::aging::AgingClock;
use crate::audit::{EndingFiles, EndingLog, Ledger, Writer};
use crate::blocking::blocking;
use crate::database::Database;
use crate::digests::DigestKey;
use crate::layout::create_private_directory;
use crate::options::StoreOptions;
use crate::owner::Owner;
use crate::store::StoreInner;
use crate::{Store, StoreError, housekeeping, key, layout, past, results};

/// How long one process waits for another to migrate the schema.
const STARTUP_WAIT: Duration = Duration::from_secs(10);
const STARTUP_POLL: Duration = Duration::from_millis(10);

impl Store {
    /// Opens a state directory, creating it if necessary, and closes the records that dead
    /// processes left open.
    ///
    /// Must be called within a Tokio runtime, which runs the writer.
    pub async fn open(state_dir: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        let directory = state_dir.to_owned();
        let (owner, seal_key) = blocking(move || prepare(&directory)).await?;
        let database = Database::at(state_dir, options.durability);
        let starting = wait_to_start(state_dir).await?;
        let mut writing = database.connect().await?;
        database.schema(&mut writing).await?;
        database.migrate(&mut writing).await?;
        drop(starting);
        let connection = database.connect().await?;
        let ends = EndingFiles::of(state_dir, owner.id);
        let log = blocking({
            let ends = ends.clone();
            move || EndingLog::start(&ends, options.durability)
        });
        let log = log.await.map_err(|source| StoreError::unusable(state_dir, source))?;
        let digests = DigestKey::new(&seal_key);
        let (ledger, intake) = Ledger::new(owner.id, log, digests.clone(), options.clock.clone());
        let checkpoint = Arc::new(Notify::new());
        let (uses, coming) = mpsc::channel(past::QUEUED_USES);
        let inner = Arc::new_cyclic(|inner| {
            let mut tasks = JoinSet::new();
            tasks.spawn(housekeeping::keep(inner.clone(), checkpoint.clone()));
            tasks.spawn(past::keep(inner.clone(), coming));
            StoreInner {
                state_dir: state_dir.to_owned(),
                retention: options.retention,
                manifest_bytes: options.manifest_bytes,
                aging: AgingClock::new(options.clock.clone()),
                clock: options.clock,
                owner: owner.id,
                ledger,
                database: database.clone(),
                connection: Mutex::new(connection),
                counting: Mutex::default(),
                results_sealer: results::sealer(&seal_key),
                seal_key,
                digests,
                journaled: Notify::default(),
                uses,
                _tasks: tasks,
            }
        });
        housekeeping::recover(&inner).await?;
        if let Err(error) = inner.aging.look(&mut *inner.connection().await).await {
            // Nothing expires before the next look.
            tracing::warn!(%error, "the date could not be noted");
        }
        tokio::spawn(Writer::new(database, writing, intake, ends, owner, checkpoint).run());
        Ok(Self { inner })
    }
}

/// Creates the directory and the files in it that do not need the database.
fn prepare(state_dir: &Path) -> Result<(Owner, SealKey), StoreError> {
    let unusable = |source| StoreError::unusable(state_dir, source);
    create_private_directory(state_dir).map_err(unusable)?;
    layout::check(state_dir)?;
    layout::close_to_others(state_dir);
    layout::private_file(&Database::path(state_dir)).map_err(unusable)?;
    let seal_key = key::load_or_create(state_dir)?;
    let id = getrandom::u64().map_err(StoreError::Random)?;
    let owner = Owner::register(state_dir, (id >> 1).cast_signed()).map_err(unusable)?;
    Ok((owner, seal_key))
}

/// Waits for its turn to migrate the schema or change keys, and keeps it until the file is dropped.
pub(crate) async fn wait_to_start(state_dir: &Path) -> Result<File, StoreError> {
    let path = state_dir.join("startup.lock");
    let file = layout::private_file(&path).map_err(|source| StoreError::unusable(&path, source))?;
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
