//! What a run that has ended came to, from the end of its journal.

use gatefold_agent::{AgentEvent, JournalEntry};
use gatefold_dispatch::{DataOwner, Journal as _, JournalError, Run};
use gatefold_store::Store;

/// How many events at the end of a journal have an answer among them: it is followed by no call, and
/// by little else.
const LAST: u32 = 4;

#[derive(Debug, Default)]
pub(super) struct LastWords {
    pub(super) answer: Option<String>,
    /// Why there is none, or one that may lack something.
    pub(super) reason: Option<String>,
}

pub(super) async fn read(
    store: &Store,
    owner: &DataOwner,
    run: &Run,
) -> Result<LastWords, JournalError> {
    let first = run.last.saturating_sub(u64::from(LAST));
    let events = store.events(owner, run.id, first, LAST).await?;
    let mut words = LastWords::default();
    for event in &events {
        let Ok(JournalEntry::Happened(event)) = JournalEntry::read(event) else { continue };
        match event {
            AgentEvent::Answered { answer } => {
                let said = answer.message.calls().next().is_none();
                words.answer = said.then(|| answer.message.text());
            }
            AgentEvent::NotAnswered { reason, .. }
            | AgentEvent::DaySpent { reason }
            | AgentEvent::GivenUp { reason } => {
                words.reason = Some(reason);
            }
            AgentEvent::RanShort { of } => words.reason = Some(of.to_string()),
            AgentEvent::Cancelled => words.reason = Some("it was cancelled".to_owned()),
            AgentEvent::Returned { .. }
            | AgentEvent::Overflowed { .. }
            | AgentEvent::Compacted { .. } => {}
        }
    }
    Ok(words)
}
