//! Keeps sign-ins usable: every grant is refreshed once, however many calls and processes need it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Clock, Digest, Domain, RecentMap, Timestamp, UpstreamIdentity};
use gatefold_dispatch::{
    CredentialError, CredentialRefusal, CredentialSet, Credentials, IdentityScope, RefusalCause,
};
use gatefold_egress::HttpClient;
use gatefold_identity::{GrantPlace, Grants};
use http::HeaderMap;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use reqwest::Url;
use tokio::time::Instant;

use crate::client::ClientSettings;
use crate::provider::KnownProvider;
use crate::sign_in::SignInOptions;
use crate::{BearerChallenge, SignInError, pkce};

mod entry;
mod exchange;
mod renewal;

use self::entry::AccountEntry;
pub use self::exchange::{KnownServer, PresentedBearer, TokenExchange, TokenExchanger};
use self::renewal::{Renewal, Want};

/// The most identities whose tokens are in memory at once, over all sources.
const ENTRIES: usize = 10_000;

/// The most sources whose users may sign in.
const SITES: usize = 100_000;

/// How long a token in memory counts before somebody looks whether it still stands in the store.
/// So a sign-out in any process holds within this time in all.
const RECHECK: Duration = Duration::from_secs(1);

/// A source whose users may sign in.
#[derive(Debug, Clone)]
pub struct SiteSettings {
    /// What `gatefold login` calls it.
    pub name: String,
    pub url: Url,
    pub client: HttpClient,
    pub oauth: ClientSettings,
    /// Where its users sign in, if the source is not asked.
    pub known: Option<KnownProvider>,
    /// Whether everybody shares one sign-in.
    pub scope: IdentityScope,
    pub sign_in: SignInNeed,
    /// How its tokens come from those of the callers, if nobody signs in there.
    pub exchange: Option<TokenExchange>,
}

impl SiteSettings {
    /// What a sign-in there is begun with, before anything is known of it.
    pub fn sign_in_options(&self, clock: Arc<dyn Clock>) -> SignInOptions {
        SignInOptions {
            client: self.client.clone(),
            site: self.url.clone(),
            settings: self.oauth.clone(),
            known: self.known.clone(),
            challenge: None,
            earlier: None,
            clock,
        }
    }
}

/// Whether a source's users have to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInNeed {
    /// Only if the source asks for it.
    IfAsked,
    /// Always.
    Always,
    /// A machine signs itself in.
    Machine,
}

/// Credentials that people's sign-ins gave.
#[derive(Clone)]
pub struct Accounts {
    inner: Arc<AccountsInner>,
}

struct AccountsInner {
    grants: Arc<dyn Grants>,
    clock: Arc<dyn Clock>,
    /// This process's name as the holder of leases.
    process: String,
    /// How many leases it has asked for.
    leases: AtomicU64,
    /// Those of the configuration, at most [`SITES`].
    sites: RwLock<HashMap<Domain, Arc<SiteSettings>>>,
    /// At most [`ENTRIES`].
    entries: Mutex<HashMap<GrantPlace, Arc<AccountEntry>>>,
    /// The last token of each caller that sources' tokens come from, at most [`ENTRIES`].
    presented: Mutex<RecentMap<Digest, PresentedBearer>>,
}

