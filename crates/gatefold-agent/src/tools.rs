use futures::future::BoxFuture;
use gatefold_core::{ApprovalId, BoxError};
use gatefold_model::{ToolCall, ToolResult};

use crate::{Budget, PastTexts, ToolOffer};

/// How far a call came.
#[derive(Debug, Clone, PartialEq)]
pub enum CallProgress {
    Returned(ToolResult),
    /// It has not taken effect, and can be made once somebody has decided about this approval.
    Waiting(ApprovalId),
    /// It could not be made, and the run ends once its other calls have returned, for a reason that a person can be told.
    Blocked {
        result: ToolResult,
        reason: String,
    },
}

/// The tools of a run.
pub trait AgentTools: Send + Sync {
    /// What the model is offered now. Tools that it was offered before keep their places, so that a
    /// provider's cache of the prompt stays valid.
    fn offer(&self) -> BoxFuture<'_, Result<ToolOffer, BoxError>>;

    /// Makes a call, under a deadline of its own. What goes wrong is a result too: the model reads it.
    /// What the call spends on models is spent of the run's budget. Dropping the future cancels the call.
    fn call<'a>(&'a self, request: &'a ToolCall, budget: &'a Budget) -> BoxFuture<'a, ToolResult>;

    /// Has what is not shown any more read by its handles, and says by which tool; none if the model has no such tool.
    fn keep_past<'a>(&'a self, past: &'a PastTexts) -> BoxFuture<'a, Option<String>> {
        let _ = past;
        Box::pin(async { None })
    }

    /// The same for a run that can wait: for as long as it takes, and in no memory.
    fn try_call<'a>(
        &'a self,
        request: &'a ToolCall,
        budget: &'a Budget,
    ) -> BoxFuture<'a, CallProgress> {
        Box::pin(async { CallProgress::Returned(self.call(request, budget).await) })
    }

    /// Whether a call that may have been made already can be made again without harm.
    fn is_repeatable<'a>(&'a self, request: &'a ToolCall) -> BoxFuture<'a, bool> {
        let _ = request;
        Box::pin(std::future::ready(false))
    }
}
