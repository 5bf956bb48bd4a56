use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use gatefold_catalog::{
    Encoder, GroupRules, KindName, Manifest, RetrievalTexts, Snapshot, SourceEntry, UnlistedState,
};
use gatefold_core::{CallError, Domain, Principal, UpstreamIdentity};
use gatefold_policy::Policy;
use serde::Serialize;
use tokio::time::Instant;

use crate::catalogues::{Catalogue, Catalogues, Readers};
use crate::limits::bulkhead::Bulkhead;
use crate::limits::circuit_breaker::{BreakerState, SourceBreakers};
use crate::limits::room::{ResultPlaces, SourcePlaces};
use crate::limits::traffic::Traffic;
use crate::{DocumentCount, IdentityScope, Limits, Offer, Source, SourceStatus, TrafficReport};

/// A whole configuration: everything that a runtime is built from.
pub struct Setup {
    pub policy: Policy,
    pub limits: Limits,
    /// Whether searches learn from the calls that follow them.
    pub learns: bool,
    /// Re-scores the likeliest tools of a search.
    pub encoder: Option<Arc<dyn Encoder>>,
    /// Written so that tools are found.
    pub texts: Option<Arc<RetrievalTexts>>,
    pub sources: Vec<SourceSetup>,
    /// Those that only loops of our own have. No client is offered anything of them, and their domains are free in
    /// everything that a client sees.
    pub loop_sources: Vec<SourceSetup>,
}

/// One source and how to show it. Domains are unique within a setup.
#[derive(Clone)]
pub struct SourceSetup {
    pub source: Arc<dyn Source>,
    pub kind: KindName,
    /// The configured description, instead of the source's own.
    pub description: Option<String>,
    /// What people call the source.
    pub aliases: Vec<String>,
    pub groups: GroupRules,
    pub identity: IdentityScope,
    /// The deadline of this source's calls, instead of [`Limits::call_deadline`].
    pub call_deadline: Option<Duration>,
}

/// Who has a turn. It decides which catalogue the turn sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnHolder {
    /// Whoever comes from outside, such as a client of MCP.
    Client,
    /// A loop of our own, which has [`Setup::loop_sources`] too.
    Loop,
}

/// Snapshot, policy, sources and limits, replaced together. A call pins the one it began with.
pub struct Runtime {
    pub(crate) catalogues: Catalogues,
    pub(crate) policy: Arc<Policy>,
    pub(crate) slots: Arc<Slots>,
    /// The sources that may offer different things to different users.
    personal: Vec<Arc<Slot>>,
    /// The sources that only loops have.
    of_loops: Vec<Arc<Slot>>,
    pub(crate) limits: Limits,
    places: Arc<ResultPlaces>,
    /// The places of answers that come from no source, such as lists.
    pub(crate) answers: SourcePlaces,
    pub(crate) learns: bool,
}

pub(crate) type Slots = BTreeMap<Domain, Arc<Slot>>;

/// A source with its bulkhead and its circuit breakers, which survive reloads that do not change the
/// source.
pub(crate) struct Slot {
    pub(crate) setup: SourceSetup,
    is_of_loops: bool,
    pub(crate) bulkhead: Arc<Bulkhead>,
    pub(crate) breakers: Arc<SourceBreakers>,
    pub(crate) places: SourcePlaces,
    pub(crate) traffic: Arc<Traffic>,
    /// When a turn first asked for the source's first list.
    pub(crate) first_asked: OnceLock<Instant>,
    /// How to sign in, if its list could last not be had for want of that.
    sign_in: Arc<Mutex<Option<String>>>,
}

impl Slot {
    /// Notes whether the source waits for somebody to sign in.
    pub(crate) fn note_sign_in(&self, listed: &Result<(), CallError>) {
        *self.sign_in.lock().unwrap_or_else(PoisonError::into_inner) = match listed {
            Err(CallError::NeedsSignIn { reason, .. }) => Some(reason.clone()),
            _ => None,
        };
    }

