//! The routes, and what is the same for all of them.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit, FromRequest as _, Request, State};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use gatefold_core::network_of;
use http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Extensions, HeaderMap, Method, Response, StatusCode};
use tokio::sync::{Semaphore, SemaphorePermit};
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
/// How many of them may come from one address.
const REQUESTS_PER_ADDRESS: usize = 64;
/// How long one may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
/// How long its body may take before that. A browser sends all of a form at once.
const BODY_LIMIT: Duration = Duration::from_secs(10);
/// How long a browser may reuse the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_mins(10);

/// Where the metadata is, in front of the issuer's path (RFC 8414, section 3.1).
const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

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
        .route(WELL_KNOWN, get(endpoints::metadata))
        .route("/oauth/token", post(endpoints::token))
        .route("/oauth/revoke", post(endpoints::revoke));
    if state.settings.registration == Registration::On {
        clients = clients.route("/oauth/register", post(endpoints::register));
    }
    let path = state.settings.public_url.path();
    if !path.is_empty() {
        clients = clients.route(&format!("{WELL_KNOWN}{path}"), get(endpoints::metadata));
    }
    // No cookie counts at these, so any page may ask.
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([AUTHORIZATION, CONTENT_TYPE, PROTOCOL_VERSION])
        .max_age(PREFLIGHT_AGE);
    let places = Arc::<RequestPlaces>::default();
    people
        .merge(clients.layer(cors))
        .layer(from_fn_with_state(places, bounded))
        .layer(DefaultBodyLimit::max(FORM_BYTES))
        .layer(from_fn(unstored))
        .with_state(state)
}

/// Works on a bounded number of requests at once, for a bounded time each. None has a place before its
/// body is there: half a form must keep nobody out.
async fn bounded(
    State(places): State<Arc<RequestPlaces>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let unread = Request::from_parts(parts.clone(), body);
    let request = match timeout(BODY_LIMIT, Bytes::from_request(unread, &())).await {
        Ok(Ok(body)) => Request::from_parts(parts, body.into()),
        Ok(Err(rejection)) => return rejection.into_response(),
        Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
    };
    let Some(_place) = places.take(address(request.extensions())) else {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "too many are signing in at once");
    };
    let answer = timeout(REQUEST_LIMIT, next.run(request)).await;
    answer.unwrap_or_else(|_| plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"))
}

/// The places of the requests that are worked on.
struct RequestPlaces {
    all: Semaphore,
    /// How many each address has: at most [`REQUESTS`] in all.
    of_addresses: Mutex<HashMap<IpAddr, usize>>,
}

impl Default for RequestPlaces {
    fn default() -> Self {
        Self { all: Semaphore::new(REQUESTS), of_addresses: Mutex::default() }
    }
}

impl RequestPlaces {
    /// A place for a request from this address, if there is one.
    fn take(&self, address: IpAddr) -> Option<RequestPlace<'_>> {
        let mut of_addresses = self.of_addresses();
        let own = of_addresses.get(&address).copied().unwrap_or_default();
        if own >= REQUESTS_PER_ADDRESS {
            return None;
        }
        let of_all = self.all.try_acquire().ok()?;
        of_addresses.insert(address, own + 1);
        Some(RequestPlace { places: self, address, _of_all: of_all })
    }

    fn of_addresses(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.of_addresses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct RequestPlace<'a> {
    places: &'a RequestPlaces,
    address: IpAddr,
    _of_all: SemaphorePermit<'a>,
}

impl Drop for RequestPlace<'_> {
    fn drop(&mut self) {
        let mut of_addresses = self.places.of_addresses();
        let left = of_addresses.get(&self.address).map_or(0, |own| own.saturating_sub(1));
        if left == 0 {
            of_addresses.remove(&self.address);
        } else {
            of_addresses.insert(self.address, left);
        }
    }
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

/// Where a request comes from, as far as limits tell addresses apart.
fn address(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    let peer = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| peer.ip());
    network_of(peer)
}
