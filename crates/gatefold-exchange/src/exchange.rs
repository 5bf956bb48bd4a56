use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use gatefold_catalog::address;
use gatefold_core::{AgentId, BoxError, CallError, ClientName, Domain, Principal, Tenant};
use gatefold_dispatch::{Dispatcher, NestedCaller, PinnedTurn};

use crate::audience::{Choice, Generation};
use crate::learning::Learning;
use crate::surfaces::Surfaces;
use crate::turn::TurnState;
use crate::{
    AgentProfiles, Audience, ClientProfiles, Disclosures, LearningPorts, ListDigests, ResultKeeper,
    Scope, Turn, UnknownDisclosure,
};

/// State that all turns share: the dispatcher, the disclosures, and the surfaces made so far.
pub struct Exchange {
    dispatcher: Arc<Dispatcher>,
    disclosures: Disclosures,
    clients: ArcSwap<ClientProfiles>,
    agents: ArcSwap<AgentProfiles>,
    /// How often the agents were replaced.
    agent_changes: AtomicU64,
    shared: Arc<TurnState>,
}

impl Exchange {
    /// An exchange that learns nothing for longer than it lasts, and gives every result whole.
    pub fn new(dispatcher: Arc<Dispatcher>, disclosures: Disclosures) -> Arc<Self> {
        Self::of(dispatcher, disclosures, LearningPorts::default(), None)
    }

    /// An exchange that learns from use.
    pub fn learning(
        ports: LearningPorts,
        dispatcher: Arc<Dispatcher>,
        disclosures: Disclosures,
    ) -> Arc<Self> {
        Self::of(dispatcher, disclosures, ports, None)
    }

    /// An exchange that learns from use, and keeps results which are too large for a model.
    pub fn keeping(
        results: Arc<ResultKeeper>,
        ports: LearningPorts,
        dispatcher: Arc<Dispatcher>,
        disclosures: Disclosures,
    ) -> Arc<Self> {
        Self::of(dispatcher, disclosures, ports, Some(results))
    }

