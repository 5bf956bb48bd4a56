//! How far the reading of a base's files is.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many files of a base are still to be read.
#[derive(Debug, Default)]
pub struct IngestProgress {
    unread: AtomicUsize,
}

impl IngestProgress {
    pub(super) fn set_unread(&self, count: usize) {
        self.unread.store(count, Ordering::Release);
    }

    pub fn unread(&self) -> usize {
        self.unread.load(Ordering::Acquire)
    }
}
