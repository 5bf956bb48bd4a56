//! The bodies of requests, as JSON.

use axum::body::Body;
use axum::response::Response;
use gatefold_http::{RefusalFormat, RequestBodies};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request, StatusCode};
use serde::de::DeserializeOwned;

/// Reads a body within the limits of the endpoint.
///
/// It has to say that it is JSON: a page of another site can send any other type without being asked
/// whether it may (a "simple" request of the Fetch standard), and so could begin runs.
pub(crate) async fn read_json<T: DeserializeOwned>(
    request: Request<Body>,
    bodies: &RequestBodies,
    refusals: RefusalFormat,
) -> Result<T, Box<Response>> {
    let (parts, body) = request.into_parts();
    let refused = |status, text: &str| Box::new(refusals.response(status, text));
    if !is_json(&parts.headers) {
        let text = "the body of a request must be application/json";
        return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
    }
    // The share ends here: what is read from the body is the run's, and the number of runs is bounded.
    let (body, _share) =
        bodies.read(body).await.map_err(|unread| Box::new(unread.response(refusals)))?;
    serde_json::from_slice(&body).map_err(|error| {
        refused(StatusCode::BAD_REQUEST, &format!("the body cannot be read: {error}"))
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
