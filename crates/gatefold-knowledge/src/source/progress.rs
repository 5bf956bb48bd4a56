//! How far the reading of a base's files is.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many files are still to be read, as callers are told.
#[derive(Debug, Default)]
pub(super) struct Progress {
    unread: AtomicUsize,
}

impl Progress {
    pub(super) fn set_unread(&self, count: usize) {
        self.unread.store(count, Ordering::Release);
    }

    pub(super) fn unread(&self) -> usize {
        self.unread.load(Ordering::Acquire)
    }
}
