//! Calls that a source makes during one of its own: in the same turn or a narrower one.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::{Request, ResolvedEntry, View};
use gatefold_core::{AgentId, CallError, Label, Lineage, Outcome, Principal, Resume, Rights};
use gatefold_policy::{Facts, Permit};
use tokio::time::Instant;

use super::{ActiveCall, label_of};
use crate::nested::{NestedCaller, NestedOptions, OuterCall, ResourceAccess};
use crate::pinned::{DelegatingCall, Delegation};
use crate::{Caller, PinnedTurn, TurnHolder};

impl ActiveCall {
    /// For the calls that the source makes while it works on this one.
    pub(super) fn nested(self: &Arc<Self>, permit: &Permit) -> NestedCaller {
        let target = permit.target();
        let label = self.label().merged(label_of(target));
        let lineage = self.caller.lineage.below(permit.call().id, target.id.clone(), label);
        NestedCaller::new(lineage, self.clone())
    }

    fn begin(
        &self,
        turn: PinnedTurn,
        request: Request,
        caller: Caller,
        deadline: Option<Duration>,
    ) -> Self {
        let Request { operation, entry } = turn.verified(request);
        let own = turn.runtime.call_deadline(entry.as_ref().map(ResolvedEntry::domain));
        let limit = deadline.map_or(own, |deadline| deadline.min(own));
        Self {
            turn,
            operation,
            entry,
            caller: Caller { label: self.caller.label.clone(), ..caller },
            client: self.client.clone(),
            timer: self.timer.within_this(Instant::now() + limit),
            limit: limit.min(self.limit),
            questions: self.questions.clone(),
            patience: self.patience,
        }
    }
}

impl OuterCall for ActiveCall {
    fn label(&self) -> Label {
        self.caller.label.get()
    }

    fn view(&self) -> &View {
        &self.turn.view
    }

    fn resource_access(&self, uri: &str) -> ResourceAccess {
        self.turn.resource_access(uri)
    }

    fn call(
        &self,
        lineage: Lineage,
        request: Request,
        caller: Caller,
        options: NestedOptions,
    ) -> BoxFuture<'_, Result<Outcome, CallError>> {
        let NestedOptions { deadline, rights, agent, within, resume } = options;
        let mut turn = self.turn.narrowed(rights.as_ref(), agent);
        if let Some(domain) = within {
            turn.view = turn.view.within(&domain);
        }
        let call = self.begin(turn, request, Caller { lineage, ..caller }, deadline);
        Box::pin(call.run(resume))
    }
}

impl NestedCaller {
    /// A turn within this call, for an agent that acts instead of this call's own: the user and
    /// their rights, what the token leaves, the deadline, the records and the questions stay, and
    /// what the agent may see and call is what its own rules leave. It has nothing of the source
    /// that delegates, and delegation goes one level deep.
    ///
    /// Whoever asks makes sure that there is such an agent and that the principal finds it: one
    /// that nobody configured has no rules.
    pub fn delegated_to(
        &self,
        agent: &AgentId,
        holder: TurnHolder,
    ) -> Result<PinnedTurn, CallError> {
        let outer: Arc<dyn Any + Send + Sync> = self.outer().clone();
        let Ok(call) = outer.downcast::<ActiveCall>() else {
            unreachable!("only an active call is an outer call")
        };
        let source = call.entry.as_ref().map(|entry| entry.domain().clone());
        let Some(source) = source.filter(|_| call.turn.delegation.is_none()) else {
            return Err(CallError::DelegatedTwice { agent: agent.clone() });
        };
        let mut turn = call.turn.clone();
        turn.holder = holder;
        let within = Box::new(NestedIn { lineage: self.own_lineage().clone(), call });
        Ok(turn.delegated(agent, Arc::new(Delegation { within, source })))
    }
}

/// A call in which those of an agent's turn are nested.
struct NestedIn {
    lineage: Lineage,
    call: Arc<ActiveCall>,
}

impl DelegatingCall for NestedIn {
    fn call_in(
        &self,
        turn: PinnedTurn,
        request: Request,
        resume: Option<Resume>,
        caller: Caller,
    ) -> BoxFuture<'_, Result<Outcome, CallError>> {
        let caller = Caller { lineage: self.lineage.clone(), ..caller };
        Box::pin(self.call.begin(turn, request, caller, None).run(resume))
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

    /// The same turn for the same user through another agent, whose own rules count instead. Where
    /// this turn acts for wider rights, so does that one.
    fn delegated(mut self, agent: &AgentId, delegation: Arc<Delegation>) -> Self {
        for principal in std::iter::once(&mut self.principal).chain(&mut self.on_behalf_of) {
            Arc::make_mut(principal).agent = Some(agent.clone());
        }
        self.under(delegation)
    }
}
