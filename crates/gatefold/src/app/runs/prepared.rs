//! What a run goes on with, once all of it was found.

use std::sync::Arc;

use gatefold_agent::{AgentModel, KeptRun, RunLimits, Spending, Transcript};
use gatefold_core::{AgentId, Principal};

use super::tools::HostedTools;

/// All that a run needs to be driven.
pub(super) struct PreparedRun {
    pub(super) principal: Arc<Principal>,
    pub(super) agent: Option<AgentId>,
    pub(super) model: AgentModel,
    pub(super) tools: HostedTools,
}

/// What a task drives.
pub(super) enum DrivenRun {
    New(Transcript, RunLimits),
    /// One that goes on, with what it has spent.
    Kept(Box<KeptRun>, Spending),
}
