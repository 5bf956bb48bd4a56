use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::limits::FOLDERS;

/// How long a folder must be unchanged before it is read again: an editor that saves writes, renames
/// and removes in quick succession, and a checkout does so for a while.
const QUIET: Duration = Duration::from_millis(200);
/// The number of pauses after which a folder is read even though it keeps changing.
const PAUSE_LIMIT: usize = 25;

/// How often a folder is read that cannot be watched, and how often one that is: file systems of other
/// machines do not tell what changes there.
const POLL: Duration = Duration::from_secs(30);
const WATCHED_POLL: Duration = Duration::from_mins(10);

/// Tells when something in a few folders changes.
pub(crate) struct FolderWatch {
    touched: Arc<Notify>,
    watched: Mutex<WatchedFolders>,
}

#[derive(Default)]
struct WatchedFolders {
    /// None where none could be made, or something cannot be watched.
    watcher: Option<RecommendedWatcher>,
    /// At most [`FOLDERS`].
    folders: BTreeSet<PathBuf>,
}

impl FolderWatch {
    pub(crate) fn new() -> Self {
        Self { touched: Arc::default(), watched: Mutex::default() }
    }

    /// Watches these folders from now on, and no others.
    pub(crate) fn follow(&self, folders: &[PathBuf]) {
        let wanted: BTreeSet<_> = folders.iter().take(FOLDERS).cloned().collect();
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if watched.watcher.is_some() && watched.folders == wanted {
            return;
        }
        *watched = WatchedFolders::default();
        match self.watcher(&wanted) {
            Ok(made) => *watched = WatchedFolders { watcher: Some(made), folders: wanted },
            Err(error) => {
                let seconds = POLL.as_secs();
                tracing::warn!(%error, seconds, "a folder of skills is not watched but read regularly");
            }
        }
    }

    /// Watches nothing, as when the folder cannot be read.
    pub(crate) fn forget(&self) {
        *self.watched.lock().unwrap_or_else(PoisonError::into_inner) = WatchedFolders::default();
    }

    fn watcher(&self, folders: &BTreeSet<PathBuf>) -> notify::Result<RecommendedWatcher> {
        let bell = self.touched.clone();
        let ring = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                bell.notify_one();
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(ring, config)?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    }

    /// Waits until something may have changed and settled. Cancelling it loses no change.
    pub(crate) async fn changed(&self) {
        let is_watching =
            self.watched.lock().unwrap_or_else(PoisonError::into_inner).watcher.is_some();
        let poll = if is_watching { WATCHED_POLL } else { POLL };
        if timeout(poll, self.touched.notified()).await.is_err() {
            return;
        }
        // A permit that is taken here and lost is no change lost: the reading comes after it.
        for _ in 0..PAUSE_LIMIT {
            if timeout(QUIET, self.touched.notified()).await.is_err() {
                break;
            }
        }
    }
}
