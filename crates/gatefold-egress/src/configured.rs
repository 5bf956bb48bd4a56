//! Requests to addresses that a person configured.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{HeaderValue, USER_AGENT};
use http::{Method, Uri};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use reqwest::{Body, Client, RequestBuilder, Response, Url};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::Settings;
use crate::interim::BoundedStream;
use crate::settings::{AGENT, IDLE_TIMEOUT, KEEPALIVE};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A client for addresses that a person configured: it may reach any address, follows no redirects,
/// and waits forever, so its caller must have deadlines. Clones share its connections.
///
/// What a server sends before an answer is limited, except through a proxy: those requests go
/// through reqwest, which gives no access to its connections.
#[derive(Clone)]
pub struct ConfiguredClient {
    direct: legacy::Client<BoundedConnector, Body>,
    proxied: Client,
    proxies: Arc<Matcher>,
}

/// Why a request got no answer. The source has the details, and names no URL.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No connection could be made, so nothing was sent.
    #[error("the server cannot be reached")]
    Unreachable(#[source] BoxError),
    #[error("the connection failed")]
    Failed(#[source] BoxError),
}

impl fmt::Debug for ConfiguredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredClient").finish_non_exhaustive()
    }
}

impl ConfiguredClient {
    /// `proxied` is for requests through the proxies of the environment.
    pub(crate) fn new(settings: &Settings, tls: ClientConfig, proxied: Client) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_keepalive(Some(KEEPALIVE));
        http.set_connect_timeout(Some(settings.connect_timeout));
        let connector = HttpsConnector::from((http, tls));
        let connector = BoundedConnector { connector, limit: settings.connect_timeout };
        let direct = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(settings.idle_connections)
            .build(connector);
        Self { direct, proxied, proxies: Arc::new(Matcher::from_system()) }
    }

    /// The same client, ignoring the environment's proxies.
    #[must_use]
    pub fn without_proxies(mut self) -> Self {
        self.proxies = Arc::new(Matcher::builder().build());
        self
    }

    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.proxied.request(method, url)
    }

    /// Sends a request and waits for the head of the answer. Any status is an answer.
    pub async fn send(&self, request: RequestBuilder) -> Result<Response, SendError> {
        let unsent = |error: reqwest::Error| SendError::Unreachable(error.without_url().into());
        let request = request.build().map_err(unsent)?;
        let uri: Uri = request
            .url()
            .as_str()
            .parse()
            .map_err(|error: http::uri::InvalidUri| SendError::Unreachable(error.into()))?;
        if self.proxies.intercept(&uri).is_some() {
            return self.proxied.execute(request).await.map_err(|error| {
                let is_connect = error.is_connect();
                SendError::new(is_connect, error.without_url().into())
            });
        }
        let mut request = http::Request::<Body>::try_from(request).map_err(unsent)?;
        request.headers_mut().entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        let answer = self.direct.request(request).await;
        let answer = answer.map_err(|error| SendError::new(error.is_connect(), error.into()))?;
        Ok(Response::from(answer.map(Body::wrap)))
    }
}

impl SendError {
    fn new(is_connect: bool, source: BoxError) -> Self {
        if is_connect { Self::Unreachable(source) } else { Self::Failed(source) }
    }
}

/// Makes connections that limit what a server sends before an answer.
#[derive(Clone)]
struct BoundedConnector {
    connector: HttpsConnector<HttpConnector>,
    /// Covers the TLS handshake too.
    limit: Duration,
}

impl Service<Uri> for BoundedConnector {
    type Response = BoundedStream<MaybeHttpsStream<TokioIo<TcpStream>>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.connector.poll_ready(cx)
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let connecting = timeout(self.limit, self.connector.call(address));
        Box::pin(async move { Ok(BoundedStream::new(connecting.await??)) })
    }
}
