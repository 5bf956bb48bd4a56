//! The catalogue that everybody shares, and those of identities with offers of their own.

use std::sync::Arc;

use gatefold_catalog::{Manifest, Snapshot, View};
use gatefold_core::{BoundedCache, Digest, Domain, Principal};
use gatefold_policy::{ApplicableRules, Policy};

/// The most cached views of the catalogue that everybody shares. All principals with the same rules
/// share one, so this serves any number of principals; a view of 100,000 tools takes 25 KB.
const VIEWS: usize = 1024;

/// The most cached views of a catalogue that belongs to few, whose rules differ by agent at most.
const OWN_VIEWS: usize = 8;

/// The most cached catalogues besides the shared one. Each has an index of all its tools.
const OWN_CATALOGUES: usize = 64;

/// A snapshot and its cached views.
pub(crate) struct Catalogue {
    pub(crate) snapshot: Arc<Snapshot>,
    /// Keyed by the rules that distinguish one view from another.
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
    /// Keyed by what their identities are offered, so that identities with the same offers share
    /// one.
    own: BoundedCache<Box<[IdentityOffer]>, Arc<Catalogue>>,
}

/// Marks that a source offers an identity something other than what everybody gets.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct IdentityOffer {
    pub(crate) domain: Domain,
    pub(crate) manifest: Digest,
}

impl Catalogues {
    pub(crate) fn new(shared: Snapshot) -> Self {
        Self { shared: Catalogue::new(shared, VIEWS), own: BoundedCache::new(OWN_CATALOGUES) }
    }

    /// The catalogue of identities with these offers besides the shared ones, sorted by domain.
    /// `build` makes its snapshot, unless somebody already has the same offers.
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
