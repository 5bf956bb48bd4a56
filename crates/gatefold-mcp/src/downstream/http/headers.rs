//! Checks of request headers, and the answers when they fail.

use ::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode};
use axum::body::Body;
use serde_json::value::RawValue;

use crate::downstream::streams::{json, turned_away};
use crate::protocol::headers::SESSION_ID;
use crate::protocol::{Era, RpcError, rpc};

/// An answer that refuses a request before any work begins.
pub(super) type RefusedResponse = Box<Response<Body>>;

pub(super) fn check_types(headers: &HeaderMap) -> Result<(), RefusedResponse> {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_json = kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        let text = "the body of a request must be application/json";
        return Err(Box::new(turned_away(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)));
    }
    if !accepts(headers, "application/json") || !accepts(headers, "text/event-stream") {
        let text = "the client must accept application/json and text/event-stream";
        return Err(Box::new(turned_away(StatusCode::NOT_ACCEPTABLE, text)));
    }
    Ok(())
}

/// Whether the client accepts answers of this type, `kind/of`. MCP requires clients to say so.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut values =
        headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if values.peek().is_none() {
        return false;
    }
    let family = kind.split('/').next().unwrap_or_default();
    values.flat_map(|value| value.split(',')).any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range.eq_ignore_ascii_case(kind)
            || range == "*/*"
            || range.strip_suffix("/*").is_some_and(|own| own.eq_ignore_ascii_case(family))
    })
}

pub(super) fn refused(id: Option<&RawValue>, error: &RpcError, era: Era) -> Response<Body> {
    json(error.status(era), rpc::refusal(id, error))
}

pub(super) fn not_allowed() -> Response<Body> {
    let mut response = turned_away(
        StatusCode::METHOD_NOT_ALLOWED,
        "POST messages here; GET and DELETE need the `Mcp-Session-Id` of a session",
    );
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

pub(super) fn full() -> Response<Body> {
    let text =
        "as many sessions are open as the gateway keeps, and all are in use; try again later";
    turned_away(StatusCode::SERVICE_UNAVAILABLE, text)
}

pub(super) fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(&SESSION_ID)?.to_str().ok()
}
