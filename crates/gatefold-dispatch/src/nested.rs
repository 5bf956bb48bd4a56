//! Calls that a source makes during one of its own, as the source sees them.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Request, View};
use gatefold_core::{AgentId, CallError, CallId, Domain, Label, Lineage, Outcome, Resume, Rights};

use crate::Caller;

/// Lets a source make calls of its own during a call.
///
/// It keeps the principal, the runtime, the deadline and the lineage of the outer call.
#[derive(Clone)]
pub struct NestedCaller {
    /// The lineage of the calls made here.
    lineage: Lineage,
    outer: Arc<dyn OuterCall>,
}

/// The call during which others are made. A source gets this and not the call itself, because calls know
/// sources and not the other way round.
pub(crate) trait OuterCall: Any + Send + Sync {
    /// What the session has read in the meantime.
    fn label(&self) -> Label;

    fn view(&self) -> &View;

    fn resource_access(&self, uri: &str) -> ResourceAccess;

    fn call(
        &self,
        lineage: Lineage,
        request: Request,
        caller: Caller,
        options: NestedOptions,
    ) -> BoxFuture<'_, Result<Outcome, CallError>>;
}

/// What policy says about reading a resource, for a source that shows its content in another way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceAccess {
    Open,
    /// A person has to approve each reading.
    Asks,
    /// To this principal it does not exist.
    Hidden,
}

/// How a nested call differs from its outer call. Every difference narrows what it may do.
#[derive(Debug, Default)]
pub struct NestedOptions {
    /// Its time, if that is less than what remains of the outer call's.
    pub deadline: Option<Duration>,
    /// The rights to keep; all others are given up. It cannot add rights that the principal does
    /// not have.
    pub rights: Option<Rights>,
    /// The agent that acts, within what the outer call's may do: see [`NestedCaller::delegated_to`]
    /// for one that acts by itself.
    pub agent: Option<AgentId>,
    /// Restricts the view to this domain.
    pub within: Option<Domain>,
    /// Resumes a nested call that was suspended.
    pub resume: Option<Resume>,
}

impl NestedCaller {
    pub(crate) fn new(lineage: Lineage, outer: Arc<dyn OuterCall>) -> Self {
        Self { lineage, outer }
    }

    pub(crate) fn outer(&self) -> &Arc<dyn OuterCall> {
        &self.outer
    }

    pub(crate) fn own_lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// The call this one belongs to.
    pub fn parent(&self) -> Option<CallId> {
        self.lineage.parent
    }

    /// How deep the call is nested. The outermost call is at 1.
    pub fn depth(&self) -> usize {
        self.lineage.depth
    }

    /// What the principal of the call sees: a source must tell it of nothing else.
    pub fn view(&self) -> &View {
        self.outer.view()
    }

    /// Whether the principal may read a resource, by its address behind the gateway.
    pub fn resource_access(&self, uri: &str) -> ResourceAccess {
        self.outer.resource_access(uri)
    }

    /// The lineage of calls made here, for a run that continues elsewhere.
    pub fn lineage(&self) -> Lineage {
        let label = self.lineage.label.merged(self.outer.label());
        Lineage { label, ..self.lineage.clone() }
    }

    /// Makes a call on the same path as any other: resolved, admitted and recorded on its own.
    pub async fn call(
        &self,
        request: impl Into<Request>,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        self.call_with(request, caller, NestedOptions::default()).await
    }

    /// Like [`NestedCaller::call`], but with less than the outer call has.
    pub async fn call_with(
        &self,
        request: impl Into<Request>,
        caller: Caller,
        options: NestedOptions,
    ) -> Result<Outcome, CallError> {
        self.outer.call(self.lineage.clone(), request.into(), caller, options).await
    }
}
