use std::sync::Arc;

use gatefold_catalog::View;
use gatefold_core::{Call, CallError, CallId, Operation, Outcome, Principal, Resume, Timestamp};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::audit::RECORD_WAIT;
use crate::nested::Chain;
use crate::runtime::Runtime;
use crate::seal::digest;
use crate::{Counters, DiscoveryRecord, Dispatcher, EventSink, NoPeer, Peer, TraceContext};

/// One principal's turn on one runtime: whatever is reloaded meanwhile, it sees no difference.
#[derive(Clone)]
pub struct Pinned {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) principal: Arc<Principal>,
    pub(crate) view: View,
}

/// How a caller follows its call, and how it can be reached meanwhile.
pub struct Caller {
    pub events: EventSink,
    pub peer: Arc<dyn Peer>,
    pub cancel: CancellationToken,
    pub trace: TraceContext,
}

impl Caller {
    /// A caller who only waits for the result.
    pub fn silent() -> Self {
        Self {
            events: EventSink::none(),
            peer: Arc::new(NoPeer),
            cancel: CancellationToken::new(),
            trace: TraceContext::default(),
        }
    }
}

impl Pinned {
    pub(crate) fn new(
        dispatcher: Arc<Dispatcher>,
        runtime: Arc<Runtime>,
        principal: Arc<Principal>,
    ) -> Self {
        let view = runtime.view(&principal);
        Self { dispatcher, runtime, principal, view }
    }

    /// What the principal sees.
    pub fn view(&self) -> &View {
        &self.view
    }

    pub fn counters(&self) -> &Counters {
        &self.dispatcher.counters
    }

    pub fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    /// Makes one call, or resumes one.
    pub async fn call(
        &self,
        operation: Operation,
        resume: Option<Resume>,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        let chain = Chain::root(Instant::now() + self.runtime.limits.call_deadline);
        let (id, principal) = (self.next_call_id(), self.principal.clone());
        let call = Call { id, parent: None, principal, operation, resume };
        self.run(call, &chain, caller).await
    }

    /// Leaves the record of a meta-call that only discovered.
    pub async fn discovered(
        &self,
        meta_tool: &str,
        arguments: &RawValue,
        result_bytes: usize,
        is_error: bool,
    ) {
        let record = DiscoveryRecord {
            at: self.now(),
            principal: self.principal.clone(),
            meta_tool: meta_tool.to_owned(),
            arguments_digest: digest(arguments.get().as_bytes()),
            result_bytes,
            is_error,
        };
        self.dispatcher.counters.count(if is_error { "discovery_error" } else { "discovery" });
        let kept = timeout(RECORD_WAIT, self.dispatcher.ports.audit.discover(record)).await;
        if kept.is_err() {
            tracing::warn!(meta_tool, "the record of a discovery was not kept in time");
        }
    }

    pub(crate) fn next_call_id(&self) -> CallId {
        self.dispatcher.next_call_id()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.dispatcher.ports.clock.now()
    }
}
