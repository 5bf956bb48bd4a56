//! Who makes a request, and the layer that asks.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use gatefold_core::Principal;
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, StatusCode};
use tokio_util::sync::CancellationToken;
use tower::{Layer, Service};

use crate::RefusalFormat;

/// The content type of answers that go on for as long as their clients listen.
const EVENT_STREAM: &str = "text/event-stream";

/// Finds out who makes a request. It is called for each one, before the body is read.
///
/// Sessions, streams and parked calls belong to the returned principal; to any other they do not
/// exist.
pub trait Authenticator: Send + Sync + 'static {
    fn authenticate<'a>(
        &'a self,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>>;

    /// Whether somebody may use routes for those who run the gateway. By default nobody may.
    fn is_operator(&self, principal: &Principal) -> bool {
        let _ = principal;
        false
    }
}

/// Who makes a request, and for how long that holds.
#[derive(Debug, Clone)]
pub struct Authenticated {
    pub principal: Arc<Principal>,
    /// None if it holds for as long as the request takes.
    pub validity: Option<Arc<Validity>>,
}

impl From<Arc<Principal>> for Authenticated {
    fn from(principal: Arc<Principal>) -> Self {
        Self { principal, validity: None }
    }
}

/// How long it is known who made a request. Tokens expire and are revoked while requests run and
/// streams are open.
#[derive(Debug)]
pub struct Validity {
    /// Fires at its end. Requests that still run are then cancelled, and streams end.
    pub over: CancellationToken,
    /// What a request is answered whose answer had not begun by then.
    pub refusal: Unauthenticated,
}

impl Validity {
    /// Works on a request for as long as this lasts.
    async fn bound(
        self: Arc<Self>,
        refusals: RefusalFormat,
        served: impl Future<Output = Response<Body>>,
    ) -> Response<Body> {
        let response = tokio::select! {
            biased;
            () = self.over.cancelled() => return self.refusal.response(refusals),
            response = served => response,
        };
        let is_stream =
            response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == EVENT_STREAM);
        if !is_stream {
            return response;
        }
        let over = self.over.clone().cancelled_owned();
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(over)))
    }
}

/// Nobody known makes this request, or it does not say who properly.
#[derive(Debug, Clone)]
pub struct Unauthenticated {
    /// Usually 401. A request that is malformed gets 400 (RFC 6750, section 3.1).
    pub status: StatusCode,
    /// The message for the client, without hints at how close it came.
    pub message: String,
    /// The header `WWW-Authenticate`, which tells a client how to authenticate (RFC 9110, 11.6.1).
    pub challenge: Option<HeaderValue>,
}

impl Unauthenticated {
    fn response(&self, refusals: RefusalFormat) -> Response<Body> {
        let mut response = refusals.response(self.status, &self.message);
        if let Some(challenge) = &self.challenge {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge.clone());
        }
        response
    }
}

/// Treats everybody as the same principal: whoever can reach the endpoint is its user.
#[derive(Debug, Clone)]
pub struct SoleUser(Arc<Principal>);

impl SoleUser {
    pub fn new(principal: Principal) -> Self {
        Self(Arc::new(principal))
    }
}

impl Default for SoleUser {
    /// The local user of a gateway without accounts.
    fn default() -> Self {
        Self::new(Principal::local())
    }
}

impl Authenticator for SoleUser {
    fn authenticate<'a>(
        &'a self,
        _: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        Box::pin(std::future::ready(Ok(self.0.clone().into())))
    }

    fn is_operator(&self, _: &Principal) -> bool {
        true
    }
}

/// Who has to make a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredCaller {
    /// Somebody whom the authenticator knows.
    Principal,
    /// Somebody who runs the gateway as well.
    Operator,
}

/// Lets in only requests whose sender the authenticator knows. What is behind it finds an
/// `Arc<Principal>` among a request's extensions.
#[derive(Clone)]
pub struct AuthenticationLayer {
    authenticator: Arc<dyn Authenticator>,
    required: RequiredCaller,
    refusals: RefusalFormat,
}

impl AuthenticationLayer {
    pub fn new(
        authenticator: Arc<dyn Authenticator>,
        required: RequiredCaller,
        refusals: RefusalFormat,
    ) -> Self {
        Self { authenticator, required, refusals }
    }

    async fn serve<S>(self, mut inner: S, request: Request<Body>) -> Response<Body>
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    {
        let (mut parts, body) = request.into_parts();
        let Authenticated { principal, validity } =
            match self.authenticator.authenticate(&parts).await {
                Ok(authenticated) => authenticated,
                Err(unauthenticated) => return unauthenticated.response(self.refusals),
            };
        let is_missing_rights = self.required == RequiredCaller::Operator
            && !self.authenticator.is_operator(&principal);
        if is_missing_rights {
            let text = "this is for those who run the gateway";
            return self.refusals.response(StatusCode::FORBIDDEN, text);
        }
        parts.extensions.insert(principal);
        let answer = inner.call(Request::from_parts(parts, body));
        let served = async {
            let Ok(response) = answer.await;
            response
        };
        match validity {
            Some(validity) => validity.bound(self.refusals, served).await,
            None => served.await,
        }
    }
}

impl<S> Layer<S> for AuthenticationLayer {
    type Service = AuthenticationService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        AuthenticationService { inner, layer: self.clone() }
    }
}

/// What is behind an [`AuthenticationLayer`].
#[derive(Clone)]
pub struct AuthenticationService<S> {
    inner: S,
    layer: AuthenticationLayer,
}

impl<S> Service<Request<Body>> for AuthenticationService<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Only the one that said it is ready may be called.
        let unready = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, unready);
        let layer = self.layer.clone();
        Box::pin(async move { Ok(layer.serve(inner, request).await) })
    }
}
