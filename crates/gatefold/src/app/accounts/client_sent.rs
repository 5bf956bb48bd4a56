//! Credentials that clients send themselves, each in the header that its source's configuration
//! names.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use futures::future::{BoxFuture, ready};
use gatefold_core::{
    CallError, ClientCredential, ClientCredentials, Digest, Domain, Principal, RecentMap, Secret,
    UpstreamIdentity, UserId,
};
use gatefold_dispatch::{
    Credential, CredentialError, CredentialRefusal, CredentialSet, Credentials, IdentityScope,
    RefusalCause, SealKey,
};
use gatefold_http::{Authenticated, Authenticator, Unauthenticated};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName, StatusCode};
use sha2::{Digest as _, Sha256};

use crate::app::ConnectOutcome;
use crate::config::SourceConfig;
use crate::config::kinds::KindSection;

/// What the key is derived for by which credentials are told apart.
const KEY_PURPOSE: &str = "gatefold client credentials";

/// The most credentials that are kept ready. Others are made ready again.
const READY: usize = 1024;

/// The longest credential, in bytes.
const CREDENTIAL_BYTES: usize = 8 * 1024;

/// The port for sources whose credentials clients send.
pub(in crate::app) struct ClientSent {
    /// Credentials are told apart by a digest that only this state directory can make.
    key: [u8; 32],
    /// Those of the configuration.
    sites: ArcSwap<Vec<ClientSite>>,
    /// At most [`READY`].
    ready: Mutex<RecentMap<(Domain, UpstreamIdentity), CredentialSet>>,
}

/// A source whose credentials clients send.
struct ClientSite {
    domain: Domain,
    sent: HeaderName,
    passed_on: HeaderName,
}

impl ClientSent {
    pub(in crate::app) fn new(key: &SealKey) -> Self {
        Self {
            key: key.derive(KEY_PURPOSE),
            sites: ArcSwap::default(),
            ready: Mutex::new(RecentMap::new(READY)),
        }
    }

    pub(in crate::app) fn set_sources(&self, configs: &[SourceConfig]) {
        let site = |config: &SourceConfig| {
            let headers = config.section.usable().and_then(KindSection::client_headers)?;
            let (sent, passed_on) = (headers.sent(&config.domain), headers.passed_on());
            Some(ClientSite { domain: config.domain.clone(), sent, passed_on })
        };
        self.sites.store(Arc::new(configs.iter().filter_map(site).collect()));
        // What is ready may be for other headers.
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).retain(|_| false);
    }

    /// What a request has for sources.
    fn sent(&self, headers: &HeaderMap, user: &UserId) -> Result<ClientCredentials, HeaderName> {
        let sites = self.sites.load();
        let sent = sites.iter().filter_map(|site| {
            let mut values = headers.get_all(&site.sent).iter();
            let value = values.next()?;
            let text = value.to_str().ok().map(str::trim).filter(|text| {
                !text.is_empty() && text.len() <= CREDENTIAL_BYTES && values.next().is_none()
            });
            let credential = text.map(|text| (site.domain.clone(), self.credential(user, text)));
            Some(credential.ok_or_else(|| site.sent.clone()))
        });
        sent.collect()
    }

    fn credential(&self, user: &UserId, text: &str) -> ClientCredential {
        let digest = Sha256::new().chain_update(self.key).chain_update(text).finalize();
        let digest = Digest::new(digest.into());
        ClientCredential { user: user.clone(), digest, value: Some(Secret::new(text)) }
    }

    /// Lets clients send credentials beside what the authenticator wants.
    pub(in crate::app) fn beside(
        self: &Arc<Self>,
        inner: Arc<dyn Authenticator>,
    ) -> Arc<dyn Authenticator> {
        Arc::new(WithClientCredentials { inner, sent: self.clone() })
    }

    /// The header for a source's credential.
    fn header(&self, domain: &Domain) -> Option<HeaderName> {
        let sites = self.sites.load();
        sites.iter().find(|site| site.domain == *domain).map(|site| site.sent.clone())
    }
}

impl Credentials for ClientSent {
    fn scope(&self, domain: &Domain) -> Option<IdentityScope> {
        let is_site = self.sites.load().iter().any(|site| site.domain == *domain);
        is_site.then_some(IdentityScope::Client)
    }

