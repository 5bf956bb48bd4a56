use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Client;
use rustls::ClientConfig;

use crate::client::ClientSetup;
use crate::connector::GuardedConnector;
use crate::proxy::proxied_client;
use crate::resolve::SystemResolver;
use crate::tls::Trust;
use crate::{EgressError, HttpClient, Identity, Reach, Resolver, Settings};

/// Makes clients. Clones share everything.
///
/// Each source gets a client of its own, with its own reach and connections.
#[derive(Clone)]
pub struct Egress {
    settings: Arc<Settings>,
    resolver: Arc<dyn Resolver>,
    proxies: Arc<Matcher>,
    detour: Option<SocketAddr>,
    trust: Arc<Trust>,
    tls: Arc<ClientConfig>,
    /// For requests through the proxies of the environment.
    proxied: Client,
}

impl Egress {
    /// Without CA certificates on the machine, everything works except HTTPS.
    pub fn new(settings: Settings) -> Result<Self, EgressError> {
        let trust = Trust::of_machine();
        let tls = trust.config(None);
        let proxied = proxied_client(&settings, tls.clone())?;
        Ok(Self {
            settings: Arc::new(settings),
            resolver: Arc::new(SystemResolver),
            proxies: Arc::new(Matcher::from_system()),
            detour: None,
            trust: Arc::new(trust),
            tls: Arc::new(tls),
            proxied,
        })
    }

    /// The same, but names are looked up elsewhere.
    #[must_use]
    pub fn with_resolver(mut self, resolver: impl Resolver) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// The same, ignoring the environment's proxies.
    #[must_use]
    pub fn without_proxies(mut self) -> Self {
        self.proxies = Arc::new(Matcher::builder().build());
        self
    }

    /// The same, but every connection that is admitted goes to one place: for tests, which have no
    /// machine at the addresses that they are about.
    #[doc(hidden)]
    #[must_use]
    pub fn with_detour(mut self, to: SocketAddr) -> Self {
        self.detour = Some(to);
        self
    }

    /// Whether the machine has CA certificates. Without any, every request over HTTPS fails.
    pub fn has_roots(&self) -> bool {
        self.trust.has_roots()
    }

    /// A client for one source.
    pub fn client_for(&self, reach: Reach) -> HttpClient {
        self.client(reach, self.tls.clone(), self.proxied.clone())
    }

    /// A client for one source that shows its servers a certificate if they ask for one. Across
    /// origins, redirects are followed without it.
    pub fn client_as(&self, identity: &Identity, reach: Reach) -> HttpClient {
        let tls = self.trust.config(Some(identity));
        let proxied = proxied_client(&self.settings, tls.clone());
        let proxied = proxied.expect("one with the same settings was made before");
        let anonymous = self.client_for(reach.clone());
        self.client(reach, Arc::new(tls), proxied).with_anonymous(anonymous)
    }

    fn client(&self, reach: Reach, tls: Arc<ClientConfig>, proxied: Client) -> HttpClient {
        let connector = GuardedConnector {
            reach: Arc::new(reach),
            resolver: self.resolver.clone(),
            tls,
            limit: self.settings.connect_timeout,
            detour: self.detour,
        };
        HttpClient::new(ClientSetup {
            connector,
            proxied,
            proxies: self.proxies.clone(),
            settings: &self.settings,
            has_roots: self.has_roots(),
        })
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("settings", &self.settings).finish_non_exhaustive()
    }
}
