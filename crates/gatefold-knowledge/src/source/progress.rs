//! How far the reading of a base's files is.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long after a base was opened calls wait for its files to have been looked at once. What is not
/// read by then is said to be missing.
const FIRST_LOOK: Duration = Duration::from_secs(10);

/// How many files of a base are still to be read.
#[derive(Debug, Default)]
pub struct IngestProgress {
    opened: OnceLock<Instant>,
    state: watch::Sender<ReadingState>,
}

#[derive(Debug, Clone, Copy, Default)]
struct ReadingState {
    unread: usize,
    /// Whether all files have been looked at since the base was opened.
    has_looked: bool,
}

impl IngestProgress {
    /// Says that the base is open now.
    pub(super) fn begin(&self) {
        self.opened.get_or_init(Instant::now);
    }

    pub(super) fn set_unread(&self, unread: usize) {
        self.state.send_modify(|state| state.unread = unread);
    }

    pub fn unread(&self) -> usize {
        self.state.borrow().unread
    }

    /// Says that all files have been looked at, or cannot be.
    pub(super) fn has_looked(&self) {
        self.state.send_modify(|state| state.has_looked = true);
    }

    /// Waits for the first look at the files, so that a base that was just opened is not called empty.
    pub(super) async fn await_first_look(&self) {
        let Some(opened) = self.opened.get() else { return };
        let mut state = self.state.subscribe();
        let looked = state.wait_for(|state| state.has_looked);
        // Without it what is missing is said to be.
        drop(timeout_at(*opened + FIRST_LOOK, looked).await);
    }
}
