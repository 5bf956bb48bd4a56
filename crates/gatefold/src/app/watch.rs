use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long files must be unchanged before they are read again: when an editor saves, it writes,
/// renames and removes in quick succession.
const QUIET: Duration = Duration::from_millis(200);
/// The number of pauses after which a change is reported even though the files keep changing.
const PAUSE_LIMIT: usize = 25;

/// Why files cannot be watched. They are still read again on SIGHUP.
#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be watched for changes", path.display())]
pub struct WatchError {
    path: PathBuf,
    #[source]
    source: notify::Error,
}

/// Reports when the contents of one of several files change.
///
/// It watches directories, not files: an editor that saves by renaming, and an orchestrator that
/// swaps a link, replace the file itself.
pub struct ConfigWatch {
    files: Vec<PathBuf>,
    contents: Vec<Option<[u8; 32]>>,
    directories: BTreeSet<PathBuf>,
    touched: Arc<Notify>,
    watcher: RecommendedWatcher,
}

/// What files held before they were read. A change between the reading and the watching would
/// otherwise go unnoticed.
#[derive(Debug, Clone, Default)]
pub struct SeenFiles(Vec<(PathBuf, Option<[u8; 32]>)>);

impl SeenFiles {
    pub fn of(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let seen = files.into_iter().map(|file| (file.clone(), digest(&file)));
        Self(seen.collect())
    }

    fn contents(&self, file: &PathBuf) -> Option<[u8; 32]> {
        let seen = self.0.iter().find(|(own, _)| own == file);
        seen.map_or_else(|| digest(file), |(_, contents)| *contents)
    }
}

impl ConfigWatch {
    /// Watches files. Those that were `seen` before count as changed if they hold something else by
    /// now.
    pub fn new(files: &[PathBuf], seen: &SeenFiles) -> Result<Self, WatchError> {
        let touched = Arc::new(Notify::new());
        let bell = touched.clone();
        let ring = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                bell.notify_one();
            }
        };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| WatchError { path, source }
        };
        let directories = directories(files);
        let nearest = directories.first().map_or(Path::new("."), PathBuf::as_path);
        let mut watcher = notify::recommended_watcher(ring).map_err(failed(nearest))?;
        for directory in &directories {
            watcher.watch(directory, RecursiveMode::NonRecursive).map_err(failed(directory))?;
        }
        touched.notify_one();
        Ok(Self {
            contents: files.iter().map(|file| seen.contents(file)).collect(),
            files: files.to_owned(),
            directories,
            touched,
            watcher,
        })
    }

    /// Waits until the contents of a file have changed and settled. Cancelling it loses no change.
    pub async fn changed(&mut self) {
        loop {
            self.touched.notified().await;
            for _ in 0..PAUSE_LIMIT {
                if timeout(QUIET, self.touched.notified()).await.is_err() {
                    break;
                }
            }
            let contents = digests(&self.files);
            if contents != self.contents {
                self.contents = contents;
                self.follow_links();
                return;
            }
        }
    }

    /// Watches the directories that links lead to now.
    fn follow_links(&mut self) {
        for directory in directories(&self.files) {
            if self.directories.contains(&directory) {
                continue;
            }
            match self.watcher.watch(&directory, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.directories.insert(directory)),
                Err(error) => {
                    tracing::warn!(directory = %directory.display(), %error, "cannot be watched");
                }
            }
        }
    }
}

/// The directories that contain the files, and those that the files link to.
fn directories(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let with_targets = files.iter().flat_map(|file| [Some(file.clone()), file.canonicalize().ok()]);
    with_targets.flatten().filter_map(|file| file.parent().map(Path::to_owned)).collect()
}

fn digests(files: &[PathBuf]) -> Vec<Option<[u8; 32]>> {
    files.iter().map(|file| digest(file)).collect()
}

/// None for what is no file: a pipe may never end.
fn digest(file: &Path) -> Option<[u8; 32]> {
    std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some(Sha256::digest(std::fs::read(file).ok()?).into())
}
