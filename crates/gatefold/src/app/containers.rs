//! The containers of local sources: noted while they run, and ended later if a gateway was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt as _, stream};
use gatefold_mcp::{ContainerNote, ContainerNotes};
use gatefold_store::{Store, containers_left_behind};
use tokio::time::timeout;

/// How many containers are ended at a time.
const AT_A_TIME: usize = 8;
/// How long a start waits for that.
const LONGEST: Duration = Duration::from_secs(15);

/// Notes in the state directory.
pub(super) struct StoredContainers(pub(super) Store);

impl ContainerNotes for StoredContainers {
    fn add(&self, note: &ContainerNote) -> io::Result<PathBuf> {
        self.0.note_container(&serde_json::to_string(note)?)
    }
}

/// The commands that end the containers which gateways have left behind that were killed. The next
/// gateway on this state directory runs them.
pub fn container_leftovers(state_dir: &Path) -> Vec<String> {
    let left = containers_left_behind(state_dir).into_iter();
    left.filter_map(|(_, text)| Some(read(&text)?.shown())).collect()
}

/// Ends what gateways have left behind that were killed. A note stays if its engine cannot be reached.
pub(super) async fn end_leftovers(state_dir: &Path) {
    let left = stream::iter(containers_left_behind(state_dir));
    let ending = left.for_each_concurrent(AT_A_TIME, async |(path, text)| {
        let note = read(&text);
        let is_over = match &note {
            Some(note) => note.end().await,
            // A process that was killed while it wrote had not begun the container.
            None => true,
        };
        let shown = note.as_ref().map(ContainerNote::shown).unwrap_or_default();
        if !is_over {
            tracing::warn!(command = shown, "a container that was left behind could not be ended");
        } else if fs::remove_file(&path).is_ok() && note.is_some() {
            tracing::info!(command = shown, "a container that was left behind is ended");
        }
    });
    // What takes longer stays noted, and is tried again at the next start.
    let _ = timeout(LONGEST, ending).await;
}

fn read(text: &str) -> Option<ContainerNote> {
    serde_json::from_str(text).ok()
}
