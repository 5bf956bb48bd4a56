//! Who may reach the endpoint, decided once when an app is built.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use futures::future::{BoxFuture, ready};
use gatefold_core::{Clock, Principal, SystemClock};
use gatefold_egress::{Egress, EgressError, Reach, Settings};
use gatefold_http::{Authenticated, Authenticator, HttpEndpoint, Unauthenticated};
use gatefold_identity::SCOPES;
use gatefold_issuer::Issuer;
use gatefold_oauth::{IntrospectionSettings, TokenIssuers, TrustedIssuer};
use http::request::Parts;

use super::App;
use super::access::{Access, IssuerAccess, ProtectedResource};
use super::accounts::PresentedTokens;
use super::people::ConfiguredPeople;
use super::sign_in;
use super::tls::TlsError;
use crate::config::{IssuerConfig, ServerConfig};

/// Who may reach the endpoint.
pub(super) enum ClientAdmission {
    /// Whoever reaches it is the local user.
    Everybody(Arc<ConfiguredPeople>),
    Tokens(Box<Access>),
    /// Whom the embedder's own authenticator lets in.
    Embedders(Arc<dyn Authenticator>),
}

/// The address can be reached from other machines, and nothing says that strangers may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` can be reached from other machines, and nobody would have to say who they are")]
pub struct OpenAddress(pub SocketAddr);

impl ClientAdmission {
    pub(super) fn authenticator(&self) -> Arc<dyn Authenticator> {
        match self {
            Self::Everybody(people) => Arc::new(LocalUser(people.clone())),
            Self::Tokens(access) => access.gate(),
            Self::Embedders(own) => own.clone(),
        }
    }

    /// Puts the last uses of tokens on record.
    pub(super) async fn close(&self) {
        if let Self::Tokens(access) = self {
            access.note().await;
        }
    }
}

/// Takes everybody for the local user, in the groups that it is in by now.
struct LocalUser(Arc<ConfiguredPeople>);

impl Authenticator for LocalUser {
    fn authenticate<'a>(
        &'a self,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        Box::pin(ready(Ok(self.0.local().into())))
    }

    fn is_operator(&self, _: &Principal) -> bool {
        true
    }
}

/// The issuers whose tokens let people in, our own before others. None if there are none.
pub(super) fn issuers(
    server: &ServerConfig,
    egress: &Egress,
    exchanged: &Arc<PresentedTokens>,
    clock: &Arc<dyn Clock>,
    issuer: Option<Issuer>,
) -> Option<IssuerAccess> {
    let has_issuers = issuer.is_some() || !server.issuers.is_empty();
    let public_url = server.public_url.as_ref().filter(|_| has_issuers)?;
    let issuers = trusted_issuers(server, egress, clock);
    let own_scopes = issuer.iter().flat_map(|_| SCOPES);
    let resource = ProtectedResource {
        public_url: public_url.url().clone(),
        issuers: issuer
            .iter()
            .map(|own| own.public_url().as_str())
            .chain(issuers.names())
            .map(str::to_owned)
            .collect(),
        scopes: own_scopes.chain(issuers.scopes()).map(str::to_owned).collect(),
    };
    let exchanged = exchanged.clone();
    Some(IssuerAccess { issuers, exchanged, resource: Arc::new(resource), issuer })
}

fn trusted_issuers(server: &ServerConfig, egress: &Egress, clock: &Arc<dyn Clock>) -> TokenIssuers {
    let trusted = server.issuers.iter().map(|own| trusted(own, egress));
    TokenIssuers::new(trusted.collect(), clock.clone())
}

fn trusted(config: &IssuerConfig, egress: &Egress) -> TrustedIssuer {
    let introspection = config.introspection.as_ref();
    let endpoint = introspection.and_then(|own| own.endpoint.as_ref());
    let named = [config.jwks_uri.as_ref(), endpoint].into_iter().flatten();
    let named = named.cloned().chain(config.issuer.parse());
    TrustedIssuer {
        issuer: config.issuer.as_str().into(),
        audiences: config.audience.iter().cloned().collect(),
        jwks_uri: config.jwks_uri.clone(),
        introspection: introspection.map(|own| IntrospectionSettings {
            endpoint: own.endpoint.clone(),
            client_id: own.client_id.clone(),
            client_secret: own.client_secret.clone(),
        }),
        scopes: config.scopes.iter().cloned().collect(),
        groups_claim: config.groups_claim.clone(),
        client: egress.client_for(named.fold(Reach::public(), |reach, url| reach.naming(&url))),
    }
}

