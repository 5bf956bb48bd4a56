//! The catalogue that everybody shares, and those of identities with offers of their own.

use std::sync::Arc;

use gatefold_catalog::{Manifest, Snapshot, Tool, View, VisibleSet};
use gatefold_core::{BoundedCache, ClientAbilities, Digest, Domain, Principal};
use gatefold_policy::{ApplicableRules, Policy};

/// The most combinations of rules for which it is kept what they leave of the catalogue that
/// everybody shares. All principals with the same rules share one, so this serves any number of
/// principals; for 100,000 tools one takes 25 KB.
const RULES: usize = 1024;

/// The same for a catalogue that belongs to few, whose rules differ by agent at most.
const OWN_RULES: usize = 8;

/// How many tools the cached views of one catalogue may have together. Of a view that hides
/// something, each has a place in its lists and, once it was searched, in its index, some 2 KB.
const VIEWED_TOOLS: usize = 50_000;

/// The fewest views that are kept, however large they are.
const LEAST_VIEWS: usize = 8;

/// The most cached catalogues besides the shared one. Each has an index of all its tools.
const OWN_CATALOGUES: usize = 64;

/// A snapshot and its cached views.
pub(crate) struct Catalogue {
    pub(crate) snapshot: Arc<Snapshot>,
    /// The view of those from whom nothing is hidden.
    whole: View,
    /// Whether any source lists a tool only to some clients.
    tells_clients_apart: bool,
    /// What rules leave, keyed by those that distinguish one principal from another, and what sources
    /// list to a client.
    visible: BoundedCache<(ApplicableRules, Option<ClientAbilities>), VisibleSet>,
    /// The views of everybody else. Whoever sees the same shares one, whatever the rules are.
    views: BoundedCache<VisibleSet, View>,
}

impl Catalogue {
    fn new(snapshot: Snapshot, rules: usize) -> Arc<Self> {
        let snapshot = Arc::new(snapshot);
        let views = (VIEWED_TOOLS / snapshot.tools().len().max(1))
            .clamp(LEAST_VIEWS, rules.max(LEAST_VIEWS));
        let is_for_some = |tool: &Tool| !tool.definition().clients().are_everybody();
        Arc::new(Self {
            tells_clients_apart: snapshot.tools().iter().any(is_for_some),
            whole: View::whole(snapshot.clone()),
            visible: BoundedCache::new(rules),
            views: BoundedCache::new(views),
            snapshot,
        })
    }

    /// What a principal sees who acts on behalf of others, through a client if there is one: nothing
    /// that is hidden from one of them.
    pub(crate) fn view<'a>(
        &self,
        policy: &Policy,
        principal: &Principal,
        on_behalf_of: impl IntoIterator<Item = &'a Arc<Principal>>,
        client: Option<ClientAbilities>,
    ) -> View {
        let client = client.filter(|_| self.tells_clients_apart);
        let own = self.visible_to(policy, principal, client);
        let visible = on_behalf_of.into_iter().fold(own, |visible, other| {
            visible.both(&self.visible_to(policy, other, client), &self.snapshot)
        });
        if visible.is_whole() {
            return self.whole.clone();
        }
        self.views.get_or_make(&visible, || View::of(self.snapshot.clone(), visible.clone()))
    }

    fn visible_to(
        &self,
        policy: &Policy,
        principal: &Principal,
        client: Option<ClientAbilities>,
    ) -> VisibleSet {
        self.visible.get_or_make(&(policy.applicable(principal), client), || {
            VisibleSet::of_client(
                &self.snapshot,
                client,
                |target| policy.is_visible(principal, target),
                |domain| policy.may_show(principal, domain),
            )
        })
    }
}

/// All catalogues of one runtime.
pub(crate) struct Catalogues {
    pub(crate) shared: Arc<Catalogue>,
    /// Those of loops and of identities, keyed by what these are offered, so that identities with the same offers share
    /// one.
    own: BoundedCache<Box<[IdentityOffer]>, Arc<Catalogue>>,
}

/// How many may read a catalogue besides the shared one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    All,
    /// Those who share one identity.
    Few,
}

/// Marks that a source offers an identity something other than what everybody gets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdentityOffer {
    pub(crate) domain: Domain,
    pub(crate) manifest: Digest,
}

impl Catalogues {
    pub(crate) fn new(shared: Snapshot) -> Self {
        Self { shared: Catalogue::new(shared, RULES), own: BoundedCache::new(OWN_CATALOGUES) }
    }

    /// The catalogue of identities with these offers besides the shared ones, sorted by domain.
    /// `build` makes its snapshot, unless somebody already has the same offers.
    pub(crate) fn of(
        &self,
        own: &[(Domain, Arc<Manifest>)],
        readers: Readers,
        build: impl FnOnce() -> Snapshot,
    ) -> Arc<Catalogue> {
        if own.is_empty() {
            return self.shared.clone();
        }
        let key = own.iter().map(|(domain, manifest)| IdentityOffer {
            domain: domain.clone(),
            manifest: manifest.digest(),
        });
        let rules = match readers {
            Readers::All => RULES,
            Readers::Few => OWN_RULES,
        };
        self.own.get_or_make(&key.collect(), || Catalogue::new(build(), rules))
    }
}
