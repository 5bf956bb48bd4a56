//! What drivers note in a journal beside the events of the loop: that a call waits, and that a run goes on.

use gatefold_core::ApprovalId;
use gatefold_dispatch::{NewRunEvent, Settlement};
use serde::{Deserialize, Serialize};

use crate::replay;

/// Their words in a journal.
pub(crate) const WAIT_KIND: &str = "agent_wait";
pub(crate) const RESUME_KIND: &str = "agent_resumed";

/// A call that waits for an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingCall {
    /// Which of the last answer's calls, counted from 0.
    pub call: usize,
    pub approval: ApprovalId,
    /// Found out anew each time that the run is taken up.
    #[serde(skip)]
    pub state: Settlement,
}

/// A driver goes on with a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Resumption {
    /// The calls that wait no longer: from here on they may have taken effect.
    pub(crate) calls: Vec<usize>,
}

/// A call waits for an approval.
pub(crate) fn waiting(call: usize, approval: ApprovalId) -> NewRunEvent {
    replay::write_event(WAIT_KIND, &WaitingCall { call, approval, state: Settlement::Open })
}
