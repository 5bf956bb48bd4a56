use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{ClientName, Principal};
use gatefold_dispatch::Peer;
use tokio::time::Instant;

use crate::face::ToolFace;
use crate::{BuiltinAnswer, BuiltinError};

/// One call of a tool, with what its answer may depend on.
pub struct BuiltinCall {
    /// A JSON object.
    pub arguments: String,
    pub principal: Arc<Principal>,
    /// The client behind the call.
    pub peer: Arc<dyn Peer>,
    /// What the client calls itself.
    pub client: Option<ClientName>,
    /// When the call's time runs out.
    pub deadline: Instant,
}

/// A tool of our own.
pub(crate) trait BuiltinTool: Send + Sync + 'static {
    fn face(&self) -> ToolFace;

    /// Answers one call. Dropping the future cancels it.
    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>>;
}