    /// What callers are told of its failure. Its status has the reason, with paths and addresses, for people.
    pub(crate) fn failure(&self) -> UnlistedState {
        let sign_in = self.sign_in.lock().unwrap_or_else(PoisonError::into_inner).clone();
        sign_in.map_or(UnlistedState::Failed, UnlistedState::NeedsSignIn)
    }

    pub(crate) fn is_personal(&self) -> bool {
        self.setup.identity != IdentityScope::Shared
    }

    /// Whether only a client can send the credential that the principal lacks here.
    pub(crate) fn awaits_client(&self, principal: &Principal) -> bool {
        let domain = self.setup.source.domain();
        self.setup.identity == IdentityScope::Client && principal.sent.of(domain).is_none()
    }

    pub(crate) fn identity(&self, principal: &Principal) -> UpstreamIdentity {
        match self.setup.identity {
            IdentityScope::Shared => UpstreamIdentity::Shared,
            IdentityScope::PerUser => UpstreamIdentity::User(principal.user.clone()),
            IdentityScope::Client => match principal.sent.of(self.setup.source.domain()) {
                Some(credential) => UpstreamIdentity::Client(credential.clone()),
                None => UpstreamIdentity::User(principal.user.clone()),
            },
        }
    }
}

/// One source's state, for people and probes.
#[derive(Debug, Clone, Serialize)]
pub struct SourceReport {
    pub domain: Domain,
    #[serde(flatten)]
    pub status: SourceStatus,
    /// The last few lines that it wrote to its standard error before it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last_lines: Vec<String>,
    pub breaker: BreakerState,
    pub tools: usize,
    pub prompts: usize,
    /// Listed resources and resource templates.
    pub resources: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<DocumentCount>,
    /// Definitions that were repaired or left out, and other notes, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alterations: Vec<String>,
    pub calls_in_flight: usize,
    pub calls_waiting: usize,
    pub traffic: TrafficReport,
}

impl Runtime {
    /// A runtime before anything is configured.
    pub(crate) fn empty() -> Self {
        let places = Arc::new(ResultPlaces::new(&Limits::default()));
        Self {
            catalogues: Catalogues::new(Snapshot::build(Vec::new(), 0)),
            policy: Arc::default(),
            slots: Arc::default(),
            personal: Vec::new(),
            of_loops: Vec::new(),
            limits: Limits::default(),
            answers: places.for_source(),
            places,
            learns: false,
        }
    }

    /// The next runtime for a new setup. Sources that stay keep their slots.
    pub(crate) fn next(&self, setup: Setup) -> Self {
        let limits = setup.limits;
        let keeps_limits = limits == self.limits;
        let (places, answers) = if keeps_limits {
            (self.places.clone(), self.answers.clone())
        } else {
            let places = Arc::new(ResultPlaces::new(&limits));
            (places.clone(), places.for_source())
        };
        let everybodys = setup.sources.into_iter().map(|source| (source, false));
        let of_loops = setup.loop_sources.into_iter().map(|source| (source, true));
        // Where a domain is there twice, the one for everybody counts.
        let slots = of_loops.chain(everybodys).map(|(source, is_of_loops)| {
            let domain = source.source.domain().clone();
            let same = self.slots.get(&domain);
            let same = same.filter(|old| Arc::ptr_eq(&old.setup.source, &source.source));
            let traffic = same.map(|old| old.traffic.clone()).unwrap_or_default();
            let first_asked = same.map(|old| old.first_asked.clone()).unwrap_or_default();
            let sign_in = same.map(|old| old.sign_in.clone()).unwrap_or_default();
            let old = same.filter(|_| keeps_limits);
            let (bulkhead, breakers, places) = match old {
                Some(old) => (old.bulkhead.clone(), old.breakers.clone(), old.places.clone()),
                None => (
                    Arc::new(Bulkhead::new(limits.calls_in_flight, limits.calls_waiting)),
                    Arc::new(SourceBreakers::new(limits.breaker_failures, limits.breaker_pause)),
                    places.for_source(),
                ),
            };
            (
                domain,
                Arc::new(Slot {
                    setup: source,
                    is_of_loops,
                    bulkhead,
                    breakers,
                    places,
                    traffic,
                    first_asked,
                    sign_in,
                }),
            )
        });
        let slots = Arc::new(slots.collect::<Slots>());
        Self {
            catalogues: Catalogues::new(
                next_snapshot(&slots, self.snapshot(), setup.encoder.as_ref())
                    .with_texts(setup.texts),
            ),
            policy: Arc::new(setup.policy),
            personal: slots.values().filter(|slot| slot.is_personal()).cloned().collect(),
            of_loops: slots.values().filter(|slot| slot.is_of_loops).cloned().collect(),
            slots,
            limits,
            places,
            answers,
            learns: setup.learns,
        }
    }

