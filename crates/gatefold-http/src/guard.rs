//! Which hosts and origins may address the endpoint: the defence against DNS rebinding and foreign
//! web pages. Pages of allowed origins get what browsers ask for (CORS).

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::middleware::Next;
use http::header::{HOST, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use http::uri::Authority;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use tower::{Layer as _, ServiceExt as _};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::HttpEndpoint;

/// The most bytes of a request's headers in total.
const HEADER_BYTES: usize = 64 * 1024;
/// How long a browser may reuse the answer to a preflight request.
const PREFLIGHT_AGE: Duration = Duration::from_mins(10);

/// What every request has to pass: the allowed hosts and origins.
pub(crate) struct Guard {
    endpoint: HttpEndpoint,
    cors: CorsLayer,
}

impl Guard {
    pub(crate) fn new(endpoint: HttpEndpoint, exposed_headers: Vec<HeaderName>) -> Self {
        let exposed: Vec<_> = exposed_headers.into_iter().chain([WWW_AUTHENTICATE]).collect();
        // The origin was already checked. Headers are mirrored, because a tool's arguments may be
        // among them, under names of its own.
        let cors = CorsLayer::new()
            .allow_origin(AllowOrigin::mirror_request())
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .allow_private_network(true)
            .expose_headers(exposed)
            .max_age(PREFLIGHT_AGE);
        Self { endpoint, cors }
    }
}

pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request<Body>,
    next: Next,
) -> Response<Body> {
    let header_bytes =
        |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    if request.headers().iter().map(header_bytes).sum::<usize>() > HEADER_BYTES {
        let text = format!("the headers have more than {HEADER_BYTES} bytes");
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return response;
    }
    if let Err((status, text)) = judge(&guard.endpoint, request.uri(), request.headers()) {
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = status;
        return response;
    }
    // The layer takes every OPTIONS for a preflight request. Only browsers make those, and they name an origin.
    if !request.headers().contains_key(ORIGIN) {
        return next.run(request).await;
    }
    let Ok(response) = guard.cors.layer(next).oneshot(request).await;
    response
}

fn judge(
    endpoint: &HttpEndpoint,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), (StatusCode, &'static str)> {
    let forbidden = |text| (StatusCode::FORBIDDEN, text);
    let host = sole(headers, &HOST, "the request names two hosts")?;
    let origin = sole(headers, &ORIGIN, "the request names two origins")?;
    // What is there and cannot be read is not made up for: somebody before us may have read it otherwise.
    let host = match host {
        Some(host) => host.to_str().ok().and_then(plain_authority),
        None => uri.authority().and_then(|authority| plain_authority(authority.as_str())),
    };
    let host = host.ok_or(forbidden("the request names no host"))?;
    if !endpoint.allowed_hosts.iter().any(|allowed| is_host(allowed, &host)) {
        return Err(forbidden("this host is not allowed; add it to `server.allowed_hosts`"));
    }
    let Some(origin) = origin else {
        return Ok(());
    };
    let origin = origin.to_str().unwrap_or_default();
    if !endpoint.allowed_origins.iter().any(|allowed| is_origin(allowed, origin)) {
        return Err(forbidden("this origin is not allowed; add it to `server.allowed_origins`"));
    }
    Ok(())
}

/// A host, with a port or without, and nothing else: no user, and nothing behind the bracket of an IPv6 address.
fn plain_authority(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let behind = text.strip_prefix(authority.host())?;
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    (behind.is_empty() || behind.strip_prefix(':').is_some_and(is_port)).then_some(authority)
}

/// A header that may be given only once. Given twice it is refused (RFC 9112, section 3.2): a proxy
/// in front of us may have checked the other one.
fn sole<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    doubled: &'static str,
) -> Result<Option<&'a HeaderValue>, (StatusCode, &'static str)> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() { Err((StatusCode::BAD_REQUEST, doubled)) } else { Ok(value) }
}

/// Whether a host matches the allowed one. An allowed host without a port allows every port.
fn is_host(allowed: &str, host: &Authority) -> bool {
    let bare = |text: &str| text.trim_matches(['[', ']']).to_ascii_lowercase();
    bare(allowed) == bare(host.host()) || allowed.eq_ignore_ascii_case(host.as_str())
}

/// Whether an origin matches the allowed one. `:*` at its end allows every port, or none.
fn is_origin(allowed: &str, origin: &str) -> bool {
    let Some(any_port) = allowed.strip_suffix(":*") else {
        return allowed.eq_ignore_ascii_case(origin);
    };
    let Some((start, rest)) = origin.split_at_checked(any_port.len()) else {
        return false;
    };
    let is_port = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    start.eq_ignore_ascii_case(any_port)
        && (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(host: &str, origin: Option<&str>, allowed: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let judged = judge(&HttpEndpoint::default(), &Uri::from_static("/mcp"), &headers);
        assert_eq!(judged.is_ok(), allowed, "{host} {origin:?}");
    }

    #[test]
    fn only_this_machine_is_addressed_by_default() {
        for host in ["localhost", "localhost:8420", "127.0.0.1:1", "[::1]:8420", "LOCALHOST:80"] {
            check(host, None, true);
        }
        for host in [
            "example.com",
            "127.0.0.1.example.com:8420",
            "localhost.evil:1",
            "10.0.0.1",
            "[::1].evil",
            "[::1].evil:8420",
            "[::1]evil",
            "evil@localhost",
            "localhost:80.evil",
            "localhost/",
            "",
        ] {
            check(host, None, false);
        }
    }

    #[test]
    fn a_host_that_cannot_be_read_is_not_made_up_for() {
        let absolute = Uri::from_static("http://localhost/mcp");
        let judged = |host: Option<&[u8]>| {
            let mut headers = HeaderMap::new();
            headers.extend(host.map(|host| (HOST, HeaderValue::from_bytes(host).unwrap())));
            judge(&HttpEndpoint::default(), &absolute, &headers).is_ok()
        };
        assert!(judged(None) && judged(Some(b"localhost")));
        assert!(!judged(Some(b"local\xffhost")) && !judged(Some(b"a b")));
    }

    #[test]
    fn only_pages_of_this_machine_may_call_by_default() {
        for origin in ["http://localhost", "http://localhost:3000", "http://[::1]:1"] {
            check("localhost", Some(origin), true);
        }
        for origin in [
            "https://example.com",
            "http://localhost.example.com",
            "http://localhost:80.example.com",
            "http://localhost:",
            "null",
            "",
        ] {
            check("localhost", Some(origin), false);
        }
    }
}
