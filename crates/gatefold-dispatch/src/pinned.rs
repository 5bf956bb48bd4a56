use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_catalog::{PastIndex, Request, View};
use gatefold_core::{
    CallError, ClientAbilities, Domain, Operation, Outcome, Principal, Resume, Timestamp, ToolId,
    UpstreamIdentity,
};
use tokio::time::timeout;

use crate::catalogues::Catalogue;
use crate::limits::room::{ResultPlace, ResultRoom};
use crate::records::{RECORD_WAIT, digest};
use crate::runtime::{Runtime, Slot};
use crate::{Caller, Counters, Discovery, DiscoveryRecord, Dispatcher, Offer, TurnHolder};

/// One principal's turn on one runtime, which a reload in the meantime does not affect.
#[derive(Clone)]
pub struct PinnedTurn {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) principal: Arc<Principal>,
    /// What the client can be asked, if it is one that sources may list other tools to.
    pub(crate) client: Option<ClientAbilities>,
    pub(crate) holder: TurnHolder,
    /// The catalogue that the view is a view of.
    catalogue: Arc<Catalogue>,
    pub(crate) view: View,
    /// Wider principals on whose behalf this one acts. Nothing may be done that is not granted to
    /// them too.
    pub(crate) on_behalf_of: Vec<Arc<Principal>>,
    /// Where this turn belongs, if it is an agent's to which a call's source has delegated.
    pub(crate) delegation: Option<Arc<Delegation>>,
}

/// Where an agent's turn within a call belongs.
pub(crate) struct Delegation {
    pub(crate) within: Box<dyn DelegatingCall>,
    /// The source that delegated: the turn has nothing of it.
    pub(crate) source: Domain,
}

/// The call that all calls of an agent's turn are nested in. A turn has this and not the call itself,
/// because calls know turns and not the other way round.
pub(crate) trait DelegatingCall: Send + Sync {
    fn call_in(
        &self,
        turn: PinnedTurn,
        request: Request,
        resume: Option<Resume>,
        caller: Caller,
    ) -> BoxFuture<'_, Result<Outcome, CallError>>;
}

impl Dispatcher {
    /// Begins a turn for a principal: their view and its runtime, pinned.
    pub fn pin(self: &Arc<Self>, principal: Arc<Principal>) -> PinnedTurn {
        self.pin_for(principal, None, TurnHolder::Client)
    }

    /// The same through a client, if there is one, or for a loop of our own. A client's view has no tool that a source lists only to
    /// clients that can be asked something else.
    pub fn pin_for(
        self: &Arc<Self>,
        principal: Arc<Principal>,
        client: Option<ClientAbilities>,
        holder: TurnHolder,
    ) -> PinnedTurn {
        let runtime = self.runtime();
        let (catalogue, unasked) = runtime.catalogue(&principal, holder);
        let may_show =
            |slot: &Slot| runtime.policy.may_show(&principal, slot.setup.source.domain());
        for slot in unasked.into_iter().filter(|slot| may_show(slot)) {
            self.first_lists.ask(&slot.setup.source, &slot.identity(&principal));
        }
        let view = catalogue.view(&runtime.policy, &principal, [], client);
        let view = view.with_unlisted(runtime.unlisted());
        let dispatcher = self.clone();
        let on_behalf_of = Vec::new();
        PinnedTurn {
            dispatcher,
            runtime,
            principal,
            client,
            holder,
            catalogue,
            view,
            on_behalf_of,
            delegation: None,
        }
    }
}

impl PinnedTurn {
    /// What the principal sees.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The part of this turn's view that a narrower principal for the same user sees, on behalf of
    /// all of these.
    pub(crate) fn view_of(&self, principal: &Principal, on_behalf_of: &[Arc<Principal>]) -> View {
        let policy = &self.runtime.policy;
        let view = self.catalogue.view(policy, principal, on_behalf_of, self.client);
        view.covered_by(&self.view).beside(&self.view)
    }

    /// The turn of an agent within a call, with the view that its own rules leave of what such a turn is offered.
    pub(crate) fn under(self, delegation: Arc<Delegation>) -> Self {
        let policy = &self.runtime.policy;
        let (catalogue, _) = self.runtime.catalogue(&self.principal, self.holder);
        let view = catalogue.view(policy, &self.principal, &self.on_behalf_of, self.client);
        let view = view.with_unlisted(self.runtime.unlisted()).without(&delegation.source);
        Self { catalogue, view, delegation: Some(delegation), ..self }
    }

    /// The same turn, restricted to one domain. `None` if the principal sees no such domain.
    pub fn within(&self, domain: &Domain) -> Option<Self> {
        self.view.domain(domain.as_str())?;
        Some(Self { view: self.view.within(domain), ..self.clone() })
    }

