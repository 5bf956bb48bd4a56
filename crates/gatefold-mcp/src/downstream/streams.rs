//! Answers over HTTP that come in pieces: server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use ::http::{HeaderValue, Response, StatusCode};
use axum::body::{Body, Bytes};
use futures::{Stream, StreamExt as _};
use gatefold_http::RefusalFormat;
use tokio::time::timeout;

use crate::protocol::headers::JSON;
use crate::protocol::{RpcError, rpc};

/// How long a stream may be silent before it sends a sign of life: proxies and clients give up on
/// silence.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long an answer may take before it becomes a stream, which can show that it is still alive,
/// and can be resumed if it breaks off.
pub(super) const SOON: Duration = Duration::from_secs(2);

/// The longest message that is copied to be written with its event, in bytes.
const COPIED_BYTES: usize = 16 * 1024;
/// What ends an event.
const END: &str = "\n\n";

/// Keeps proxies from buffering events.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// One event of a stream.
pub(super) struct Event {
    /// The id from which the client resumes.
    pub(super) id: Option<String>,
    /// When the client should come back after the stream has ended.
    pub(super) retry: Option<Duration>,
    /// One line.
    pub(super) data: Bytes,
}

impl Event {
    /// A message that cannot be replayed.
    pub(super) fn once(data: impl Into<Bytes>) -> Self {
        Self { id: None, retry: None, data: data.into() }
    }

    /// The event in pieces. What is long is not copied: several readers may share it.
    fn written(self) -> Vec<Bytes> {
        let id = self.id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        let retry = self.retry.map(|retry| format!("retry: {}\n", retry.as_millis()));
        let head = format!("{id}{}data: ", retry.unwrap_or_default());
        if self.data.len() > COPIED_BYTES {
            return vec![head.into(), self.data, END.into()];
        }
        let event = [head.as_bytes(), &*self.data, END.as_bytes()].concat();
        vec![event.into()]
    }
}

/// An event stream inside the body, so that it ends when the client goes away.
pub(super) fn stream(events: impl Stream<Item = Event> + Send + 'static) -> Response<Body> {
    let events = futures::stream::unfold(Box::pin(events), async |mut events| {
        let event = match timeout(KEEP_ALIVE, events.next()).await {
            Ok(None) => return None,
            Ok(Some(event)) => event.written(),
            Err(_) => vec![Bytes::from_static(b": still here\n\n")],
        };
        Some((futures::stream::iter(event.into_iter().map(Ok::<_, Infallible>)), events))
    });
    let events = events.flatten();
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    response
}

pub(super) fn json(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::from(text.into()));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// How a request is refused without a message that the refusal could answer. Clients of the protocol
/// show the message of a JSON-RPC error, and few show any other body.
pub(super) const REFUSALS: RefusalFormat = RefusalFormat { content_type: JSON, body: refusal_body };

fn refusal_body(status: StatusCode, text: &str) -> String {
    let error = if status.is_server_error() {
        RpcError::internal(text)
    } else {
        RpcError::invalid_request(text)
    };
    rpc::refusal(None, &error)
}

pub(super) fn turned_away(status: StatusCode, text: impl AsRef<str>) -> Response<Body> {
    REFUSALS.response(status, text.as_ref())
}

pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}
