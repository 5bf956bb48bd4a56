use futures::future::BoxFuture;
use gatefold_core::BoxError;
use gatefold_model::{RawJson, ToolCall, ToolDefinition, ToolResult};

use crate::{Budget, PastTexts};

/// What a model is given beside the conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOffer {
    pub instructions: String,
    pub tools: Vec<ToolDefinition>,
}

impl ToolOffer {
    /// About how many bytes it takes in a request.
    pub(crate) fn bytes(&self) -> usize {
        let definitions = self.tools.iter().map(|tool| {
            tool.name().len() + tool.description().len() + RawJson::of(tool.schema()).text().len()
        });
        self.instructions.len() + definitions.sum::<usize>()
    }
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
}