/// What is wrong with the issuers of a configuration: each that cannot be used, why, and what to do.
/// It asks them.
pub async fn examine_issuers(server: &ServerConfig) -> Result<Vec<IssuerFault>, EgressError> {
    let egress = Egress::new(Settings::default())?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let issuers = trusted_issuers(server, &egress, &clock);
    let mut examined = issuers.examine().await;
    let listed = examined.len();
    let provider = sign_in::openid(server, &egress, &clock);
    if let Some(provider) = &provider {
        examined.push((provider.issuer(), provider.examine().await));
    }
    let faults = examined.into_iter().enumerate().filter_map(|(index, (issuer, outcome))| {
        let error = outcome.err()?;
        // Hints are about keys that only a listed issuer has.
        let is_listed = index < listed;
        let fix = match error.hint() {
            Some(Cow::Borrowed(hint)) if is_listed => hint,
            _ => "check `issuer`, and that this machine reaches it",
        };
        let key = if is_listed { "server.issuers" } else { SIGN_IN_PROVIDER };
        Some(IssuerFault { key, issuer: issuer.to_owned(), fault: error.to_string(), fix })
    });
    Ok(faults.collect())
}

/// The key of the provider at which people sign in.
const SIGN_IN_PROVIDER: &str = "server.sign_in.provider";

/// An issuer that nobody comes in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerFault {
    /// Where the configuration has it.
    pub key: &'static str,
    pub issuer: String,
    pub fault: String,
    /// What a person can do about it.
    pub fix: &'static str,
}

impl App {
    /// What is served beside the endpoint for clients that want to come in.
    pub fn admission_routes(&self) -> Router {
        let resource = match &self.admission {
            ClientAdmission::Tokens(access) => access.resource().cloned(),
            ClientAdmission::Everybody(_) | ClientAdmission::Embedders(_) => None,
        };
        let routes = resource.map_or_else(Router::new, ProtectedResource::routes);
        let issuer = match &self.admission {
            ClientAdmission::Tokens(access) => access.issuer(),
            ClientAdmission::Everybody(_) | ClientAdmission::Embedders(_) => None,
        };
        issuer.map_or(routes.clone(), |issuer| routes.merge(issuer.router()))
    }

    /// Whether every request over HTTP needs an access token. A reload does not change it.
    pub fn requires_tokens(&self) -> bool {
        matches!(self.admission, ClientAdmission::Tokens(_))
    }

    /// Refuses an address that strangers can reach, unless somebody asks them who they are or the
    /// configuration says in so many words that nobody does.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), OpenAddress> {
        let is_open = matches!(self.admission, ClientAdmission::Everybody(_))
            && self.config().server.authentication.is_none();
        if is_open && !address.ip().to_canonical().is_loopback() {
            return Err(OpenAddress(address));
        }
        Ok(())
    }

    /// The settings of the HTTP endpoint under the configuration in force. It reads the
    /// certificate and the key that `server.tls` names.
    pub fn endpoint(&self) -> Result<HttpEndpoint, TlsError> {
        let applied = self.applied.load();
        let server = &applied.config.server;
        let mut endpoint = HttpEndpoint {
            request_body_bytes: usize::try_from(server.request_bytes).unwrap_or(usize::MAX),
            requests_bytes: usize::try_from(server.requests_bytes).unwrap_or(usize::MAX),
            body_deadline: server.body_deadline,
            connections: server.connections,
            head_deadline: server.head_deadline,
            connection_idle: server.connection_idle,
            session_idle: server.session_idle,
            drain: server.shutdown,
            tls: self.listener_tls()?,
            authenticator: self.factory.client_sent().beside(self.admission.authenticator()),
            ..HttpEndpoint::default()
        };
        endpoint.trusted_proxies.clone_from(&server.trusted_proxies);
        endpoint.allowed_hosts.extend(server.allowed_hosts.iter().cloned());
        endpoint.allowed_origins.extend(server.allowed_origins.iter().cloned());
        if let Some(url) = &server.public_url {
            endpoint.allowed_hosts.extend(url.url().host_str().map(str::to_owned));
            endpoint.allowed_origins.push(url.origin().to_owned());
        }
        Ok(endpoint)
    }
}
