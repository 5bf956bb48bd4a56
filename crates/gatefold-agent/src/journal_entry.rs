//! What stands in the journal of an agent's run, for those who show it.

use gatefold_core::ApprovalId;
use gatefold_dispatch::RunEvent;
use gatefold_model::UserMessage;

use crate::replay::{BEGIN_KIND, EVENT_KIND, RunBeginning};
use crate::wait_notes::{RESUME_KIND, WAIT_KIND};
use crate::{AgentEvent, WaitingCall};

/// An event of a run, as it was written.
#[derive(Debug, Clone, PartialEq)]
pub enum JournalEntry {
    /// The run began, with what a person said.
    Began { said: Option<UserMessage> },
    /// Something happened that the run is determined by.
    Happened(AgentEvent),
    /// A call of the last answer waits for somebody's approval.
    Waits { call: usize, approval: ApprovalId },
    /// Nobody drove the run, and somebody goes on with it.
    Resumed,
    /// Something that whoever drove the run noted for itself.
    Note,
}

impl JournalEntry {
    pub fn read(event: &RunEvent) -> Result<Self, serde_json::Error> {
        let json = event.json.get();
        Ok(match event.kind.as_str() {
            BEGIN_KIND => Self::Began { said: serde_json::from_str::<RunBeginning>(json)?.said },
            EVENT_KIND => Self::Happened(serde_json::from_str(json)?),
            WAIT_KIND => {
                let WaitingCall { call, approval, .. } = serde_json::from_str(json)?;
                Self::Waits { call, approval }
            }
            RESUME_KIND => Self::Resumed,
            _ => Self::Note,
        })
    }
}
