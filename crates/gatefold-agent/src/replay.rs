//! What was said in runs that have ended, from their journals.

use gatefold_dispatch::{
    DataOwner, Journal, JournalError, NewRunEvent, RUN_EVENT_BYTES, RunEvent, RunId,
};
use gatefold_model::{History, Turn, UserMessage};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use crate::{AgentEvent, AgentRun, RunLimits, Transcript};

/// The words for an agent's events in a journal: how its run began, and all that happened then.
const BEGIN_KIND: &str = "agent_begin";
const EVENT_KIND: &str = "agent";

/// How many events are read at once.
const PAGE: u32 = 500;

/// The most bytes that a beginning has beside what was said.
const BEGINNING_BYTES: usize = 1024;

/// How a run began. With the runs before it and its events, all that it was is known.
#[derive(Debug, Serialize, Deserialize)]
struct RunBeginning {
    said: Option<UserMessage>,
    limits: RunLimits,
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

/// The event that the journal of a run begins with that answers the end of a conversation.
pub(crate) fn beginning(turns: &[Turn], limits: &RunLimits) -> NewRunEvent {
    let said = match turns.last() {
        Some(Turn::User(message)) => Some(message.clone()),
        _ => None,
    };
    let beginning = RunBeginning { said, limits: limits.clone() };
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

fn write_event(kind: &'static str, what: &impl Serialize) -> NewRunEvent {
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
    let mut replayed: Option<AgentRun> = None;
    let (mut last, mut before) = (0, before);
    loop {
        let page = journal.events(owner, run, last, PAGE).await?;
        for RunEvent { number, kind, json, .. } in &page {
            last = *number;
            let unreadable = |source| ReplayError::Unreadable { run, source };
            match (kind.as_str(), &mut replayed) {
                (BEGIN_KIND, None) => {
                    let RunBeginning { said, limits } =
                        serde_json::from_str(json.get()).map_err(unreadable)?;
                    let conversation = say_next(before.take(), said);
                    let conversation = conversation.ok_or(ReplayError::NotWhole { run })?;
                    replayed = Some(AgentRun::begin(conversation, limits).0);
                }
                (EVENT_KIND, Some(replayed)) => {
                    replayed.step(serde_json::from_str(json.get()).map_err(unreadable)?);
                }
                _ => return Err(ReplayError::NotWhole { run }),
            }
        }
        if page.len() < PAGE as usize {
            break;
        }
    }
    // One that stopped before it wrote anything said nothing.
    let Some(mut replayed) = replayed else { return Ok(before) };
    replayed.step(AgentEvent::Cancelled);
    Ok(Some(replayed.into_transcript()))
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
