use std::sync::Arc;

use gatefold_core::{Call, CallError, CallId, Operation, Outcome, ToolId};
use tokio::time::Instant;

use crate::pinned::{Caller, Pinned};

/// Whether a chain of calls has touched the open world, whose words may be somebody's attack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Taint {
    #[default]
    Clean,
    OpenWorld,
}

/// The way for a source to make calls of its own in the course of one.
///
/// It keeps the principal, the runtime, the deadline and the chain of the call it belongs to.
#[derive(Clone)]
pub struct Nested {
    pinned: Pinned,
    chain: Arc<Chain>,
}

/// Where a call stands among those that led to it.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) id: Option<CallId>,
    pub(crate) tools: Vec<ToolId>,
    pub(crate) taint: Taint,
    pub(crate) deadline: Instant,
}

impl Chain {
    /// The chain of a call that nobody's call led to.
    pub(crate) fn root(deadline: Instant) -> Self {
        Self { id: None, tools: Vec::new(), taint: Taint::Clean, deadline }
    }

    pub(crate) fn extended(&self, id: CallId, tool: ToolId, taint: Taint) -> Self {
        let mut tools = self.tools.clone();
        tools.push(tool);
        Self { id: Some(id), tools, taint: self.taint.max_with(taint), deadline: self.deadline }
    }
}

impl Taint {
    fn max_with(self, other: Self) -> Self {
        if self == Self::OpenWorld { self } else { other }
    }
}

impl Nested {
    pub(crate) fn new(pinned: Pinned, chain: Chain) -> Self {
        Self { pinned, chain: Arc::new(chain) }
    }

    /// The call this one belongs to.
    pub fn parent(&self) -> Option<CallId> {
        self.chain.id
    }

    /// How many calls deep the call stands; the outermost is at 1.
    pub fn depth(&self) -> usize {
        self.chain.tools.len()
    }

    pub fn taint(&self) -> Taint {
        self.chain.taint
    }

    /// Makes a call on the same path as any other: resolved, admitted and recorded on its own.
    pub async fn call(&self, operation: Operation, caller: Caller) -> Result<Outcome, CallError> {
        let call = Call {
            id: self.pinned.next_call_id(),
            parent: self.chain.id,
            principal: self.pinned.principal().clone(),
            operation,
            resume: None,
        };
        // Boxed because the future of a call contains that of the calls it makes.
        Box::pin(self.pinned.run(call, &self.chain, caller)).await
    }
}
