use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most words for outcomes. There are fewer; one beyond this would not be counted.
const OUTCOMES: usize = 64;

/// Counts of calls by outcome or kind of error, and of tokens besides calls.
#[derive(Debug, Default)]
pub struct Counters {
    /// By outcome, at most [`OUTCOMES`].
    calls: Mutex<BTreeMap<&'static str, u64>>,
    lists: AtomicU64,
    discovery_tokens: AtomicU64,
    searches: AtomicU64,
    led: AtomicU64,
    missed: AtomicU64,
    lookups: AtomicU64,
    mended: AtomicU64,
}

/// How models found their tools since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct DiscoveryCounts {
    /// Searches for what the model wanted.
    pub searches: u64,
    /// Searches that a call of one of their tools followed. Counted where searches learn.
    pub led: u64,
    /// Searches that led to no call. Counted where searches learn.
    pub missed: u64,
    /// Other answers of meta-tools, such as schemas.
    pub lookups: u64,
    /// Calls that succeeded after the same tool had refused the same asker's arguments.
    pub mended: u64,
}

impl Counters {
    pub(crate) fn count(&self, outcome: &'static str) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = calls.get_mut(outcome) {
            *count += 1;
        } else if calls.len() < OUTCOMES {
            calls.insert(outcome, 1);
        }
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

    /// Adds the cost of an answer that only discovered, in tokens; an upper bound.
    pub fn spent_on_discovery(&self, tokens: usize) {
        self.discovery_tokens.fetch_add(tokens as u64, Ordering::Relaxed);
    }

    /// Counts a search.
    pub fn searched(&self) {
        self.searches.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an answer of a meta-tool that was no search.
    pub fn looked_up(&self) {
        self.lookups.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a search that a call of one of its tools followed.
    pub fn led(&self) {
        self.led.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a search that led to no call.
    pub fn missed(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that mended a failed one.
    pub fn mended(&self) {
        self.mended.fetch_add(1, Ordering::Relaxed);
    }

    pub fn discovery(&self) -> DiscoveryCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DiscoveryCounts {
            searches: count(&self.searches),
            led: count(&self.led),
            missed: count(&self.missed),
            lookups: count(&self.lookups),
            mended: count(&self.mended),
        }
    }

    pub fn discovery_tokens(&self) -> u64 {
        self.discovery_tokens.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_outcomes_are_counted_than_the_limit() {
        let counters = Counters::default();
        for number in 0..2 * OUTCOMES {
            counters.count(format!("outcome {number}").leak());
        }
        counters.count("outcome 0");
        let counted = counters.snapshot();
        assert_eq!((counted.len(), counted["outcome 0"]), (OUTCOMES, 2));
    }
}
