//! Whose calls of which tools went wrong lately, to tell an error that was mended.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::ToolId;

use super::recall::Searcher;

/// How long a failed call is remembered.
const REMEMBERED: Duration = Duration::from_mins(10);

/// The most failed calls to remember. Beyond this, everything is forgotten.
const FAILED: usize = 1024;

/// Calls that failed by their arguments, and when; at most [`FAILED`].
#[derive(Default)]
pub(crate) struct FailedCalls(Mutex<HashMap<(Searcher, ToolId), Duration>>);

impl FailedCalls {
    pub(crate) fn failed(&self, asker: Searcher, tool: ToolId, at: Duration) {
        let mut failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.len() >= FAILED {
            failed.retain(|_, when| is_fresh(*when, at));
        }
        if failed.len() >= FAILED {
            failed.clear();
        }
        failed.insert((asker, tool), at);
    }

    /// Whether a call that went well mends one that failed.
    pub(crate) fn is_mended(&self, asker: &Searcher, tool: &ToolId, at: Duration) -> bool {
        let mut failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Nearly always, and then no key is made.
        if failed.is_empty() {
            return false;
        }
        let when = failed.remove(&(asker.clone(), tool.clone()));
        when.is_some_and(|when| is_fresh(when, at))
    }
}

fn is_fresh(when: Duration, now: Duration) -> bool {
    now.saturating_sub(when) <= REMEMBERED
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gatefold_core::{Principal, UserId};

    use super::*;

    fn asker(user: &str) -> Searcher {
        let principal = Arc::new(Principal::user(UserId::new(user)));
        Searcher { principal, client: None, connection: None }
    }

    #[test]
    fn an_error_is_mended_once_by_whoever_made_it_and_soon() {
        let (calls, at) = (FailedCalls::default(), Duration::from_secs(1000));
        let mended =
            |user: &str, tool: &str, at| calls.is_mended(&asker(user), &ToolId::new(tool), at);
        calls.failed(asker("ann"), ToolId::new("create"), at);
        assert!(!mended("bob", "create", at) && !mended("ann", "list", at));
        assert!(mended("ann", "create", at) && !mended("ann", "create", at));
        calls.failed(asker("ann"), ToolId::new("create"), at);
        assert!(!mended("ann", "create", at + REMEMBERED + Duration::from_secs(1)));
    }

    #[test]
    fn what_is_remembered_has_a_limit() {
        let calls = FailedCalls::default();
        for number in 0..=FAILED {
            calls.failed(asker("ann"), ToolId::new(number.to_string()), Duration::ZERO);
        }
        assert_eq!(calls.0.lock().unwrap().len(), 1);
    }
}