impl Accounts {
    pub fn new(grants: Arc<dyn Grants>, clock: Arc<dyn Clock>) -> Result<Self, SignInError> {
        let process = pkce::random()?.expose().to_owned();
        let inner = AccountsInner {
            grants,
            clock,
            process,
            leases: AtomicU64::new(0),
            sites: RwLock::default(),
            entries: Mutex::default(),
            presented: Mutex::new(RecentMap::new(ENTRIES)),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Sets the sources whose users may sign in, instead of those before.
    pub fn set_sites(&self, sites: impl IntoIterator<Item = (Domain, SiteSettings)>) {
        let sites =
            sites.into_iter().take(SITES).map(|(domain, site)| (domain, Arc::new(site))).collect();
        *self.inner.sites.write().unwrap_or_else(PoisonError::into_inner) = sites;
        // What is in memory may be for other addresses.
        self.inner.entries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes note of the token that somebody came in with. Sources' tokens come from it until the
    /// next one of the same grant.
    pub fn note_presented(&self, token: PresentedBearer) {
        let mut presented = self.inner.presented.lock().unwrap_or_else(PoisonError::into_inner);
        presented.insert(token.grant, token);
    }

    /// A source whose users may sign in, and where an identity's sign-in there is kept.
    pub fn site(
        &self,
        domain: &Domain,
        identity: &UpstreamIdentity,
    ) -> Option<(Arc<SiteSettings>, GrantPlace)> {
        let site = self.inner.site(domain)?;
        let place = place(&site, domain, identity);
        Some((site, place))
    }

    /// Waits for a source's credentials in a task of its own: a caller that gives up must not cut
    /// off a refresh whose new token is on its way.
    async fn renewed(
        &self,
        domain: &Domain,
        identity: &UpstreamIdentity,
        want: Want,
    ) -> Result<CredentialSet, CredentialError> {
        let Some(site) = self.inner.site(domain) else {
            return Err(CredentialError::new("nobody signs in to it"));
        };
        let place = place(&site, domain, identity);
        let entry = self.inner.entry(&place);
        let inner = self.inner.clone();
        let asked_at = Instant::now();
        let task = tokio::spawn(async move {
            let _turn = entry.turn.lock().await;
            // Whoever waited while the provider was asked in vain does not ask it in their turn.
            if let Some(error) = entry.failure_since(asked_at) {
                return Err(error);
            }
            Renewal { inner: &inner, site: &site, place: &place, entry: &entry }.run(want).await
        });
        task.await
            .unwrap_or_else(|ended| Err(told(&SignInError::Store(Box::new(ended) as BoxError))))
    }
}

impl AccountsInner {
    /// A new name for the holder of one lease.
    fn holder(&self) -> String {
        format!("{}-{}", self.process, self.leases.fetch_add(1, Ordering::Relaxed))
    }

    fn site(&self, domain: &Domain) -> Option<Arc<SiteSettings>> {
        self.sites.read().unwrap_or_else(PoisonError::into_inner).get(domain).cloned()
    }

    /// The last token of a caller, if its identity comes from one.
    fn presented(&self, identity: &UpstreamIdentity) -> Option<PresentedBearer> {
        let UpstreamIdentity::Client(credential) = identity else { return None };
        let mut presented = self.presented.lock().unwrap_or_else(PoisonError::into_inner);
        presented.get(&credential.digest).cloned()
    }

    fn entry(&self, place: &GrantPlace) -> Arc<AccountEntry> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(place) {
            return entry.clone();
        }
        if entries.len() >= ENTRIES {
            // Those that somebody uses stay, and the others are read again when they are needed.
            entries.retain(|_, entry| Arc::strong_count(entry) > 1);
        }
        let entry = Arc::<AccountEntry>::default();
        if entries.len() < ENTRIES {
            entries.insert(place.clone(), entry.clone());
        }
        entry
    }
}

impl Credentials for Accounts {
    fn scope(&self, domain: &Domain) -> Option<IdentityScope> {
        self.inner.site(domain).map(|site| site.scope)
    }

    fn at_hand(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<CredentialSet> {
        let site = self.inner.site(domain)?;
        let place = place(&site, domain, identity);
        let entry = self.inner.entry(&place);
        entry.at_hand(&site, &*self.inner.clock)
    }

    fn sign_in(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<u64> {
        let site = self.inner.site(domain)?;
        let entry = self.inner.entry(&place(&site, domain, identity));
        entry.signed_in_at().map(Timestamp::as_millis)
    }

    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        Box::pin(self.renewed(domain, identity, Want::Usable))
    }

    fn refused<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let challenge = challenge(&refusal.challenges);
        let want = match refusal.cause {
            RefusalCause::Unknown => Want::Other(refusal.carried),
            RefusalCause::Forbidden => {
                let Some(challenge) = challenge.filter(BearerChallenge::wants_more_scopes) else {
                    let error = CredentialError::new("this account may not do that there");
                    return Box::pin(std::future::ready(Err(error)));
                };
                Want::Scopes(refusal.carried, challenge.scopes.unwrap_or_default())
            }
        };
        Box::pin(self.renewed(domain, identity, want))
    }
}

/// Where an identity's sign-in at a source is kept.
fn place(site: &SiteSettings, domain: &Domain, identity: &UpstreamIdentity) -> GrantPlace {
    let identity = match site.scope {
        IdentityScope::Shared => UpstreamIdentity::Shared,
        IdentityScope::PerUser | IdentityScope::Client => identity.clone(),
    };
    GrantPlace { domain: domain.clone(), identity }
}

fn challenge(texts: &[String]) -> Option<BearerChallenge> {
    let mut headers = HeaderMap::new();
    for value in texts.iter().filter_map(|text| HeaderValue::try_from(text).ok()) {
        headers.append(WWW_AUTHENTICATE, value);
    }
    BearerChallenge::of(&headers)
}

/// An error as a caller and the operator read it.
fn told(error: &SignInError) -> CredentialError {
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    CredentialError::new(format!("{error}{hint}"))
}
