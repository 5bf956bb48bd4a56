use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many calls ended how, by the audit's own words for outcomes and errors' kinds, and what was
/// said beside calls.
#[derive(Debug, Default)]
pub struct Counters {
    calls: Mutex<BTreeMap<&'static str, u64>>,
    lists: AtomicU64,
    discovery_tokens: AtomicU64,
}

impl Counters {
    pub(crate) fn count(&self, outcome: &'static str) {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner).entry(outcome).or_default() += 1;
    }

    pub fn snapshot(&self) -> BTreeMap<&'static str, u64> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a list of tools that a client was given.
    pub fn listed(&self) {
        self.lists.fetch_add(1, Ordering::Relaxed);
    }

    /// How many lists of tools clients were given.
    pub fn lists(&self) -> u64 {
        self.lists.load(Ordering::Relaxed)
    }

    /// Adds what an answer cost that only discovered, in tokens and never too low.
    pub fn spent_on_discovery(&self, tokens: usize) {
        self.discovery_tokens.fetch_add(tokens as u64, Ordering::Relaxed);
    }

    pub fn discovery_tokens(&self) -> u64 {
        self.discovery_tokens.load(Ordering::Relaxed)
    }
}
