//! Sign-ins at sources: whose they are, where they are kept, and what they give to calls.

mod client_sent;
mod links;
mod presented;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{Clock, Domain, UpstreamIdentity};
use gatefold_dispatch::{
    CredentialError, CredentialRefusal, CredentialSet, Credentials, IdentityScope, SignInLink,
};
use gatefold_egress::{Egress, Reach};
use gatefold_identity::{GrantPlace, Grants as _};
use gatefold_mcp::answer_to_stranger;
use gatefold_oauth::{
    Accounts, BearerChallenge, Grant, KeptGrant, SignIn, SignInError, SignInNeed, SignInOptions,
    SiteSettings,
};
use gatefold_store::GrantTable;
use http::StatusCode;
use tokio::time::Instant;

pub use self::client_sent::AwaitedOfClients;
pub(super) use self::client_sent::ClientSent;
use self::links::SignInLinks;
pub(super) use self::presented::PresentedTokens;
use crate::config::kinds::KindSection;
use crate::config::{ServerConfig, SourceConfig};

/// Why nobody can sign in at a source, and what to do.
#[derive(Debug, Clone)]
pub struct SignInFault {
    pub what: String,
    pub fix: Option<String>,
}

impl fmt::Display for SignInFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wants a sign-in, and none can be had: {}", self.what)
    }
}

/// The sign-ins of one gateway.
#[derive(Clone)]
pub struct SourceAccounts {
    grants: GrantTable,
    accounts: Accounts,
    links: Arc<SignInLinks>,
    clock: Arc<dyn Clock>,
}

impl SourceAccounts {
    pub(super) fn new(grants: GrantTable, clock: Arc<dyn Clock>) -> Result<Self, SignInError> {
        let accounts = Accounts::new(Arc::new(grants.clone()), clock.clone())?;
        Ok(Self { grants, accounts, links: Arc::default(), clock })
    }

    /// The table in which sign-ins are kept.
    pub fn grants(&self) -> &GrantTable {
        &self.grants
    }

    pub fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }

    /// Offers links to sign in at to clients whose users sit at this machine. Only for a gateway that
    /// nobody else reaches.
    pub fn offer_links(&self) {
        self.links.offer();
    }

    /// The sign-in that is kept for a place.
    pub async fn kept(&self, place: &GrantPlace) -> Result<Option<KeptGrant>, SignInError> {
        KeptGrant::read(&self.grants, place).await.map_err(SignInError::Store)
    }

    /// Keeps a sign-in, instead of the one before.
    pub async fn keep(&self, place: &GrantPlace, grant: &Grant) -> Result<(), SignInError> {
        let written = self.grants.write(place, &grant.to_text(), None).await;
        written.map(drop).map_err(SignInError::Store)
    }

    /// Begins a sign-in. None if the source answers without one.
    pub async fn begin(
        &self,
        site: &SiteSettings,
        place: &GrantPlace,
        deadline: Instant,
    ) -> Result<Option<SignIn>, SignInError> {
        let earlier = self.kept(place).await.unwrap_or_else(|error| {
            // A new sign-in replaces what cannot be read.
            tracing::warn!(%error, "the last sign-in could not be read");
            None
        });
        let options = SignInOptions {
            earlier: earlier.map(|kept| kept.grant),
            ..site.sign_in_options(self.clock.clone())
        };
        if options.known.is_some() {
            return SignIn::begin(options, deadline).await.map(Some);
        }
        let answer = answer_to_stranger(&site.client, &site.url, deadline).await;
        let (status, headers) =
            answer.map_err(|source| SignInError::Unreachable { what: "server", source })?;
        let wants_one = status == StatusCode::UNAUTHORIZED;
        // A server may be open to strangers for a part of what it does.
        let challenge = wants_one.then(|| BearerChallenge::of(&headers).unwrap_or_default());
        match SignIn::begin(SignInOptions { challenge, ..options }, deadline).await {
            Err(SignInError::NoServer { .. }) if status.is_success() => Ok(None),
            begun => begun.map(Some),
        }
    }

    /// Why no person can sign in at a source that asks for it, as far as it and its provider say so
    /// before anybody tries.
    pub(super) async fn fault(
        &self,
        site: &SiteSettings,
        domain: &Domain,
        deadline: Instant,
    ) -> Option<SignInFault> {
        if site.sign_in == SignInNeed::Machine || site.exchange.is_some() {
            return None;
        }
        let identity = UpstreamIdentity::Shared;
        let place = GrantPlace { domain: domain.clone(), identity };
        let error = match self.begin(site, &place, deadline).await {
            Ok(sign_in) => sign_in?.check_client().err()?,
            Err(error) => error,
        };
        Some(SignInFault { what: error.to_string(), fix: error.hint().map(Cow::into_owned) })
    }

    /// Sets the sources whose users may sign in.
    pub(super) fn set_sources(
        &self,
        configs: &[SourceConfig],
        server: &ServerConfig,
        egress: &Egress,
    ) {
        self.accounts.set_sites(configs.iter().filter_map(|config| site(config, server, egress)));
    }

    /// Where callers' tokens are exchanged for those of sources.
    pub(super) fn presented_tokens(&self) -> PresentedTokens {
        PresentedTokens::new(self.accounts.clone())
    }

    /// What the sign-ins give, after what `first` gives and what clients send.
    pub(super) fn after(
        &self,
        first: Arc<dyn Credentials>,
        sent: Arc<ClientSent>,
    ) -> Arc<dyn Credentials> {
        Arc::new(LayeredCredentials { first, sent, own: self.clone() })
    }
}

