//! Credentials of sources that clients send themselves.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::{Digest, Domain, Secret, UserId};

/// A source's own credential, as a client sent it with a request. Two that say the same for the same
/// user are equal.
#[derive(Debug)]
pub struct ClientCredential {
    pub user: UserId,
    /// The digest of the value.
    pub digest: Digest,
    pub value: Secret,
}

impl PartialEq for ClientCredential {
    fn eq(&self, other: &Self) -> bool {
        (&self.user, self.digest) == (&other.user, other.digest)
    }
}

impl Eq for ClientCredential {}

impl Hash for ClientCredential {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.user, self.digest).hash(state);
    }
}

/// What came with one request: at most one credential for each source, in the order of their domains.
/// Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ClientCredentials(Option<Arc<[(Domain, Arc<ClientCredential>)]>>);

impl ClientCredentials {
    /// None. It allocates nothing.
    pub const fn none() -> Self {
        Self(None)
    }

    pub fn of(&self, domain: &Domain) -> Option<&Arc<ClientCredential>> {
        let own = self.as_slice();
        own.binary_search_by(|(other, _)| other.cmp(domain)).ok().map(|at| &own[at].1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn as_slice(&self) -> &[(Domain, Arc<ClientCredential>)] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl FromIterator<(Domain, ClientCredential)> for ClientCredentials {
    fn from_iter<I: IntoIterator<Item = (Domain, ClientCredential)>>(all: I) -> Self {
        let all = all.into_iter().map(|(domain, own)| (domain, Arc::new(own)));
        let mut all: Vec<_> = all.collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(one, _), (other, _)| one == other);
        Self((!all.is_empty()).then(|| all.into()))
    }
}