    /// The next runtime for the same setup, if a source now offers something else.
    pub(crate) fn renewed(&self) -> Option<Self> {
        self.is_stale().then(|| Self {
            catalogues: Catalogues::new(next_snapshot(
                &self.slots,
                self.snapshot(),
                self.snapshot().encoder(),
            )),
            policy: self.policy.clone(),
            slots: self.slots.clone(),
            personal: self.personal.clone(),
            of_loops: self.of_loops.clone(),
            limits: self.limits,
            places: self.places.clone(),
            answers: self.answers.clone(),
            learns: self.learns,
        })
    }

    fn is_stale(&self) -> bool {
        let digest = |manifest: &Arc<Manifest>| manifest.digest();
        self.snapshot().domains().iter().any(|entry| {
            let slot = self.slots.get(entry.domain());
            let offered = slot.and_then(|slot| {
                let manifests = slot.setup.source.manifests();
                manifests.borrow().as_ref().map(digest)
            });
            offered != entry.manifest().map(digest)
        })
    }

    /// What everybody is offered.
    pub(crate) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.catalogues.shared.snapshot
    }

    /// Whether any source may offer different things to different users.
    pub(crate) fn is_personal(&self) -> bool {
        !self.personal.is_empty()
    }

    /// The catalogue for a principal, and the sources that were never asked what they offer this
    /// principal.
    pub(crate) fn catalogue(
        &self,
        principal: &Principal,
        holder: TurnHolder,
    ) -> (Arc<Catalogue>, Vec<&Arc<Slot>>) {
        let (mut own, mut unasked) = (Vec::new(), Vec::new());
        for slot in &self.personal {
            let source = &slot.setup.source;
            match source.offer(&slot.identity(principal)) {
                Offer::Own(manifest) if self.shares(source.domain(), &manifest) => {}
                Offer::Own(manifest) => own.push((source.domain().clone(), manifest)),
                Offer::Unasked => unasked.push(slot),
                Offer::Shared => {}
            }
        }
        let readers = if own.is_empty() { Readers::All } else { Readers::Few };
        own.extend(self.offers_of_loops(holder));
        own.sort_by(|(one, _), (other, _)| one.cmp(other));
        let catalogue = self.catalogues.of(&own, readers, || self.own_snapshot(&own));
        (catalogue, unasked)
    }

    /// What everybody is offered in such a turn: for those who configure.
    pub(crate) fn snapshot_of(&self, holder: TurnHolder) -> Arc<Snapshot> {
        let own: Vec<_> = self.offers_of_loops(holder).collect();
        self.catalogues.of(&own, Readers::All, || self.own_snapshot(&own)).snapshot.clone()
    }

    /// What a loop is offered beside what everybody is.
    fn offers_of_loops(&self, holder: TurnHolder) -> impl Iterator<Item = (Domain, Arc<Manifest>)> {
        let slots = self.of_loops.iter().filter(move |_| holder == TurnHolder::Loop);
        slots.filter_map(|slot| {
            let source = &slot.setup.source;
            let manifest = source.manifests().borrow().clone()?;
            Some((source.domain().clone(), manifest))
        })
    }

    /// Whether this manifest is the one that everybody is offered.
    fn shares(&self, domain: &Domain, manifest: &Manifest) -> bool {
        let mut domains = self.snapshot().domains().iter();
        let shared = domains.find(|entry| entry.domain() == domain);
        let shared = shared.and_then(|entry| entry.manifest());
        shared.is_some_and(|shared| shared.digest() == manifest.digest())
    }

    /// The shared snapshot with some manifests replaced, or added where only loops have the source. It has the
    /// same epoch.
    fn own_snapshot(&self, own: &[(Domain, Arc<Manifest>)]) -> Snapshot {
        let shared = self.snapshot();
        let is_own = |domain: &Domain| own.iter().any(|(other, _)| other == domain);
        let slots = self.slots.values();
        let slots = slots.filter(|slot| !slot.is_of_loops || is_own(slot.setup.source.domain()));
        let entries = slots.map(|slot| {
            let domain = slot.setup.source.domain();
            let other = own.iter().find(|(other, _)| other == domain);
            // What the shared snapshot has, even if the source has changed by now.
            let known = || shared.domains().iter().find(|entry| entry.domain() == domain);
            let manifest = other.map(|(_, manifest)| manifest);
            let manifest = manifest.or_else(|| known()?.manifest());
            entry(slot, manifest.cloned())
        });
        Snapshot::build_after(shared, entries.collect(), shared.epoch()).with_encoder_of(shared)
    }

    /// The deadline of a call to a domain's source.
    pub(crate) fn call_deadline(&self, domain: Option<&Domain>) -> Duration {
        let slot = domain.and_then(|domain| self.slots.get(domain));
        slot.and_then(|slot| slot.setup.call_deadline).unwrap_or(self.limits.call_deadline)
    }

    pub(crate) fn reports(&self) -> Vec<SourceReport> {
        self.slots.values().map(|slot| report(slot)).collect()
    }
}

