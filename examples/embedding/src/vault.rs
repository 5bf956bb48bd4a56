//! Credentials for upstreams: a token for each source that the vault is responsible for.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{Domain, Secret, UpstreamIdentity};
use gatefold_dispatch::{Credential, CredentialError, CredentialSet, Credentials, IdentityScope};

/// The tokens of sources. One that refreshes tokens would return `None` from `at_hand` once a token
/// is old, and obtain another in `obtain`.
#[derive(Default)]
pub struct Vault {
    /// Filled before the gateway starts, and as large as the embedder made it.
    tokens: HashMap<Domain, CredentialSet>,
}

impl Vault {
    /// The same, with the token of a source.
    #[must_use]
    pub fn with(mut self, domain: Domain, token: &str) -> Self {
        let value = Secret::new(format!("Bearer {token}"));
        let set = Arc::from([Credential { name: "authorization".to_owned(), value }]);
        self.tokens.insert(domain, set);
        self
    }
}

impl Credentials for Vault {
    /// A source of which it has nothing is left to its configuration.
    fn scope(&self, domain: &Domain) -> Option<IdentityScope> {
        self.tokens.contains_key(domain).then_some(IdentityScope::Shared)
    }

    /// Gives out the same set again, so that its headers are made once and not for each request.
    fn at_hand(&self, domain: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        self.tokens.get(domain).cloned()
    }

    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let error = CredentialError::new(format!("the vault has no token of `{domain}`"));
        std::future::ready(Err(error)).boxed()
    }
}