/// A source whose users may sign in, if it is one.
pub(super) fn site(
    config: &SourceConfig,
    server: &ServerConfig,
    egress: &Egress,
) -> Option<(Domain, SiteSettings)> {
    let settings = config.section.usable().and_then(KindSection::sign_in)?;
    let exchange = settings.exchange.map(|keys| keys.of(server));
    let url = settings.url.parse().ok()?;
    let exchangers = exchange.iter().flat_map(|own| &own.exchangers).map(|own| &own.provider);
    let urls = [&settings.url].into_iter().chain(&settings.provider_urls).chain(exchangers);
    let urls = urls.map(String::as_str);
    let reach = Reach::for_source(urls, settings.private.0.clone());
    let site = SiteSettings {
        name: config.origin.key.clone(),
        url,
        client: egress.client_for(reach),
        oauth: settings.client,
        known: settings.known,
        scope: settings.scope,
        sign_in: settings.need,
        exchange,
    };
    Some((config.domain.clone(), site))
}

/// Credentials of an embedder, then of clients, and ours for the sources that both leave alone.
struct LayeredCredentials {
    first: Arc<dyn Credentials>,
    sent: Arc<ClientSent>,
    own: SourceAccounts,
}

impl LayeredCredentials {
    fn of(&self, domain: &Domain) -> &dyn Credentials {
        self.others(domain).unwrap_or(&self.own.accounts)
    }

    /// Who gives a source's credentials, if that is not us.
    fn others(&self, domain: &Domain) -> Option<&dyn Credentials> {
        let others: [&dyn Credentials; 2] = [&*self.first, &*self.sent];
        others.into_iter().find(|port| port.scope(domain).is_some())
    }
}

impl Credentials for LayeredCredentials {
    fn scope(&self, domain: &Domain) -> Option<IdentityScope> {
        self.of(domain).scope(domain)
    }

    fn at_hand(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<CredentialSet> {
        self.of(domain).at_hand(domain, identity)
    }

    fn sign_in(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<u64> {
        self.of(domain).sign_in(domain, identity)
    }

    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        self.of(domain).obtain(domain, identity)
    }

    fn refused<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        self.of(domain).refused(domain, identity, refusal)
    }

    fn sign_in_link<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<SignInLink, CredentialError>> {
        if let Some(port) = self.others(domain) {
            return port.sign_in_link(domain, identity);
        }
        async move {
            let site = self.own.accounts.site(domain, identity);
            let site = site.filter(|(site, _)| site.exchange.is_none());
            let (site, place) =
                site.ok_or_else(|| CredentialError::new("nobody signs in to it"))?;
            self.own.links.link(&self.own, &site, &place).await
        }
        .boxed()
    }
}
