//! What a remote server says to somebody without credentials.

use ::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use ::http::{Method, StatusCode};
use gatefold_egress::{EgressError, HttpClient, HttpRequest};
use reqwest::Url;
use tokio::time::Instant;

use super::params::GatewayInfo;
use crate::protocol::headers::JSON;
use crate::protocol::{HANDSHAKE_VERSION, methods, rpc};

/// Greets a server without credentials, and returns the status and the headers of its answer.
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
    let accepted = HeaderValue::from_static("application/json, text/event-stream");
    let request = HttpRequest::new(Method::POST, url.clone())
        .header(CONTENT_TYPE, HeaderValue::from_static(JSON))
        .header(ACCEPT, accepted)
        .body(rpc::request(1, methods::INITIALIZE, &params));
    let answer = client.send(request, deadline).await?;
    Ok((answer.status(), answer.headers().clone()))
}
