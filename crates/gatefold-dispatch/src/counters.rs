use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How many calls ended how, by the audit's own words for outcomes and errors' kinds.
#[derive(Debug, Default)]
pub struct Counters(Mutex<BTreeMap<&'static str, u64>>);

impl Counters {
    pub(crate) fn count(&self, outcome: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(outcome).or_default() += 1;
    }

    pub fn snapshot(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
