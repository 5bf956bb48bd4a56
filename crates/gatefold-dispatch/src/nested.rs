use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{CallError, CallId, ClientName, Operation, Outcome, ToolId};
use tokio::time::Instant;

use crate::gate::Place;
use crate::timer::Timer;
use crate::{Caller, Pinned};

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
    /// What the client of the outermost call calls itself.
    pub(crate) client: Option<ClientName>,
    pub(crate) tools: Vec<ToolId>,
    pub(crate) taint: Taint,
    /// The time that all of them have together.
    pub(crate) timer: Arc<Timer>,
    /// The place that the innermost call has at its source.
    pub(crate) place: Arc<Place>,
    /// How long a question may stay open, where the outermost client answers by another request.
    pub(crate) patience: Option<Duration>,
}

impl Chain {
    /// The chain of a call that nobody's call led to.
    pub(crate) fn root(deadline: Instant, client: Option<ClientName>) -> Self {
        let timer = Timer::until(deadline);
        let place = Arc::default();
        Self {
            id: None,
            client,
            tools: Vec::new(),
            taint: Taint::Clean,
            timer,
            place,
            patience: None,
        }
    }

    pub(crate) fn extended(&self, id: CallId, tool: ToolId, taint: Taint) -> Self {
        let mut chain = self.clone();
        chain.id = Some(id);
        chain.tools.push(tool);
        chain.taint = self.taint.max_with(taint);
        chain
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
        // Boxed because the future of a call contains that of the calls it makes.
        let chain = Chain::clone(&self.chain);
        Box::pin(self.pinned.converse(operation, None, caller, chain)).await
    }
}
