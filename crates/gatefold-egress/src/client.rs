use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderValue, USER_AGENT};
use http::{Method, Uri};
use hyper_util::client::legacy;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reqwest::{Body, Client, Request, RequestBuilder, Response, Url};
use tokio::time::{Instant, sleep, timeout_at};

use crate::connector::GuardedConnector;
use crate::decode::ACCEPTED;
use crate::proxy::{ProxyGuard, UrlOrigin};
use crate::redirect::{self, REDIRECT_LIMIT, RedirectStep, is_http, is_same_origin};
use crate::response::earlier;
use crate::retry::{self, RETRIES};
use crate::settings::{AGENT, HEAD_BYTES, IDLE_TIMEOUT};
use crate::{
    EgressError, FirstRedirect, HttpRequest, HttpResponse, Reach, Redirects, SendError, Settings,
};

/// A client for one source. Clones share its connections.
///
/// It reaches only the hosts in its [`Reach`]: every address is checked after its name was looked
/// up, and the connection goes to exactly that address.
#[derive(Clone)]
pub struct HttpClient {
    parts: Arc<ClientParts>,
    /// The same without the certificate, if there is one.
    anonymous: Option<Arc<HttpClient>>,
}

struct ClientParts {
    direct: legacy::Client<GuardedConnector, Body>,
    proxied: Client,
    proxies: Arc<Matcher>,
    guard: ProxyGuard,
    reach: Arc<Reach>,
    has_roots: bool,
    silence: Option<Duration>,
}

/// What a client is made of.
pub(crate) struct ClientSetup<'a> {
    pub(crate) connector: GuardedConnector,
    /// For requests through the proxies of the environment.
    pub(crate) proxied: Client,
    pub(crate) proxies: Arc<Matcher>,
    pub(crate) settings: &'a Settings,
    pub(crate) has_roots: bool,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("reach", &self.parts.reach).finish_non_exhaustive()
    }
}

impl HttpClient {
    pub(crate) fn new(setup: ClientSetup<'_>) -> Self {
        let ClientSetup { connector, proxied, proxies, settings, has_roots } = setup;
        let (reach, resolver) = (connector.reach.clone(), connector.resolver.clone());
        let direct = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(settings.idle_connections)
            .http1_max_buf_size(HEAD_BYTES)
            .build(connector);
        let parts = ClientParts {
            direct,
            proxied,
            proxies,
            guard: ProxyGuard::new(reach.clone(), resolver),
            reach,
            has_roots,
            silence: settings.read_timeout,
        };
        Self { parts: Arc::new(parts), anonymous: None }
    }

    pub(crate) fn with_anonymous(self, anonymous: Self) -> Self {
        Self { anonymous: Some(Arc::new(anonymous)), ..self }
    }

    /// The client for other origins than the source's own: it shows no certificate.
    pub fn anonymous(&self) -> &Self {
        self.anonymous.as_deref().unwrap_or(self)
    }

    /// Sends a request and waits for the head of the answer. Any status is an answer.
    ///
    /// Up to five redirects are followed, unless the request says otherwise. A request is sent up to
    /// two more times where nothing was sent, or where it has no effect and the server names a time
    /// before the deadline. Everything, the body of
    /// the answer included, ends at the deadline.
    pub async fn send(
        &self,
        request: HttpRequest,
        deadline: Instant,
    ) -> Result<HttpResponse, EgressError> {
        let mut request = self.checked(request)?;
        let first = request.url.clone();
        let mut client = self;
        let mut first_redirect: Option<FirstRedirect> = None;
        for _ in 0..=REDIRECT_LIMIT {
            let onward = first_redirect.clone();
            let origin = if onward.is_none() { UrlOrigin::Caller } else { UrlOrigin::Redirect };
            let answer = client.patiently(&request, origin, deadline).await;
            let answer = answer.map_err(|error| match onward {
                None => error,
                Some(redirect) => EgressError::onward(&first, error, redirect),
            })?;
            let step = match request.redirects {
                Redirects::None => RedirectStep::Answer,
                Redirects::Follow => redirect::step(&request, answer.status(), answer.headers()),
            };
            let mut noted = |to: &Url| {
                let redirect = || FirstRedirect::new(&request.url, to, answer.status());
                first_redirect.get_or_insert_with(redirect).clone()
            };
            match step {
                RedirectStep::Answer => {
                    let silence = self.parts.silence;
                    return Ok(HttpResponse::new(request.url, answer, deadline, silence));
                }
                RedirectStep::Refuse(to, reason) => {
                    let redirect = noted(&to);
                    return Err(EgressError::redirected(&request.url, &to, reason, redirect));
                }
                RedirectStep::Follow(to) => {
                    let redirect = noted(&to);
                    self.admit_redirect(&request.url, &to, redirect)?;
                    if !is_same_origin(&request.url, &to) {
                        client = self.anonymous();
                    }
                    redirect::redirect(&mut request, answer.status(), to);
                }
            }
        }
        let redirect = first_redirect.expect("each round but the first follows a redirect");
        Err(EgressError::too_many_redirects(&first, redirect))
    }

