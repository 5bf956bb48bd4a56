//! `gatefold calls --follow`.

use std::collections::BTreeMap;
use std::time::Duration;

use gatefold_store::{CallFilter, CallPlace, CallRecord, PlacedCall, Store};
use tokio::time::sleep;

use super::report;
use crate::cli::output::Output;

/// How often the records are read.
const INTERVAL: Duration = Duration::from_millis(250);

/// The most records to read at once. The rest follow right after.
const READ_AT_ONCE: u32 = 1000;

/// The most running calls to watch for their end. Beyond this number the earliest ones are
/// forgotten.
const UNDER_WAY: usize = 1024;

/// Shows the latest calls, and then each further one when it ends or waits for its client.
pub(super) async fn follow(
    store: &Store,
    limit: u32,
    filter: &CallFilter,
    output: &Output,
) -> anyhow::Result<()> {
    let mut last = store.last_place().await?;
    let mut latest = store.recent_placed(limit, filter).await?;
    latest.reverse();
    let mut waiting = CallsUnderWay::default();
    for call in &latest {
        print(&call.record, output);
        waiting.note(call);
        last = last.max(call.place);
    }
    // A running call may fail by the time it ends, so until then only its tool is compared.
    let by_tool = CallFilter { only_failed: false, ..filter.clone() };
    for call in store.recent_placed(READ_AT_ONCE, &by_tool).await? {
        let is_shown = latest.iter().any(|shown| shown.place == call.place);
        if call.place <= last && !is_shown {
            waiting.note(&call);
        }
    }
    while !output.is_gone() {
        sleep(INTERVAL).await;
        let new = store.calls_after(last, READ_AT_ONCE).await?;
        last = new.last().map_or(last, |call| call.place);
        let changed = waiting.changed(store).await?;
        for call in changed.into_iter().chain(new) {
            if is_shown(&call, filter) {
                print(&call.record, output);
            }
            waiting.note(&call);
        }
    }
    Ok(())
}

fn is_shown(call: &PlacedCall, filter: &CallFilter) -> bool {
    let record = &call.record;
    record.outcome != "open"
        && (record.has_failed() || !filter.only_failed)
        && filter.tool.as_deref().is_none_or(|pattern| report::is_of(record, pattern))
}

fn print(record: &CallRecord, output: &Output) {
    if output.is_json() {
        output.json_line(record);
    } else {
        output.line(&report::line(record, output.style()));
    }
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
    async fn changed(&mut self, store: &Store) -> anyhow::Result<Vec<PlacedCall>> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let places: Vec<_> = self.0.keys().copied().collect();
        let mut changed = store.calls_at(&places).await?;
        changed.retain(|call| self.0.get(&call.place) != Some(&call.record.outcome));
        Ok(changed)
    }
}