    fn at_hand(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<CredentialSet> {
        let UpstreamIdentity::Client(credential) = identity else {
            return None;
        };
        let sites = self.sites.load();
        let site = sites.iter().find(|site| site.domain == *domain)?;
        let key = (domain.clone(), identity.clone());
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = ready.get(&key) {
            return Some(set.clone());
        }
        let value = passed_on(&site.passed_on, credential.value.as_ref()?);
        let name = site.passed_on.as_str().to_owned();
        let set = CredentialSet::from([Credential { name, value }]);
        ready.insert(key, set.clone());
        Some(set)
    }

    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let obtained = self.at_hand(domain, identity).ok_or_else(|| match self.header(domain) {
            None => CredentialError::new("clients do not send its credentials any more"),
            // A source that is open to strangers would do as one of them what its caller never asked for.
            Some(header) => CredentialError::needs_sign_in(format!(
                "wants a credential of its own, which the client has to send in the header `{header}`"
            )),
        });
        Box::pin(ready(obtained))
    }

    fn refused<'a>(
        &'a self,
        domain: &'a Domain,
        _: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let header = self.header(domain);
        let header = header.as_ref().map_or("that it names", HeaderName::as_str);
        let error = match refusal.cause {
            RefusalCause::Forbidden => {
                CredentialError::new(format!("the credential in `{header}` may not do that there"))
            }
            RefusalCause::Unknown => CredentialError::needs_sign_in(format!(
                "does not accept the credential that the client sends in the header `{header}`"
            )),
        };
        Box::pin(ready(Err(error)))
    }
}

impl ConnectOutcome {
    /// What clients have to send, if that alone is missing. Nobody else can say what such a source
    /// offers.
    pub fn awaited_of_clients(&self) -> Option<AwaitedOfClients> {
        if !matches!(self.result, Err(CallError::NeedsSignIn { .. })) {
            return None;
        }
        let section = self.source.section.usable()?;
        if let Some(headers) = section.client_headers() {
            return Some(AwaitedOfClients::Header(headers.sent(&self.source.domain)));
        }
        section.sign_in()?.exchange.is_some().then_some(AwaitedOfClients::Token)
    }
}

/// What a source asks of the clients that call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AwaitedOfClients {
    /// Its credential, in this header.
    Header(HeaderName),
    /// A token of the identity provider, which is exchanged for one of the source.
    Token,
}

impl fmt::Display for AwaitedOfClients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header(name) => write!(f, "its credential in the header `{name}`"),
            Self::Token => f.write_str("an access token of the identity provider"),
        }
    }
}

/// A credential as it goes on: a token gets the scheme that it is sent with.
fn passed_on(header: &HeaderName, value: &Secret) -> Secret {
    let has_scheme = value.expose().contains(' ');
    if *header == AUTHORIZATION && !has_scheme {
        return Secret::new(format!("Bearer {}", value.expose()));
    }
    value.clone()
}

struct WithClientCredentials {
    inner: Arc<dyn Authenticator>,
    sent: Arc<ClientSent>,
}

impl Authenticator for WithClientCredentials {
    fn authenticate<'a>(
        &'a self,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        if self.sent.sites.load().is_empty() {
            return self.inner.authenticate(request);
        }
        Box::pin(async {
            let Authenticated { principal, validity } = self.inner.authenticate(request).await?;
            let sent = self
                .sent
                .sent(&request.headers, &principal.user)
                .map_err(|header| malformed(&header))?;
            if sent.is_empty() {
                return Ok(Authenticated { principal, validity });
            }
            let sent = sent.and(&principal.sent);
            let principal = Arc::new(Principal { sent, ..Principal::clone(&principal) });
            Ok(Authenticated { principal, validity })
        })
    }

    fn is_operator(&self, principal: &Principal) -> bool {
        self.inner.is_operator(principal)
    }
}

fn malformed(header: &HeaderName) -> Unauthenticated {
    Unauthenticated {
        status: StatusCode::BAD_REQUEST,
        message: format!(
            "the header `{header}` has to be there once, with up to {CREDENTIAL_BYTES} bytes of ASCII"
        ),
        challenge: None,
    }
}
