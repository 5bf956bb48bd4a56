//! A reader of journals: what a run of an agent or a workflow has done, as it happens.

use gatefold_dispatch::{DataOwner, Journal, JournalError, RunId};

/// How many events are read at a time.
const PAGE: u32 = 100;

/// Reads a run from the event behind `after` to its end, and tells each event as a line. Whoever is
/// cut off goes on behind the last number that it was told, and misses nothing.
pub async fn read(
    journal: &dyn Journal,
    owner: &DataOwner,
    run: RunId,
    mut after: u64,
    mut tell: impl FnMut(u64, String),
) -> Result<(), JournalError> {
    loop {
        let events = journal.follow(owner, run, after, PAGE).await?;
        let Some(last) = events.last() else { return Ok(()) };
        after = last.number;
        for event in events {
            tell(event.number, format!("{} {}", event.kind, event.json));
        }
    }
}
