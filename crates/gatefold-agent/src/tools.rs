use futures::future::BoxFuture;
use gatefold_core::BoxError;
use gatefold_model::{ToolCall, ToolDefinition, ToolResult};

/// What a model is given beside the conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOffer {
    pub instructions: String,
    pub tools: Vec<ToolDefinition>,
}

/// The tools of a run.
pub trait AgentTools: Send + Sync {
    /// What the model is offered now. Tools that it was offered before keep their places, so that a
    /// provider's cache of the prompt stays valid.
    fn offer(&self) -> BoxFuture<'_, Result<ToolOffer, BoxError>>;

    /// Makes a call, under a deadline of its own. What goes wrong is a result too: the model reads it.
    /// Dropping the future cancels the call.
    fn call<'a>(&'a self, request: &'a ToolCall) -> BoxFuture<'a, ToolResult>;
}