fn report(slot: &Slot) -> SourceReport {
    let source = &slot.setup.source;
    let manifest = source.manifests().borrow().clone();
    let manifest = manifest.as_deref();
    SourceReport {
        domain: source.domain().clone(),
        status: source.status(),
        last_lines: source.last_lines(),
        breaker: slot.breakers.state(),
        tools: manifest.map_or(0, |m| m.tools().len()),
        prompts: manifest.map_or(0, |m| m.prompts().len()),
        resources: manifest.map_or(0, |m| m.resources().len() + m.templates().len()),
        documents: source.documents(),
        alterations: manifest
            .map(|m| m.alterations().iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        calls_in_flight: slot.bulkhead.in_flight(),
        calls_waiting: slot.bulkhead.waiting(),
        traffic: slot.traffic.report(),
    }
}

fn entry(slot: &Slot, manifest: Option<Arc<Manifest>>) -> SourceEntry {
    SourceEntry {
        domain: slot.setup.source.domain().clone(),
        kind: slot.setup.kind,
        description: slot.setup.description.clone(),
        aliases: slot.setup.aliases.clone(),
        groups: slot.setup.groups.clone(),
        manifest,
    }
}

fn next_snapshot(
    slots: &Slots,
    previous: &Snapshot,
    encoder: Option<&Arc<dyn Encoder>>,
) -> Snapshot {
    let everybodys = slots.values().filter(|slot| !slot.is_of_loops);
    let entries =
        everybodys.map(|slot| entry(slot, slot.setup.source.manifests().borrow().clone()));
    let snapshot = Snapshot::build_after(previous, entries.collect(), previous.epoch() + 1);
    match encoder {
        Some(encoder) => snapshot.with_encoder(Arc::clone(encoder)),
        None => snapshot,
    }
}
