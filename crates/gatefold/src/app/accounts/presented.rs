//! Tokens that callers come in with, where sources' tokens come from them.

use std::sync::Arc;

use arc_swap::ArcSwap;
use gatefold_core::{ClientCredential, ClientCredentials, Digest, Domain, Secret, TokenId, UserId};
use gatefold_oauth::{Accounts, PresentedBearer, VerifiedToken};
use sha2::{Digest as _, Sha256};

use crate::config::SourceConfig;
use crate::config::kinds::KindSection;

/// Hands the tokens of issuers on to where they are exchanged.
pub(in crate::app) struct PresentedTokens {
    accounts: Accounts,
    /// The sources whose tokens come from those of the callers: those of the configuration.
    domains: ArcSwap<Vec<Domain>>,
}

impl PresentedTokens {
    pub(super) fn new(accounts: Accounts) -> Self {
        Self { accounts, domains: ArcSwap::default() }
    }

    pub(in crate::app) fn set_sources(&self, configs: &[SourceConfig]) {
        let is_exchanged = |config: &&SourceConfig| {
            let settings = config.section.usable().and_then(KindSection::sign_in);
            settings.is_some_and(|settings| settings.exchange.is_some())
        };
        let domains = configs.iter().filter(is_exchanged).map(|config| config.domain.clone());
        self.domains.store(Arc::new(domains.collect()));
    }

    /// What a caller has for sources who came in with this token.
    pub(in crate::app) fn credentials(
        &self,
        user: &UserId,
        grant: &TokenId,
        token: &VerifiedToken,
        value: &str,
    ) -> ClientCredentials {
        let domains = self.domains.load();
        if domains.is_empty() {
            return ClientCredentials::none();
        }
        let digest = told_apart(grant, token, value);
        let issuer = token.holder().issuer.clone();
        let presented = PresentedBearer { grant: digest, issuer, value: Secret::new(value) };
        self.accounts.note_presented(presented);
        let credential = || ClientCredential { user: user.clone(), digest, value: None };
        domains.iter().map(|domain| (domain.clone(), credential())).collect()
    }
}

/// What tells apart what callers may do at sources: a program renews its token and goes on, but one
/// token of it may allow less than another. A token that names no program may be any program's.
fn told_apart(grant: &TokenId, token: &VerifiedToken, value: &str) -> Digest {
    let alone = token.holder().client.is_none().then_some(value);
    let mut hash = Sha256::new();
    for part in [grant.as_str()].into_iter().chain(token.rights()).chain(alone) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    Digest::new(hash.finalize().into())
}