    fn of(
        dispatcher: Arc<Dispatcher>,
        disclosures: Disclosures,
        ports: LearningPorts,
        results: Option<Arc<ResultKeeper>>,
    ) -> Arc<Self> {
        let learning = Learning::new(ports, dispatcher.clock().clone());
        let shared = Arc::new(TurnState { surfaces: Surfaces::default(), learning, results });
        let (clients, agents) = (ArcSwap::default(), ArcSwap::default());
        let agent_changes = AtomicU64::default();
        Arc::new(Self { dispatcher, disclosures, clients, agents, agent_changes, shared })
    }

    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatcher
    }

    pub fn disclosures(&self) -> &Disclosures {
        &self.disclosures
    }

    /// An audience for the disclosure of this name, or for the default one.
    pub fn audience(
        &self,
        scope: Scope,
        disclosure: Option<&str>,
    ) -> Result<Audience, UnknownDisclosure> {
        let generation = self.generation();
        let audience = self.disclosures.audience(scope, disclosure)?;
        Ok(audience.resolved_at(generation))
    }

    /// Replaces the profiles of clients.
    pub fn set_clients(&self, profiles: ClientProfiles) {
        self.clients.store(Arc::new(profiles));
    }

    /// The audience for a client that gives itself this name. The claim may choose a disclosure if
    /// the request named none. What can be seen depends only on the principal.
    pub fn for_client(&self, audience: &Audience, client: Option<&ClientName>) -> Audience {
        let named = |name: &str| match audience.agent_id() {
            Some(agent) => self.agent_audience(agent, Some(name))?.ok(),
            None => self.audience(Scope::Everything, Some(name)).ok(),
        };
        self.clients.load().audience(audience, client, named)
    }

    /// Replaces the agents.
    pub fn set_agents(&self, profiles: AgentProfiles) {
        self.agents.store(Arc::new(profiles));
        self.agent_changes.fetch_add(1, Ordering::Release);
    }

    /// Whether there is such an agent, and a principal finds it. One that it does not find looks as if
    /// there were none.
    pub fn shows_agent(&self, principal: &Principal, agent: &AgentId) -> bool {
        self.agents.load().shows(principal, agent)
    }

    /// An audience for an agent, and for the disclosure of this name or its own. `None` if there is
    /// no such agent.
    pub fn agent_audience(
        &self,
        agent: &AgentId,
        disclosure: Option<&str>,
    ) -> Option<Result<Audience, UnknownDisclosure>> {
        let generation = self.generation();
        let audience = self.agents.load().audience(agent, disclosure)?;
        Some(audience.map(|audience| audience.resolved_at(generation)))
    }

    /// Read before an audience is resolved: one that is resolved while something changes counts as old.
    fn generation(&self) -> Generation {
        Generation(self.disclosures.changes() + self.agent_changes.load(Ordering::Acquire))
    }

    /// The audience as it is since the last reload, which may have changed its agent, or the
    /// disclosure for whoever names none. `None` if the agent is gone. One that was resolved since,
    /// as that of most requests, is not resolved again.
    fn current<'a>(&self, audience: &'a Audience) -> Option<Cow<'a, Audience>> {
        if audience.is_of(self.generation()) {
            return Some(Cow::Borrowed(audience));
        }
        self.resolved_again(audience).map(Cow::Owned)
    }

    fn resolved_again(&self, audience: &Audience) -> Option<Audience> {
        let Some(agent) = audience.agent_id() else {
            let usual = (audience.choice() == Choice::Usual)
                .then(|| self.audience(audience.scope().clone(), None).ok())
                .flatten();
            let usual = usual.map(|usual| usual.asked_as(audience));
            return Some(usual.unwrap_or_else(|| audience.clone()));
        };
        let named = match audience.choice() {
            Choice::Named | Choice::Clients => Some(audience.disclosure_name().as_str()),
            Choice::Agents | Choice::Usual => None,
        };
        let current = self.agent_audience(agent, named)?.ok()?;
        Some(current.chosen_by(audience.choice()).asked_as(audience))
    }

    /// Begins a turn. `None` if the principal sees nothing of the audience's part.
    pub fn turn(&self, audience: &Audience, principal: Arc<Principal>) -> Option<Turn> {
        let audience = self.current(audience)?.into_owned();
        let pinned = self.dispatcher.pin_for(principal, audience.client(), audience.holder());
        let pinned = self.as_learnt(pinned, &audience);
        let pinned = match audience.scope() {
            Scope::Everything => pinned,
            Scope::Source(domain) => pinned.within(domain)?,
        };
        Some(Turn::new(self.shared.clone(), audience, pinned))
    }

    /// Begins a turn of an agent within a call, for the source that holds the call and delegates to
    /// the audience's agent: with the agent's surface and its own rules, for the user of that call and
    /// under what its token leaves. A hidden agent and a missing one look the same.
    pub fn delegate(&self, call: &NestedCaller, audience: &Audience) -> Result<Turn, CallError> {
        let unknown = |name: &str| CallError::Unknown { kind: "agent", name: name.to_owned() };
        let agent = audience.agent_id().ok_or_else(|| unknown(""))?;
        let pinned = call.delegated_to(agent, audience.holder())?;
        let is_shown = self.shows_agent(pinned.principal(), agent);
        let audience = is_shown.then(|| self.current(audience)).flatten();
        let audience = audience.ok_or_else(|| unknown(agent.as_str()))?.into_owned();
        let pinned = self.as_learnt(pinned, &audience);
        Ok(Turn::new(self.shared.clone(), audience, pinned))
    }

    /// A turn with what was learnt from use, and with what its session has found.
    fn as_learnt(&self, pinned: PinnedTurn, audience: &Audience) -> PinnedTurn {
        let learning = &self.shared.learning;
        let pinned = learning.with_past(pinned);
        let shows_used = audience.disclosure().shows_used();
        let pinned = if shows_used { learning.with_used(pinned) } else { pinned };
        match audience.loading() {
            Some(loaded) => pinned.with_registered(loaded.names()),
            None => pinned,
        }
    }

    /// Somebody's turn at the dispatcher, whose searches rank by what was learnt from use.
    pub fn pin(&self, principal: Arc<Principal>) -> PinnedTurn {
        self.shared.learning.with_past(self.dispatcher.pin(principal))
    }

    /// Reads what was learnt for a tenant, so that the tenant's next turn ranks by it. A turn also
    /// starts this by itself, and does without until it is done.
    pub async fn recollect(&self, tenant: &Tenant) -> Result<(), BoxError> {
        self.shared.learning.recollect(tenant).await
    }

    /// Reads which tools a principal used most before today, unless they are known.
    pub async fn read_used(&self, principal: &Principal) {
        self.shared.learning.recall_used(&self.dispatcher, principal).await;
    }

    /// Begins a turn like [`Exchange::turn`], after [`Exchange::read_used`] where the audience is shown
    /// what its principal used most. A turn about one unknown source waits until the source was asked,
    /// because its client has nothing else to see.
    pub async fn informed_turn(
        &self,
        audience: &Audience,
        principal: Arc<Principal>,
    ) -> Option<Turn> {
        let audience = self.current(audience)?;
        if audience.disclosure().shows_used() {
            self.read_used(&principal).await;
        }
        let turn = self.turn(&audience, principal.clone())?;
        let Scope::Source(domain) = audience.scope() else {
            return Some(turn);
        };
        if turn.pinned().knows(domain) {
            return Some(turn);
        }
        if let Err(error) = turn.pinned().learn(domain).await {
            tracing::debug!(%domain, %error, "a source could not be asked what it offers");
        }
        self.turn(&audience, principal)
    }

    /// The digests that tell when an audience's lists have changed. `None` if the principal sees
    /// nothing of the audience's part.
    pub fn digests(&self, audience: &Audience, principal: &Arc<Principal>) -> Option<ListDigests> {
        Some(self.turn(audience, principal.clone())?.lists().digests())
    }

    /// Whether somebody may know of a source's resource.
    pub fn sees_resource(&self, principal: &Arc<Principal>, domain: &Domain, uri: &str) -> bool {
        self.dispatcher.pin(principal.clone()).sees_resource(&address(domain, uri))
    }
}
