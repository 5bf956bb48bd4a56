//! The routes, and what is the same for all of them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::routing::{get, post};
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Extensions, HeaderMap, Method, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_http::cors::{Any, CorsLayer};

use crate::IssuerError;
use crate::form::FORM_BYTES;
use crate::settings::{CALLBACK_PATH, PasswordSignIn, Registration};
use crate::state::IssuerState;

mod answers;
mod endpoints;
mod people;
mod providers;

/// How many requests are worked on at once.
const REQUESTS: usize = 128;
/// How long one may take, its body included.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// How long a browser may reuse the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_mins(10);

/// The version of the protocol that some clients send along.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

pub(crate) fn router(state: Arc<IssuerState>) -> Router {
    let mut people = Router::new()
        .route("/oauth/authorize", get(people::authorize))
        .route("/oauth/sign-out", post(people::sign_out))
        .route("/oauth/consent", post(people::consent));
    if state.settings.password == PasswordSignIn::On {
        people = people
            .route("/oauth/sign-in", post(people::sign_in))
            .route("/oauth/password", get(people::show_link).post(people::set_password));
    }
    if state.settings.provider.is_some() {
        people = people
            .route("/oauth/provider", post(providers::begin))
            .route(CALLBACK_PATH, get(providers::callback));
    }
    let mut clients = Router::new()
        .route("/.well-known/oauth-authorization-server", get(endpoints::metadata))
        .route("/oauth/token", post(endpoints::token))
        .route("/oauth/revoke", post(endpoints::revoke));
    if state.settings.registration == Registration::On {
        clients = clients.route("/oauth/register", post(endpoints::register));
    }
    // No cookie counts at these, so any page may ask.
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE, PROTOCOL_VERSION])
        .max_age(PREFLIGHT_AGE);
    let places = Arc::new(Semaphore::new(REQUESTS));
    people
        .merge(clients.layer(cors))
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(from_fn_with_state(places, bounded))
        .layer(from_fn(unstored))
        .with_state(state)
}

/// Works on a bounded number of requests at once, for a bounded time each.
async fn bounded(
    State(places): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let Ok(_place) = places.try_acquire() else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "too many are signing in at once");
    };
    let answer = timeout(REQUEST_LIMIT, next.run(request)).await;
    answer.unwrap_or_else(|_| plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"))
}

/// Nothing that is answered here may be kept on the way, unless it says so itself.
async fn unstored(request: Request, next: Next) -> Response<Body> {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What failed here is nobody else's business.
fn log(error: &IssuerError) {
    let source = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(%error, source, kind = error.kind(), "a request to the issuer failed");
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    response
}

/// The body of a request, if it is a form. Browsers send other kinds to other sites unasked, too.
fn form(headers: &HeaderMap, body: &[u8]) -> Option<String> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return None;
    }
    String::from_utf8(body.to_vec()).ok()
}

/// Where a request comes from, as far as limits tell addresses apart: networks of IPv6 are given out
/// in blocks of 64 bits at least.
fn address(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    match peer.map(|ip| ip.to_canonical()) {
        Some(IpAddr::V6(ip)) => IpAddr::V6((ip.to_bits() >> 64 << 64).into()),
        Some(ip) => ip,
        None => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
    }
}
