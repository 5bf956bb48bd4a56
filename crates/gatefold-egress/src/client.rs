use std::sync::Arc;

use http::Method;
use reqwest::{Client, ClientBuilder, RequestBuilder, Response, Url};

use crate::redirect::redirect_policy;
use crate::resolve::Resolver;
use crate::settings::{AGENT, IDLE_TIMEOUT, KEEPALIVE};
use crate::{AddressPolicy, ConfiguredClient, EgressError, Settings, tls};

/// An HTTP client with limits. Clones share its connections.
///
/// It honours the environment's `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` only under
/// [`AddressPolicy::Any`]: behind a proxy, we could not check which address is reached.
#[derive(Debug, Clone)]
pub struct HttpClient {
    client: Client,
    configured: Option<ConfiguredClient>,
    addresses: AddressPolicy,
    has_roots: bool,
}

impl HttpClient {
    /// A client with these settings. Without CA certificates on the machine, everything works
    /// except HTTPS.
    pub fn new(settings: &Settings) -> Result<Self, EgressError> {
        let (tls, has_roots) = tls::config();
        let client = builder(settings).tls_backend_preconfigured(tls.clone()).build();
        let client = client.map_err(EgressError::Setup)?;
        let may_reach_any = settings.addresses == AddressPolicy::Any;
        let configured =
            may_reach_any.then(|| ConfiguredClient::new(settings, tls, client.clone()));
        Ok(Self { client, configured, addresses: settings.addresses, has_roots })
    }

    /// Whether the machine has CA certificates. Without any, every request over HTTPS fails.
    pub fn has_roots(&self) -> bool {
        self.has_roots
    }

    /// Sends a request and waits for the head of the answer. Any status is an answer.
    ///
    /// `build` adds what the request carries:
    ///
    /// ```no_run
    /// # async fn example(client: gatefold_egress::HttpClient, url: reqwest::Url) {
    /// let answer = client.send(http::Method::POST, url, |request| request.body("{}")).await;
    /// # }
    /// ```
    pub async fn send(
        &self,
        method: Method,
        url: Url,
        build: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, EgressError> {
        let request = build(self.client.request(method, url))
            .build()
            .map_err(|_| EgressError::Url { reason: "it or a header is malformed" })?;
        let url = request.url().clone();
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EgressError::Url { reason: "its scheme is neither `http` nor `https`" });
        }
        if !self.addresses.allows_host(&url) {
            let host = url.host_str().unwrap_or_default().to_owned();
            return Err(EgressError::NotPublic { host });
        }
        if url.scheme() == "https" && !self.has_roots {
            return Err(EgressError::NoRoots);
        }
        self.client.execute(request).await.map_err(|error| EgressError::new(&url, error))
    }

    /// A client for addresses that a person configured. It shares nothing but the settings.
    ///
    /// None under [`AddressPolicy::PublicOnly`], because such a client checks no addresses.
    pub fn for_configured(&self) -> Option<ConfiguredClient> {
        self.configured.clone()
    }
}

fn builder(settings: &Settings) -> ClientBuilder {
    #[expect(clippy::disallowed_methods, reason = "the one place that makes clients")]
    let builder = Client::builder();
    let mut builder = builder
        .user_agent(AGENT)
        .connect_timeout(settings.connect_timeout)
        .pool_max_idle_per_host(settings.idle_connections)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_nodelay(true)
        .tcp_keepalive(KEEPALIVE)
        .referer(false)
        .redirect(redirect_policy(settings.redirects, settings.addresses))
        .dns_resolver(Arc::new(Resolver(settings.addresses)));
    if let Some(timeout) = settings.read_timeout {
        builder = builder.read_timeout(timeout);
    }
    if settings.addresses == AddressPolicy::PublicOnly {
        builder = builder.no_proxy();
    }
    builder
}
