//! The wire to a remote server: one POST a request, answered as JSON or as a stream of events
//! (MCP specification, "Streamable HTTP").

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::http::StatusCode;
use ::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use gatefold_dispatch::{Event, EventSink};
use reqwest::Response;
use sse_stream::{Error as SseError, SseStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use super::message::{Incoming, Reply, cancelled, refusal};
use super::tap::{Tap, TappedClient};
use super::wire::{Request, WireError};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const EVENT_STREAM: &str = "text/event-stream";

/// What is wrong with an answer that cannot be read.
pub(crate) const NOT_JSON_RPC: &str = "its answer is not JSON-RPC";

/// What an answer, or an event before it, may need beyond the answer's result.
const ENVELOPE_BYTES: u64 = 256 * 1024;
/// The longest body of an HTTP error that is read, in bytes.
const ERROR_BODY_BYTES: usize = 8 * 1024;
/// Messages beside requests, such as cancellations, that are sent at once. One more is dropped.
const ASIDES: usize = 32;
/// How long a server may take to accept such a message.
const ASIDE_DEADLINE: Duration = Duration::from_secs(10);

/// A connection to one server under one identity.
pub(crate) struct HttpWire {
    client: reqwest::Client,
    url: Arc<str>,
    headers: HeaderMap,
    /// What rmcp's client noted.
    pub(crate) tap: Tap,
    handshake: OnceLock<Handshake>,
    asides: Arc<Semaphore>,
    /// Rung when the server says beside an answer that its list has changed.
    pub(crate) list_changed: Arc<Notify>,
}

/// What the handshake settled.
pub(crate) struct Handshake {
    pub(crate) protocol_version: String,
    /// Whether requests say their method and name in headers, and need no session.
    pub(crate) is_stateless: bool,
}

impl HttpWire {
    pub(crate) fn new(client: reqwest::Client, url: &str, headers: HeaderMap) -> Self {
        let (tap, handshake, list_changed) = (Tap::default(), OnceLock::new(), Arc::default());
        let asides = Arc::new(Semaphore::new(ASIDES));
        Self { client, url: url.into(), headers, tap, handshake, asides, list_changed }
    }

    /// The client that rmcp makes the handshake with.
    pub(crate) fn tapped(&self) -> TappedClient {
        TappedClient { client: self.client.clone(), tap: self.tap.clone() }
    }

    pub(crate) fn settle(&self, handshake: Handshake) {
        // A wire has one handshake; a second one makes a wire of its own.
        let _ = self.handshake.set(handshake);
    }

    pub(crate) async fn request(self: &Arc<Self>, request: Request) -> Result<Reply, WireError> {
        let mut interest = Interest { wire: self, id: request.id, is_sent: true };
        let answer = self.exchange(&request).await;
        interest.is_sent = false;
        answer
    }

    async fn exchange(self: &Arc<Self>, request: &Request) -> Result<Reply, WireError> {
        let sent = self.post(request.text.clone(), Some(request)).await;
        let response = sent.map_err(|error| {
            let text = describe(&error);
            // Only a connection that was never made proves that nothing was sent.
            if error.is_connect() { WireError::NotSent(text) } else { WireError::Lost(text) }
        })?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && self.tap.session().is_some() {
            return Err(WireError::Forgotten);
        }
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with(EVENT_STREAM));
        if is_stream && status.is_success() {
            return self.answer_in_stream(response, request).await;
        }
        if !status.is_success() {
            return refused(response).await;
        }
        let body = read_capped(response, request.limit.saturating_add(ENVELOPE_BYTES)).await?;
        let message: Incoming<'_> = serde_json::from_slice(&body)
            .map_err(|_| WireError::Broken(NOT_JSON_RPC.to_owned()))?;
        checked(message.reply(), request.limit)
    }

    async fn post(
        &self,
        text: String,
        request: Option<&Request>,
    ) -> Result<Response, reqwest::Error> {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let mut insert = |name: HeaderName, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        if let Some(session) = self.tap.session() {
            insert(SESSION_ID, &session);
        }
        if let Some(handshake) = self.handshake.get() {
            insert(PROTOCOL_VERSION, &handshake.protocol_version);
            if let (true, Some(request)) = (handshake.is_stateless, request) {
                insert(METHOD, request.method);
                if let Some(name) = &request.name {
                    insert(NAME, &header_text(name));
                }
            }
        }
        self.client.post(&*self.url).headers(headers).body(text).send().await
    }

    /// Sends a message that nobody waits for.
    fn post_aside(self: &Arc<Self>, text: String) {
        let Ok(place) = self.asides.clone().try_acquire_owned() else {
            tracing::debug!("dropped a message, as too many are under way");
            return;
        };
        let wire = self.clone();
        tokio::spawn(async move {
            let _place = place;
            drop(timeout(ASIDE_DEADLINE, wire.post(text, None)).await);
        });
    }

    /// Reads events until the answer comes, passing on what is said meanwhile.
    async fn answer_in_stream(
        self: &Arc<Self>,
        response: Response,
        request: &Request,
    ) -> Result<Reply, WireError> {
        let limit = request.limit.saturating_add(ENVELOPE_BYTES);
        // Counted from one event to the next: what a server says meanwhile may be much in all.
        let unread = AtomicU64::new(0);
        let bytes = response.bytes_stream().map(|chunk| {
            let chunk = chunk.map_err(|error| std::io::Error::other(describe(&error)))?;
            let size = chunk.len() as u64;
            if unread.fetch_add(size, Ordering::Relaxed) + size > limit {
                return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
            }
            Ok::<Bytes, std::io::Error>(chunk)
        });
        let mut events = SseStream::from_bytes_stream(bytes);
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| stream_error(&error, limit))?;
            unread.store(0, Ordering::Relaxed);
            let Some(data) = event.data.filter(|data| !data.is_empty()) else {
                continue;
            };
            let Ok(message) = serde_json::from_str::<Incoming<'_>>(&data) else {
                continue;
            };
            if message.own_id() == Some(request.id) {
                return checked(message.reply(), request.limit);
            }
            self.take_aside(&message, &request.events);
        }
        Err(WireError::Lost("the server ended its answer early".to_owned()))
    }

    /// Takes what a server says beside an answer.
    fn take_aside(self: &Arc<Self>, message: &Incoming<'_>, events: &EventSink) {
        if let Some((_, progress)) = message.own_progress() {
            events.send(Event::Progress(progress));
        } else if let (Some(id), Some(method)) = (message.id, message.method.as_deref()) {
            self.post_aside(refusal(id, method));
        } else if message.method.as_deref() == Some("notifications/tools/list_changed") {
            self.list_changed.notify_one();
        }
    }
}