    /// The same turn without one domain.
    #[must_use]
    pub fn without(&self, domain: &Domain) -> Self {
        Self { view: self.view.without(domain), ..self.clone() }
    }

    /// Whether only a client can send the credential that the principal lacks at a source.
    pub fn awaits_client(&self, domain: &Domain) -> bool {
        let slot = self.runtime.slots.get(domain);
        slot.is_some_and(|slot| slot.awaits_client(&self.principal))
    }

    /// Whether searches learn from the calls that follow them.
    pub fn learns(&self) -> bool {
        self.runtime.learns
    }

    /// The same turn, whose searches rank by past queries too.
    #[must_use]
    pub fn with_past(self, past: Arc<PastIndex>) -> Self {
        Self { view: self.view.with_past(past), ..self }
    }

    /// The same turn, whose view knows which tools its principal used most.
    #[must_use]
    pub fn with_used(self, used: Arc<[ToolId]>) -> Self {
        Self { view: self.view.with_used(used), ..self }
    }

    /// The same turn, in a session that has found these tools.
    #[must_use]
    pub fn with_registered(self, names: Arc<[String]>) -> Self {
        Self { view: self.view.with_registered(names), ..self }
    }

    /// Runs something that may search this turn's view. If that can take long, it runs away from
    /// the threads that serve calls.
    pub async fn searching<T: Send + 'static>(
        &self,
        search: impl FnOnce(&View) -> T + Send + 'static,
    ) -> T {
        self.dispatcher.searches.search(&self.view, search).await
    }

    /// Whether the principal may come to see anything of a source: also of one of which nothing is
    /// known yet.
    pub fn may_show(&self, domain: &Domain) -> bool {
        self.runtime.policy.may_show(&self.principal, domain)
    }

    /// Waits for room for an answer of so many bytes that comes from no source. False if there is
    /// none within the time of a call.
    pub async fn admit_answer(&self, bytes: usize, place: &ResultPlace) -> bool {
        let room = ResultRoom::new(self.runtime.answers.clone(), place.clone());
        timeout(self.runtime.limits.call_deadline, room.admit(bytes)).await.is_ok()
    }

    /// Whether the catalogue knows anything of a domain that the view shows.
    pub fn knows(&self, domain: &Domain) -> bool {
        self.view.domain(domain.as_str()).is_some_and(|entry| entry.manifest().is_some())
    }

    /// Asks a source what it offers. A later turn sees it.
    pub async fn learn(&self, domain: &Domain) -> Result<(), CallError> {
        let Some(slot) = self.runtime.slots.get(domain) else {
            return Ok(());
        };
        let source = slot.setup.source.clone();
        match slot.identity(&self.principal) {
            UpstreamIdentity::Shared => {
                let is_known = source.manifests().borrow().is_some();
                if !is_known {
                    let refreshed = source.refresh().await;
                    slot.note_sign_in(&refreshed);
                    refreshed?;
                }
            }
            identity => {
                if matches!(source.offer(&identity), Offer::Unasked) {
                    source.refresh_for(identity).await?;
                }
            }
        }
        self.dispatcher.renew().await;
        Ok(())
    }

    /// Whether the principal may know of a resource.
    pub fn sees_resource(&self, uri: &str) -> bool {
        let target = self.resource(uri);
        target.is_some_and(|target| self.runtime.policy.is_visible(&self.principal, &target))
    }

    /// Undoes one subscription that [`Operation::Subscribe`] made, for a client that is gone.
    pub fn release(&self, domain: &Domain, uri: &str) {
        if let Some(slot) = self.runtime.slots.get(domain) {
            slot.setup.source.clone().release(&slot.identity(&self.principal), uri);
        }
    }

    pub fn counters(&self) -> &Counters {
        &self.dispatcher.counters
    }

    pub fn principal(&self) -> &Arc<Principal> {
        &self.principal
    }

    /// Resolves an operation, for callers that need to know its entry besides calling it.
    pub fn resolve(&self, operation: Operation) -> Request {
        self.verified(operation.into())
    }

    /// Writes the record of a meta-call that only discovered.
    pub async fn discovered(&self, discovery: Discovery<'_>, caller: &Caller) {
        let Discovery { meta_tool, arguments, result_bytes, is_error, shown } = discovery;
        let record = DiscoveryRecord {
            at: self.now(),
            principal: self.principal.clone(),
            client: caller.meta.client.clone(),
            meta_tool: meta_tool.to_owned(),
            arguments_digest: digest(arguments.get().as_bytes()),
            result_bytes,
            is_error,
            shown,
        };
        self.dispatcher.counters.count(if is_error { "discovery_error" } else { "discovery" });
        let kept = timeout(RECORD_WAIT, self.dispatcher.ports.audit.discover(record)).await;
        if kept.is_err() {
            tracing::warn!(meta_tool, "the record of a discovery was not kept in time");
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.dispatcher.ports.clock.now()
    }
}
