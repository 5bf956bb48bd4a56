use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{Request, ResolvedEntry};
use gatefold_core::{
    AgentId, CallError, CallId, ClientName, Domain, Label, Lineage, Outcome, Principal, Resume,
    Rights, Target,
};
use tokio::time::Instant;

use crate::bulkhead::BulkheadPlace;
use crate::timer::Timer;
use crate::{Caller, Pinned, SharedLabel};

/// The way for a source to make calls of its own in the course of one.
///
/// It keeps the principal, the runtime, the deadline and the lineage of the call it belongs to.
#[derive(Clone)]
pub struct Nested {
    pinned: Pinned,
    chain: Arc<Chain>,
}

/// How a nested call differs from the one it is made in the course of. Every difference narrows.
#[derive(Debug, Default)]
pub struct NestedOptions {
    /// How long it has, if that is less than what is left to the outer call.
    pub deadline: Option<Duration>,
    /// Rights beside these are put down. Those that the principal does not have are not gained.
    pub rights: Option<Rights>,
    /// The agent that acts.
    pub agent: Option<AgentId>,
    /// There is nothing but this domain.
    pub within: Option<Domain>,
    /// Goes on with a nested call that was suspended.
    pub resume: Option<Resume>,
}

/// What a call has from those that led to it.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) lineage: Lineage,
    /// What the session or the run has read: raised by every call of the chain.
    pub(crate) label: SharedLabel,
    /// What the client of the outermost call calls itself.
    pub(crate) client: Option<ClientName>,
    /// The time that all of them have together.
    pub(crate) timer: Arc<Timer>,
    /// How long that is without the time that questions take.
    pub(crate) limit: Duration,
    /// The place that the innermost call has at its source.
    pub(crate) place: Arc<BulkheadPlace>,
    /// How long a question may stay open, where the outermost client answers by another request.
    pub(crate) patience: Option<Duration>,
}

impl Chain {
    /// The chain of a call that no call of this dispatcher's led to.
    pub(crate) fn root(limit: Duration, caller: &Caller) -> Self {
        Self {
            lineage: caller.lineage.clone(),
            label: caller.label.clone(),
            client: caller.meta.client.clone(),
            timer: Timer::until(Instant::now() + limit),
            limit,
            place: Arc::default(),
            patience: None,
        }
    }

    /// What the call knows that is about to be made: its lineage's label, and all that the session
    /// has read meanwhile.
    pub(crate) fn label(&self) -> Label {
        self.lineage.label.merged(self.label.get())
    }

    /// The chain of the calls that are made in the course of this one.
    pub(crate) fn extended(&self, call: CallId, target: &Target) -> Self {
        let label = self.label().merged(label_of(target));
        let lineage = self.lineage.below(call, target.id.clone(), label);
        Self { lineage, ..self.clone() }
    }

    fn limited(&self, limit: Duration) -> Self {
        let timer = self.timer.within_this(Instant::now() + limit);
        Self { timer, limit: limit.min(self.limit), ..self.clone() }
    }
}

/// The label of what a target says.
pub(crate) fn label_of(target: &Target) -> Label {
    if target.hints.is_open_world() { Label::OpenWorld } else { Label::Clean }
}

impl Nested {
    pub(crate) fn new(pinned: Pinned, chain: Chain) -> Self {
        Self { pinned, chain: Arc::new(chain) }
    }

    /// The call this one belongs to.
    pub fn parent(&self) -> Option<CallId> {
        self.chain.lineage.parent
    }

    /// How many calls deep the call stands; the outermost is at 1.
    pub fn depth(&self) -> usize {
        self.chain.lineage.depth
    }

    /// What the calls that are made here have above them, for a run that goes on elsewhere.
    pub fn lineage(&self) -> Lineage {
        Lineage { label: self.chain.label(), ..self.chain.lineage.clone() }
    }

    /// Makes a call on the same path as any other: resolved, admitted and recorded on its own.
    pub async fn call(
        &self,
        request: impl Into<Request>,
        caller: Caller,
    ) -> Result<Outcome, CallError> {
        self.call_with(request, caller, NestedOptions::default()).await
    }

    /// As [`Nested::call`], with less than the outer call has.
    pub async fn call_with(
        &self,
        request: impl Into<Request>,
        caller: Caller,
        options: NestedOptions,
    ) -> Result<Outcome, CallError> {
        let NestedOptions { deadline, rights, agent, within, resume } = options;
        let request = request.into();
        let mut pinned = self.pinned.narrowed(rights.as_ref(), agent);
        if let Some(domain) = within {
            pinned.view = pinned.view.within(&domain);
        }
        let request = pinned.verified(request);
        let own = pinned.runtime.call_deadline(request.entry.as_ref().map(ResolvedEntry::domain));
        let chain = self.chain.limited(deadline.map_or(own, |deadline| deadline.min(own)));
        // Boxed because the future of a call contains that of the calls it makes.
        Box::pin(pinned.converse(request, resume, caller, chain)).await
    }
}

impl Pinned {
    /// The same turn for the same user with fewer rights, or through an agent.
    ///
    /// With other rights other rules apply, and a rule may well grant something. So what is seen is
    /// seen by the principal of before as well, and what is granted is granted to both.
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
        narrowed.view = self.view.intersected(&self.runtime.view(&principal));
        narrowed.on_behalf_of.push(own.clone());
        narrowed.principal = Arc::new(principal);
        narrowed
    }
}
