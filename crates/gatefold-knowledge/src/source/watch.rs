use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long files must be unchanged before they are looked at again: an editor that saves writes,
/// renames and removes in quick succession.
const QUIET: Duration = Duration::from_millis(200);
/// The number of pauses after which files are looked at even though they keep changing.
const PAUSE_LIMIT: usize = 5;

/// How often files are looked at that cannot be watched, and how often those that are: file systems of
/// other machines do not tell what changes there.
const POLL: Duration = Duration::from_secs(30);
const WATCHED_POLL: Duration = Duration::from_mins(10);

/// Tells when something in the folders of a base changes.
pub(super) struct FileWatch {
    bell: Arc<Bell>,
    watcher: Mutex<Option<RecommendedWatcher>>,
}

#[derive(Default)]
struct Bell {
    rung: Notify,
    /// Whether something changed since somebody looked.
    is_rung: AtomicBool,
}

impl FileWatch {
    pub(super) fn new() -> Self {
        Self { bell: Arc::default(), watcher: Mutex::default() }
    }

    /// Watches these folders and files, unless it does.
    pub(super) fn follow(&self, roots: &[PathBuf]) {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_some() {
            return;
        }
        match self.watcher_of(roots) {
            Ok(made) => *watcher = Some(made),
            Err(error) => {
                let seconds = POLL.as_secs();
                tracing::warn!(%error, seconds, "documents are not watched but looked at regularly");
            }
        }
    }

    /// Watches nothing, as when a folder is gone: it may come back as another one.
    pub(super) fn forget(&self) {
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn watcher_of(&self, roots: &[PathBuf]) -> notify::Result<RecommendedWatcher> {
        let bell = self.bell.clone();
        let ring = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                bell.is_rung.store(true, Ordering::Release);
                bell.rung.notify_one();
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(ring, config)?;
        for root in roots {
            let (path, mode) = watched(root);
            watcher.watch(path, mode)?;
        }
        Ok(watcher)
    }

    /// Whether something changed since [`changed`](Self::changed) returned last.
    pub(super) fn has_news(&self) -> bool {
        self.bell.is_rung.load(Ordering::Acquire)
    }

    /// Waits until something may have changed and settled. Cancelling it loses no change.
    pub(super) async fn changed(&self) {
        let is_watching = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let poll = if is_watching { WATCHED_POLL } else { POLL };
        let bell = &self.bell.rung;
        if timeout(poll, bell.notified()).await.is_ok() {
            for _ in 0..PAUSE_LIMIT {
                if timeout(QUIET, bell.notified()).await.is_err() {
                    break;
                }
            }
        }
        self.bell.is_rung.store(false, Ordering::Release);
    }
}

/// What to watch for a root: of a single file its folder, since editors replace files.
fn watched(root: &Path) -> (&Path, RecursiveMode) {
    match root.parent() {
        Some(parent) if root.is_file() => (parent, RecursiveMode::NonRecursive),
        _ => (root, RecursiveMode::Recursive),
    }
}
