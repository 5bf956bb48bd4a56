//! The catalogue that everybody shares, and those of identities that are offered something else.

use std::sync::Arc;

use gatefold_catalog::{Manifest, Snapshot, View};
use gatefold_core::{BoundedCache, Digest, Domain, Principal};
use gatefold_policy::{ApplicableRules, Policy};

/// Views kept at once of the catalogue that everybody shares. All whom the same rules are for share
/// one, so this serves any number of principals; a view of 100,000 tools takes 25 KB.
const VIEWS: usize = 1024;

/// Views kept at once of a catalogue that belongs to few: their rules differ by agent at most.
const OWN_VIEWS: usize = 8;

/// Catalogues kept at once beside the shared one. Each has an index of all its tools.
const OWN_CATALOGUES: usize = 64;

/// A snapshot and the views of it that were made so far.
pub(crate) struct Catalogue {
    pub(crate) snapshot: Arc<Snapshot>,
    /// By the rules that tell one view from another.
    views: BoundedCache<ApplicableRules, View>,
}

impl Catalogue {
    fn new(snapshot: Snapshot, views: usize) -> Arc<Self> {
        Arc::new(Self { snapshot: Arc::new(snapshot), views: BoundedCache::new(views) })
    }

    pub(crate) fn view(&self, policy: &Policy, principal: &Principal) -> View {
        self.views.get_or_make(&policy.applicable(principal), || {
            View::new(self.snapshot.clone(), |target| policy.is_visible(principal, target))
        })
    }
}

/// All catalogues of one runtime.
pub(crate) struct Catalogues {
    pub(crate) shared: Arc<Catalogue>,
    /// By what their identities are offered, so that those who are offered the same share one.
    own: BoundedCache<Box<[IdentityOffer]>, Arc<Catalogue>>,
}

/// That a source offers an identity something else than everybody.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdentityOffer {
    pub(crate) domain: Domain,
    pub(crate) manifest: Digest,
}

impl Catalogues {
    pub(crate) fn new(shared: Snapshot) -> Self {
        Self { shared: Catalogue::new(shared, VIEWS), own: BoundedCache::new(OWN_CATALOGUES) }
    }

    /// The catalogue of whoever is offered this beside what everybody is, sorted by domain. `build`
    /// makes its snapshot, if nobody is offered the same so far.
    pub(crate) fn of(
        &self,
        own: &[(Domain, Arc<Manifest>)],
        build: impl FnOnce() -> Snapshot,
    ) -> Arc<Catalogue> {
        if own.is_empty() {
            return self.shared.clone();
        }
        let key = own.iter().map(|(domain, manifest)| IdentityOffer {
            domain: domain.clone(),
            manifest: manifest.digest(),
        });
        self.own.get_or_make(&key.collect(), || Catalogue::new(build(), OWN_VIEWS))
    }
}
