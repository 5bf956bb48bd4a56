//! What a remote server says to somebody without credentials.

use ::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use ::http::{Method, StatusCode};
use gatefold_egress::{EgressError, HttpClient, HttpRequest};
use reqwest::Url;
use tokio::time::Instant;

use super::params::GatewayInfo;
use crate::protocol::headers::{JSON, PROTOCOL_VERSION, SESSION_ID};
use crate::protocol::{HANDSHAKE_VERSION, methods, rpc};

/// Greets a server without credentials, and returns the status and the headers of its answer. One
/// that lets strangers in is asked for its tools, too.
///
/// A session that the server begins for it is left to end by itself.
pub async fn answer_to_stranger(
    client: &HttpClient,
    url: &Url,
    deadline: Instant,
) -> Result<(StatusCode, HeaderMap), EgressError> {
    let params = serde_json::json!({
        "protocolVersion": HANDSHAKE_VERSION,
        "capabilities": {},
        "clientInfo": GatewayInfo::OWN,
    });
    let greeting = post(url, rpc::request(1, methods::INITIALIZE, &params));
    let greeted = client.send(greeting, deadline).await?;
    if !greeted.status().is_success() {
        return Ok((greeted.status(), greeted.headers().clone()));
    }
    let listing = rpc::request(2, methods::TOOLS_LIST, &serde_json::json!({}));
    let version = HeaderValue::from_static(HANDSHAKE_VERSION);
    let mut listing = post(url, listing).header(PROTOCOL_VERSION, version);
    if let Some(session) = greeted.headers().get(SESSION_ID) {
        listing = listing.header(SESSION_ID, session.clone());
    }
    let listed = client.send(listing, deadline).await?;
    match listed.status() {
        StatusCode::UNAUTHORIZED => Ok((listed.status(), listed.headers().clone())),
        _ => Ok((greeted.status(), greeted.headers().clone())),
    }
}

fn post(url: &Url, body: String) -> HttpRequest {
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    HttpRequest::new(Method::POST, url.clone())
        .header(CONTENT_TYPE, HeaderValue::from_static(JSON))
        .header(ACCEPT, accepted)
        .body(body)
}
