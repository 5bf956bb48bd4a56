//! Calls that a source makes during one of its own: in the same turn or a narrower one.

use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{Request, ResolvedEntry, View};
use gatefold_core::{
    AgentId, CallError, CallId, Domain, Lineage, Outcome, Principal, Resume, Rights,
};
use gatefold_policy::{Facts, Permit};
use tokio::time::Instant;

use super::{ActiveCall, label_of};
use crate::{Caller, PinnedTurn};

/// Lets a source make calls of its own during a call.
///
/// It keeps the principal, the runtime, the deadline and the lineage of the outer call.
#[derive(Clone)]
pub struct NestedCaller {
    outer: Arc<ActiveCall>,
    /// The lineage of the calls made here.
    lineage: Lineage,
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
    /// The agent that acts.
    pub agent: Option<AgentId>,
    /// Restricts the view to this domain.
    pub within: Option<Domain>,
    /// Resumes a nested call that was suspended.
    pub resume: Option<Resume>,
}

impl NestedCaller {
    /// For the calls that a source makes while it works on this one.
    pub(super) fn during(outer: Arc<ActiveCall>, permit: &Permit) -> Self {
        let target = permit.target();
        let label = outer.label().merged(label_of(target));
        let lineage = outer.caller.lineage.below(permit.call().id, target.id.clone(), label);
        Self { outer, lineage }
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
        &self.outer.turn.view
    }

    /// Whether the principal may read a resource, by its address behind the gateway.
    pub fn resource_access(&self, uri: &str) -> ResourceAccess {
        self.outer.turn.resource_access(uri)
    }

    /// The lineage of calls made here, for a run that continues elsewhere.
    pub fn lineage(&self) -> Lineage {
        let label = self.lineage.label.merged(self.outer.caller.label.get());
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
        let NestedOptions { deadline, rights, agent, within, resume } = options;
        let mut turn = self.outer.turn.narrowed(rights.as_ref(), agent);
        if let Some(domain) = within {
            turn.view = turn.view.within(&domain);
        }
        let call = self.begin(turn, request.into(), caller, deadline);
        // Boxed because the future of a call contains that of the calls it makes.
        Box::pin(call.run(resume)).await
    }

    fn begin(
        &self,
        turn: PinnedTurn,
        request: Request,
        caller: Caller,
        deadline: Option<Duration>,
    ) -> ActiveCall {
        let Request { operation, entry } = turn.verified(request);
        let own = turn.runtime.call_deadline(entry.as_ref().map(ResolvedEntry::domain));
        let limit = deadline.map_or(own, |deadline| deadline.min(own));
        let outer = &*self.outer;
        ActiveCall {
            turn,
            operation,
            entry,
            caller: Caller {
                lineage: self.lineage.clone(),
                label: outer.caller.label.clone(),
                ..caller
            },
            client: outer.client.clone(),
            timer: outer.timer.within_this(Instant::now() + limit),
            limit: limit.min(outer.limit),
            questions: outer.questions.clone(),
            patience: outer.patience,
        }
    }
}

impl PinnedTurn {
    fn resource_access(&self, uri: &str) -> ResourceAccess {
        let Some(target) = self.resource(uri) else { return ResourceAccess::Hidden };
        let policy = &self.runtime.policy;
        let mut askers = std::iter::once(&self.principal).chain(&self.on_behalf_of);
        if askers.any(|asker| !policy.is_visible(asker, &target)) {
            return ResourceAccess::Hidden;
        }
        let facts = Facts { on_behalf_of: self.on_behalf_of.clone(), ..Facts::at(self.now()) };
        if policy.asks(&self.principal, &facts, &target) {
            return ResourceAccess::Asks;
        }
        ResourceAccess::Open
    }

    /// The same turn for the same user with fewer rights, or through an agent.
    ///
    /// Other rights mean other rules, and one of them might even grant more. So this turn sees only
    /// what the previous principal also sees, and only what is granted to both is granted.
    fn narrowed(&self, rights: Option<&Rights>, agent: Option<AgentId>) -> Self {
        if rights.is_none() && agent.is_none() {
            return self.clone();
        }
        let own = &self.principal;
        let principal = Principal {
            rights: rights.map_or_else(|| own.rights.clone(), |rights| own.rights.within(rights)),
            agent: agent.or_else(|| own.agent.clone()),
            ..Principal::clone(own)
        };
        let mut narrowed = self.clone();
        narrowed.on_behalf_of.push(own.clone());
        narrowed.view = self.view_of(&principal, &narrowed.on_behalf_of);
        narrowed.principal = Arc::new(principal);
        narrowed
    }
}
