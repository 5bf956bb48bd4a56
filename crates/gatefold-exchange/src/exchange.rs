use std::sync::Arc;

use arc_swap::ArcSwap;
use gatefold_catalog::address;
use gatefold_core::{AgentId, ClientName, Domain, Principal};
use gatefold_dispatch::Dispatcher;

use crate::audience::Choice;
use crate::surfaces::Surfaces;
use crate::{
    AgentProfiles, Audience, ClientProfiles, Disclosures, ListDigests, ResultKeeper, Scope, Turn,
    UnknownDisclosure,
};

/// State that all turns share: the dispatcher, the disclosures, and the surfaces made so far.
pub struct Exchange {
    dispatcher: Arc<Dispatcher>,
    disclosures: Disclosures,
    surfaces: Arc<Surfaces>,
    clients: ArcSwap<ClientProfiles>,
    agents: ArcSwap<AgentProfiles>,
    /// What keeps results that are too large for a model. Without it they are given whole.
    results: Option<Arc<ResultKeeper>>,
}

impl Exchange {
    pub fn new(dispatcher: Arc<Dispatcher>, disclosures: Disclosures) -> Arc<Self> {
        Arc::new(Self::of(dispatcher, disclosures, None))
    }

    /// An exchange that keeps results which are too large for a model.
    pub fn keeping(
        results: Arc<ResultKeeper>,
        dispatcher: Arc<Dispatcher>,
        disclosures: Disclosures,
    ) -> Arc<Self> {
        Arc::new(Self::of(dispatcher, disclosures, Some(results)))
    }

    fn of(
        dispatcher: Arc<Dispatcher>,
        disclosures: Disclosures,
        results: Option<Arc<ResultKeeper>>,
    ) -> Self {
        Self {
            dispatcher,
            disclosures,
            surfaces: Arc::default(),
            clients: ArcSwap::default(),
            agents: ArcSwap::default(),
            results,
        }
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
        self.disclosures.audience(scope, disclosure)
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
        self.agents.load().audience(agent, disclosure)
    }

    /// The audience as it is since the last reload, which may have changed its agent, or the
    /// disclosure for whoever names none. `None` if the agent is gone.
    fn current(&self, audience: &Audience) -> Option<Audience> {
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
        let audience = self.current(audience)?;
        let pinned = self.dispatcher.pin_for(principal, audience.client());
        let shows_used = audience.disclosure().shows_used();
        let pinned = if shows_used { pinned.with_used() } else { pinned };
        let pinned = match audience.registering() {
            Some(registered) => pinned.with_registered(registered.names()),
            None => pinned,
        };
        let pinned = match audience.scope() {
            Scope::Everything => pinned,
            Scope::Source(domain) => pinned.within(domain)?,
        };
        let results = self.results.clone();
        Some(Turn::new(self.surfaces.clone(), audience, pinned, results))
    }

    /// Reads which tools a principal used most, if the audience is shown them and it is the first
    /// time of the day. Turns do without what was not read.
    pub async fn recall_used(&self, audience: &Audience, principal: &Principal) {
        let current = self.current(audience);
        if current.is_some_and(|audience| audience.disclosure().shows_used()) {
            self.dispatcher.recall_used(principal).await;
        }
    }

    /// Begins a turn like [`Exchange::turn`], after [`Exchange::recall_used`]. A turn about one
    /// unknown source waits until the source was asked, because its client has nothing else to see.
    pub async fn informed_turn(
        &self,
        audience: &Audience,
        principal: Arc<Principal>,
    ) -> Option<Turn> {
        self.recall_used(audience, &principal).await;
        let turn = self.turn(audience, principal.clone())?;
        let Scope::Source(domain) = audience.scope() else {
            return Some(turn);
        };
        if turn.pinned().knows(domain) {
            return Some(turn);
        }
        if let Err(error) = turn.pinned().learn(domain).await {
            tracing::debug!(%domain, %error, "a source could not be asked what it offers");
        }
        self.turn(audience, principal)
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
