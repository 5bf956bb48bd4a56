//! Calls as they end.

use std::collections::BTreeMap;
use std::time::Duration;

use gatefold_catalog::Pattern;
use gatefold_core::{Domain, ToolId};
use gatefold_store::{CallFilter, CallPlace, CallRecord, PlacedCall, Store};
use tokio::time::sleep;

use super::ListCalls;
use crate::{OperationError, StateOperations};

/// How often the records are read.
const INTERVAL: Duration = Duration::from_millis(250);

/// The most records to read at once. The rest follow right after.
const READ_AT_ONCE: u32 = 1000;

/// The most running calls to watch for their end. Beyond this number the earliest ones are
/// forgotten.
const UNDER_WAY: usize = 1024;

/// The way to the calls that follow those that were listed.
pub struct FollowedCalls {
    store: Store,
    filter: CallFilter,
    last: CallPlace,
    waiting: CallsUnderWay,
}

impl StateOperations {
    /// The latest calls, the latest last, and the way to each further one.
    pub async fn follow_calls(
        &self,
        request: &ListCalls,
    ) -> Result<(Vec<CallRecord>, FollowedCalls), OperationError> {
        let ListCalls { limit, filter } = self.confined(request);
        let store = self.store.clone();
        let mut last = store.last_place().await?;
        let mut latest = store.recent_placed(limit, &filter).await?;
        latest.reverse();
        let mut waiting = CallsUnderWay::default();
        for call in &latest {
            waiting.note(call);
            last = last.max(call.place);
        }
        // A running call may fail by the time it ends, so until then only its tool is compared.
        let by_tool = CallFilter { only_failed: false, ..filter.clone() };
        for call in store.recent_placed(READ_AT_ONCE, &by_tool).await? {
            let is_listed = latest.iter().any(|listed| listed.place == call.place);
            if call.place <= last && !is_listed {
                waiting.note(&call);
            }
        }
        let latest = latest.into_iter().map(|call| call.record).collect();
        Ok((latest, FollowedCalls { store, filter, last, waiting }))
    }
}

impl FollowedCalls {
    /// Waits a moment, and returns the calls that have ended meanwhile or wait for their clients.
    pub async fn next(&mut self) -> Result<Vec<CallRecord>, OperationError> {
        sleep(INTERVAL).await;
        let new = self.store.calls_after(self.last, READ_AT_ONCE).await?;
        self.last = new.last().map_or(self.last, |call| call.place);
        let mut calls = self.waiting.changed(&self.store).await?;
        calls.extend(new);
        for call in &calls {
            self.waiting.note(call);
        }
        let records = calls.into_iter().map(|call| call.record);
        Ok(records.filter(|record| is_asked(record, &self.filter)).collect())
    }
}

fn is_asked(record: &CallRecord, filter: &CallFilter) -> bool {
    let CallFilter { user, domain, outcome, tool, only_failed } = filter;
    record.outcome != "open"
        && (record.has_failed() || !only_failed)
        && user.as_ref().is_none_or(|user| record.user == user.as_str())
        && domain.as_ref().is_none_or(|own| record.domain.as_deref() == Some(own.as_str()))
        && outcome.as_ref().is_none_or(|outcome| record.outcome == *outcome)
        && tool.as_deref().is_none_or(|pattern| is_of(record, pattern))
}

/// Whether a call is one of this tool, by the rules of [`CallFilter::tool`].
fn is_of(record: &CallRecord, pattern: &str) -> bool {
    let pattern = Pattern::new(pattern);
    // The name of a short id is the id itself.
    let short = record.tool.as_ref().zip(record.domain.as_deref().map(Domain::from_key));
    let short = short.filter(|(id, domain)| !id.starts_with(&format!("{domain}__")));
    let is_long_of = |(id, own): (&String, Domain)| {
        ToolId::long_forms(&own, id).any(|form| pattern.matches(form.as_str()))
    };
    pattern.matches(record.tool.as_deref().unwrap_or(&record.subject))
        || short.is_some_and(is_long_of)
}

/// The calls that may still change, each with the outcome last seen.
#[derive(Default)]
struct CallsUnderWay(BTreeMap<CallPlace, String>);

impl CallsUnderWay {
    fn note(&mut self, call: &PlacedCall) {
        if !call.record.is_under_way() {
            self.0.remove(&call.place);
            return;
        }
        self.0.insert(call.place, call.record.outcome.clone());
        if self.0.len() > UNDER_WAY {
            self.0.pop_first();
        }
    }

    /// The calls whose outcome has changed.
    async fn changed(&mut self, store: &Store) -> Result<Vec<PlacedCall>, OperationError> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<_> = self.0.keys().copied().collect();
        let mut changed = store.calls_at(&places).await?;
        changed.retain(|call| self.0.get(&call.place) != Some(&call.record.outcome));
        Ok(changed)
    }
}
