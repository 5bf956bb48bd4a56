//! What was said in runs that have ended, from their journals.

use gatefold_dispatch::{
    DataOwner, Journal, JournalError, NewRunEvent, RUN_EVENT_BYTES, RunEvent, RunId,
};
use gatefold_model::{History, Turn, UserMessage};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use crate::{AgentEvent, AgentRun, RunLimits, Transcript};

/// The words for an agent's events in a journal: how its run began, and all that happened then.
pub(crate) const BEGIN_KIND: &str = "agent_begin";
pub(crate) const EVENT_KIND: &str = "agent";

/// The word for turns of a conversation that its client keeps itself, before its run begins.
const EARLIER_KIND: &str = "agent_earlier";

/// How many events are read at once.
const PAGE: u32 = 500;

/// The most bytes that a beginning has beside what was said.
const BEGINNING_BYTES: usize = 1024;

/// How a run began. With the runs before it and its events, all that it was is known.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunBeginning {
    pub(crate) said: Option<UserMessage>,
    limits: RunLimits,
    /// How many turns there were, with what is said. Of a run that others of its thread overlapped, the conversation
    /// has more now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turns: Option<usize>,
}

#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("a run could not be read")]
    Journal(#[from] JournalError),
    #[error("the run `{run}` is kept in a form that is not read")]
    Unreadable { run: RunId, source: serde_json::Error },
    #[error("the run `{run}` is not whole in its journal")]
    NotWhole { run: RunId },
}

/// Whether a journal keeps whole what a person says. Of what it does not, a later run knows only the size.
pub fn fits_journal(said: &UserMessage) -> bool {
    let said = serde_json::to_string(said).expect("the keys of a message are texts");
    said.len() + BEGINNING_BYTES <= RUN_EVENT_BYTES
}

/// Turns that were said before a run and are in no other journal, for this one to begin with. None if one of them is
/// too long.
pub fn earlier_events(turns: &[Turn]) -> Option<Vec<NewRunEvent>> {
    let events: Vec<_> = turns.iter().map(|turn| write_event(EARLIER_KIND, turn)).collect();
    let fits = |event: &NewRunEvent| event.json.get().len() <= RUN_EVENT_BYTES;
    events.iter().all(fits).then_some(events)
}

/// The event that the journal of a run begins with. Of one that answers nothing, the conversation ends with an answer.
pub(crate) fn beginning(turns: &[Turn], limits: &RunLimits) -> NewRunEvent {
    let said = match turns.last() {
        Some(Turn::User(message)) => Some(message.clone()),
        _ => None,
    };
    let beginning = RunBeginning { said, limits: limits.clone(), turns: Some(turns.len()) };
    let event = write_event(BEGIN_KIND, &beginning);
    let bytes = event.json.get().len();
    if bytes <= RUN_EVENT_BYTES {
        return event;
    }
    let said = UserMessage::text(format!("[{bytes} bytes, too many to be kept]")).ok();
    write_event(BEGIN_KIND, &RunBeginning { said, ..beginning })
}

pub(crate) fn event(event: &AgentEvent) -> NewRunEvent {
    write_event(EVENT_KIND, event)
}

pub(crate) fn write_event(kind: &'static str, what: &impl Serialize) -> NewRunEvent {
    let json = to_raw_value(what).expect("the keys of an event are texts");
    NewRunEvent { kind, json }
}

/// All that was said in these runs of one conversation, one after the other; nothing if there are none. A
/// run that did not end is taken as cancelled where it stopped.
pub async fn replay(
    journal: &dyn Journal,
    owner: &DataOwner,
    runs: impl IntoIterator<Item = RunId>,
) -> Result<Option<Transcript>, ReplayError> {
    let mut conversation = None;
    for run in runs {
        conversation = replay_run(journal, owner, run, conversation).await?;
    }
    Ok(conversation)
}

/// What was said before a run, and in it.
pub async fn replay_run(
    journal: &dyn Journal,
    owner: &DataOwner,
    run: RunId,
    before: Option<Transcript>,
) -> Result<Option<Transcript>, ReplayError> {
    let (before, replayed) = read_run(journal, owner, run, before, |_| Ok(())).await?;
    // One that stopped before it wrote anything said nothing.
    let Some(mut replayed) = replayed else { return Ok(before) };
    if replayed.end_state().is_none() {
        replayed.leave_open();
    }
    Ok(Some(replayed.into_transcript()))
}

/// A run as far as it came, or else what was said before it. `note` sees all its events.
pub(crate) async fn read_run(
    journal: &dyn Journal,
    owner: &DataOwner,
    run: RunId,
    mut before: Option<Transcript>,
    mut note: impl FnMut(&RunEvent) -> serde_json::Result<()>,
) -> Result<(Option<Transcript>, Option<AgentRun>), ReplayError> {
    let mut replayed: Option<AgentRun> = None;
    let (mut last, mut earlier, mut is_displaced) = (0, Vec::<Turn>::new(), false);
    let unreadable = |source| ReplayError::Unreadable { run, source };
    loop {
        let page = journal.events(owner, run, last, PAGE).await?;
        for event in &page {
            let RunEvent { number, kind, json, .. } = event;
            last = *number;
            note(event).map_err(unreadable)?;
            match (kind.as_str(), &mut replayed) {
                (BEGIN_KIND, None) => {
                    let RunBeginning { said, limits, turns } =
                        serde_json::from_str(json.get()).map_err(unreadable)?;
                    if !earlier.is_empty() {
                        let sent = History::try_from(std::mem::take(&mut earlier));
                        before = sent.ok().map(Transcript::from);
                    }
                    let conversation = say_next(before.take(), said);
                    let conversation = conversation.ok_or(ReplayError::NotWhole { run })?;
                    is_displaced = turns.is_some_and(|turns| turns != conversation.turns().len());
                    replayed = Some(AgentRun::begin(conversation, limits).0);
                }
                (EVENT_KIND, Some(replayed)) => {
                    let event = serde_json::from_str(json.get()).map_err(unreadable)?;
                    // It decided on turns by their number, and others have these numbers now.
                    if !(is_displaced && matches!(event, AgentEvent::Compacted { .. })) {
                        replayed.step(event);
                    }
                }
                (EARLIER_KIND, None) => {
                    earlier.push(serde_json::from_str(json.get()).map_err(unreadable)?);
                }
                (BEGIN_KIND | EVENT_KIND | EARLIER_KIND, _) => {
                    return Err(ReplayError::NotWhole { run });
                }
                // What others note changes nothing of what was said.
                _ => {}
            }
        }
        if page.len() < PAGE as usize {
            return Ok((before, replayed));
        }
    }
}

fn say_next(before: Option<Transcript>, said: Option<UserMessage>) -> Option<Transcript> {
    match (before, said) {
        (None, said) => said.map(|said| History::new(said).into()),
        (Some(mut conversation), said) => {
            if let Some(said) = said {
                conversation.say(said);
            }
            Some(conversation)
        }
    }
}
