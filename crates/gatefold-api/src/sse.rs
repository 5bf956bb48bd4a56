//! Answers in server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures::Stream;
use http::header::{HeaderName, HeaderValue};

/// How long a stream may be silent before it sends a sign of life: proxies and clients give up on silence.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Keeps proxies from buffering events.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A stream inside an answer's body, so that it ends when the client goes away.
pub(crate) fn respond(
    events: impl Stream<Item = Result<Event, Infallible>> + Send + 'static,
) -> Response {
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("still here");
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    response.headers_mut().insert(BUFFERING, HeaderValue::from_static("no"));
    response
}
