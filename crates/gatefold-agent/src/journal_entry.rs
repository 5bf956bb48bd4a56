//! What stands in the journal of an agent's run, for those who show it.

use gatefold_dispatch::RunEvent;
use gatefold_model::UserMessage;

use crate::AgentEvent;
use crate::replay::{BEGIN_KIND, EVENT_KIND, RunBeginning};

/// An event of a run, as it was written.
#[derive(Debug, Clone, PartialEq)]
pub enum JournalEntry {
    /// The run began, with what a person said.
    Began { said: Option<UserMessage> },
    /// Something happened that the run is determined by.
    Happened(AgentEvent),
    /// Something that whoever drove the run noted for itself.
    Note,
}

impl JournalEntry {
    pub fn read(event: &RunEvent) -> Result<Self, serde_json::Error> {
        let json = event.json.get();
        Ok(match event.kind.as_str() {
            BEGIN_KIND => Self::Began { said: serde_json::from_str::<RunBeginning>(json)?.said },
            EVENT_KIND => Self::Happened(serde_json::from_str(json)?),
            _ => Self::Note,
        })
    }
}