    /// Begins a request for [`HttpClient::send_once`].
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.parts.proxied.request(method, url)
    }

    /// Sends one request and waits for the head of its answer. Any status is an answer, a redirect
    /// too.
    ///
    /// It waits forever, and so may the body, which can be a stream of events: the caller must have
    /// deadlines.
    pub async fn send_once(&self, request: RequestBuilder) -> Result<Response, SendError> {
        let request = request.build().map_err(unsent)?;
        self.parts.dispatch(request, UrlOrigin::Caller).await
    }

    /// Whether the machine has CA certificates. Without any, every request over HTTPS fails.
    pub fn has_roots(&self) -> bool {
        self.parts.has_roots
    }

    /// The request, if it can be sent at all.
    fn checked(&self, mut request: HttpRequest) -> Result<HttpRequest, EgressError> {
        if !is_http(&request.url) {
            return Err(EgressError::Url { reason: "its scheme is neither `http` nor `https`" });
        }
        self.check_roots(&request.url)?;
        if !request.url.username().is_empty() || request.url.password().is_some() {
            let built = self.request(Method::GET, request.url.clone()).build();
            let built = built.map_err(|_| EgressError::Url { reason: "it is malformed" })?;
            request.take_user_info(built.headers().get(AUTHORIZATION));
        }
        Ok(request)
    }

    fn check_roots(&self, url: &Url) -> Result<(), EgressError> {
        if url.scheme() == "https" && !self.parts.has_roots {
            return Err(EgressError::NoRoots);
        }
        Ok(())
    }

    fn admit_redirect(
        &self,
        from: &Url,
        to: &Url,
        redirect: FirstRedirect,
    ) -> Result<(), EgressError> {
        if is_same_origin(from, to) {
            return Ok(());
        }
        let admitted = self.parts.reach.admit_redirect(to).map_err(EgressError::from);
        let admitted = admitted.and_then(|()| self.check_roots(to));
        admitted.map_err(|error| EgressError::onward(from, error, redirect))
    }

    /// Sends a request, and again where that is harmless and of use.
    async fn patiently(
        &self,
        request: &HttpRequest,
        origin: UrlOrigin,
        deadline: Instant,
    ) -> Result<Response, EgressError> {
        let mut tries = 0;
        loop {
            let answer = self.exchange(request, origin, deadline).await;
            let wait = match &answer {
                Ok(answer) => {
                    retry::after_answer(&request.method, answer.status(), answer.headers())
                }
                Err(error) => retry::after_error(&request.method, error, tries),
            };
            let left = deadline.saturating_duration_since(Instant::now());
            match wait {
                Some(wait) if tries < RETRIES && wait < left => {
                    drop(answer);
                    sleep(wait).await;
                    tries += 1;
                }
                _ => return answer,
            }
        }
    }

    async fn exchange(
        &self,
        request: &HttpRequest,
        origin: UrlOrigin,
        deadline: Instant,
    ) -> Result<Response, EgressError> {
        let url = &request.url;
        let mut sent = Request::new(request.method.clone(), url.clone());
        *sent.headers_mut() = request.all_headers();
        sent.headers_mut().entry(ACCEPT_ENCODING).or_insert(ACCEPTED);
        if !request.body.is_empty() {
            *sent.body_mut() = Some(request.body.clone().into());
        }
        let end = earlier(deadline, self.parts.silence);
        match timeout_at(end, self.parts.dispatch(sent, origin)).await {
            Ok(answer) => answer.map_err(|error| EgressError::new(url, error)),
            Err(_) => Err(EgressError::late(url)),
        }
    }
}

impl ClientParts {
    async fn dispatch(&self, request: Request, origin: UrlOrigin) -> Result<Response, SendError> {
        let uri: Uri = request
            .url()
            .as_str()
            .parse()
            .map_err(|error: http::uri::InvalidUri| SendError::Unreachable(error.into()))?;
        if self.proxies.intercept(&uri).is_some() {
            self.guard.check(request.url(), origin).await.map_err(SendError::Unreachable)?;
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

fn unsent(error: reqwest::Error) -> SendError {
    SendError::Unreachable(error.without_url().into())
}
