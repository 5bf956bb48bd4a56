use std::sync::Arc;

use arc_swap::ArcSwap;
use gatefold_catalog::address;
use gatefold_core::{ClientName, Domain, Principal};
use gatefold_dispatch::Dispatcher;

use crate::surfaces::Surfaces;
use crate::{
    Audience, ClientProfiles, Disclosures, ListDigests, ResultKeeper, Scope, Turn,
    UnknownDisclosure,
};

/// State that all turns share: the dispatcher, the disclosures, and the surfaces made so far.
pub struct Exchange {
    dispatcher: Arc<Dispatcher>,
    disclosures: Disclosures,
    surfaces: Arc<Surfaces>,
    clients: ArcSwap<ClientProfiles>,
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
        let (surfaces, clients) = (Arc::default(), ArcSwap::default());
        Self { dispatcher, disclosures, surfaces, clients, results }
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
        self.clients.load().audience(audience, client, &self.disclosures)
    }

    /// Begins a turn. `None` if the principal sees nothing of the audience's part.
    pub fn turn(&self, audience: &Audience, principal: Arc<Principal>) -> Option<Turn> {
        let pinned = self.dispatcher.pin(principal);
        let pinned = match audience.scope() {
            Scope::Everything => pinned,
            Scope::Source(domain) => pinned.within(domain)?,
        };
        let results = self.results.clone();
        Some(Turn::new(self.surfaces.clone(), audience.clone(), pinned, results))
    }

    /// Begins a turn like [`Exchange::turn`]. A turn about one unknown source waits until the
    /// source was asked, because its client has nothing else to see.
    pub async fn informed_turn(
        &self,
        audience: &Audience,
        principal: Arc<Principal>,
    ) -> Option<Turn> {
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
