use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatefold_core::{Clock, Timestamp};
use gatefold_dispatch::PastUse;
use gatefold_dispatch::SealKey;
use sqlx::SqliteConnection;
use tokio::sync::{Mutex, MutexGuard, Notify, mpsc};
use tokio::task::JoinSet;

use crate::StoreError;
use crate::aging::AgingClock;
use crate::audit::Ledger;
use crate::database::Database;
use crate::digests::DigestKey;
use crate::options::Retention;
use crate::sealing::Sealer;

/// The state directory, open. Clones share it.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<StoreInner>,
}

pub(crate) struct StoreInner {
    pub(crate) state_dir: PathBuf,
    pub(crate) retention: Retention,
    pub(crate) manifest_bytes: u64,
    pub(crate) clock: Arc<dyn Clock>,
    /// The date by which records expire.
    pub(crate) aging: AgingClock,
    pub(crate) owner: i64,
    pub(crate) ledger: Ledger,
    pub(crate) database: Database,
    /// The connection for everything but audit records.
    pub(crate) connection: Mutex<SqliteConnection>,
    /// Held while the most used tools of a day are counted.
    pub(crate) counting: Mutex<()>,
    pub(crate) seal_key: SealKey,
    pub(crate) digests: DigestKey,
    pub(crate) results_sealer: Arc<Sealer>,
    /// Tells whoever follows a run of events that this process wrote.
    pub(crate) journaled: Notify,
    /// Past queries on their way to the database.
    pub(crate) uses: mpsc::Sender<PastUse>,
    /// The tasks for recovery, retention and past queries. They end with the store.
    pub(crate) _tasks: JoinSet<()>,
}

impl Store {
    /// The state directory, for callers that keep other files there.
    pub fn state_dir(&self) -> &Path {
        &self.inner.state_dir
    }

    /// The time by the clock of this store.
    pub fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// The key that seals suspended calls, the same for every process on this directory.
    pub fn seal_key(&self) -> SealKey {
        self.inner.seal_key.clone()
    }

    /// Waits until every record handed in before is written.
    pub async fn flush(&self) -> Result<(), Arc<StoreError>> {
        self.ledger().flush().await
    }

    /// Writes what is left and closes. Records that are still open count as interrupted from now
    /// on, and later calls find the store closed.
    pub async fn close(&self) -> Result<(), Arc<StoreError>> {
        self.ledger().close().await
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.inner.ledger
    }

    pub(crate) fn inner(&self) -> &StoreInner {
        &self.inner
    }
}

impl StoreInner {
    pub(crate) async fn connection(&self) -> MutexGuard<'_, SqliteConnection> {
        self.connection.lock().await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn error(&self, source: sqlx::Error) -> StoreError {
        self.database.error(source)
    }

    /// Where the manifests and the token counts of their tools are kept.
    pub(crate) fn manifests(&self) -> PathBuf {
        self.state_dir.join("manifests")
    }

    /// Where the texts of stored results are kept.
    pub(crate) fn results(&self) -> PathBuf {
        self.state_dir.join("results")
    }
}