/// One request's interest in its answer. Dropped before the answer came, it says so.
struct Interest<'a> {
    wire: &'a Arc<HttpWire>,
    id: u64,
    is_sent: bool,
}

impl Drop for Interest<'_> {
    fn drop(&mut self) {
        // In the stateless era, ending the exchange is what cancels.
        let is_stateless = self.wire.handshake.get().is_some_and(|h| h.is_stateless);
        if self.is_sent && !is_stateless {
            self.wire.post_aside(cancelled(self.id));
        }
    }
}

/// A name as a header value: itself when it is plain, else base64 as the specification has it.
fn header_text(name: &str) -> String {
    use base64::Engine as _;
    let is_plain = name.bytes().all(|b| matches!(b, 0x21..=0x7e | b' '))
        && name.trim() == name
        && !name.starts_with("=?base64?");
    if is_plain {
        return name.to_owned();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(name))
}

fn checked(reply: Option<Reply>, limit: u64) -> Result<Reply, WireError> {
    match reply {
        Some(Reply::Result(result)) if result.get().len() as u64 > limit => {
            Err(WireError::TooLarge(result.get().len() as u64))
        }
        Some(reply) => Ok(reply),
        None => Err(WireError::Broken("its answer has neither a result nor an error".to_owned())),
    }
}

/// Makes what can be made of an answer with an error status: JSON-RPC's own error, if it has one.
async fn refused(response: Response) -> Result<Reply, WireError> {
    let status = response.status();
    let body = read_capped(response, ERROR_BODY_BYTES as u64).await.unwrap_or_default();
    if let Ok(message) = serde_json::from_slice::<Incoming<'_>>(&body)
        && let Some(reply @ Reply::Error(_)) = message.reply()
    {
        return Ok(reply);
    }
    Err(WireError::Refused(describe_status(status)))
}

pub(crate) fn describe_status(status: StatusCode) -> String {
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check its credentials",
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "; check its URL",
        _ if status.is_redirection() => "; check its URL",
        _ => "",
    };
    format!("it answered with HTTP status {status}{hint}")
}

async fn read_capped(response: Response, limit: u64) -> Result<Bytes, WireError> {
    let announced = response.headers().get(CONTENT_LENGTH);
    let announced = announced.and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if let Some(size) = announced.filter(|size| *size > limit) {
        return Err(WireError::TooLarge(size));
    }
    let mut body = BytesMut::new();
    let mut size = 0_u64;
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| WireError::Lost(describe(&error)))?;
        size += chunk.len() as u64;
        if size > limit {
            return Err(WireError::TooLarge(size));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn stream_error(error: &SseError, limit: u64) -> WireError {
    let text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::FileTooLarge
        {
            return WireError::TooLarge(limit.saturating_add(1));
        }
        source = cause.source();
    }
    WireError::Lost(text)
}

/// An error of the HTTP client without its URL, which may hold a credential.
pub(crate) fn describe(error: &reqwest::Error) -> String {
    let mut text = if error.is_connect() {
        "the server cannot be reached".to_owned()
    } else if error.is_timeout() {
        "the server did not answer in time".to_owned()
    } else {
        "the connection failed".to_owned()
    };
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        source = cause.source();
        if source.is_none() {
            text.push_str(": ");
            text.push_str(&cause.to_string());
        }
    }
    text
}
