//! Versions of which citations were given, on their way to the base that keeps them for it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::{KnowledgeBase, Version};

/// How many versions are remembered to be noted. Then all are noted once more.
const NOTED: usize = 20_000;

/// How long a note is good enough: a version is kept for 90 days after it was cited last.
const NOTE_LIFE: Duration = Duration::from_hours(24);

type CitedVersion = (Arc<str>, Version);

/// Versions that were cited. Each costs the base a write, so it is told once a day, and never by the call
/// that cites.
pub(super) struct CitedVersions(Mutex<CitedState>);

struct CitedState {
    /// At most [`NOTED`].
    noted: HashSet<CitedVersion>,
    since: Instant,
    /// Those of `noted` that the base has not been told of; at most [`NOTED`].
    waiting: Vec<CitedVersion>,
}

impl CitedVersions {
    pub(super) fn new() -> Self {
        Self(Mutex::new(CitedState {
            noted: HashSet::new(),
            since: Instant::now(),
            waiting: Vec::new(),
        }))
    }

    pub(super) fn add(&self, document: &Arc<str>, version: Version) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.since.elapsed() >= NOTE_LIFE || state.noted.len() >= NOTED {
            let waiting = state.waiting.iter().cloned().collect();
            (state.noted, state.since) = (waiting, Instant::now());
        }
        let cited = (Arc::clone(document), version);
        if state.waiting.len() < NOTED && state.noted.insert(cited.clone()) {
            state.waiting.push(cited);
        }
    }

    /// Tells the base. This waits for the disk.
    pub(super) fn flush(&self, base: &KnowledgeBase) {
        let waiting = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut state.waiting)
        };
        for (document, version) in waiting {
            if let Err(error) = base.keep_cited(&document, version) {
                tracing::warn!(%error, "a version that was cited is kept no longer than others");
            }
        }
    }
}
