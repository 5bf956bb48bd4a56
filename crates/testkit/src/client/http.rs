//! A raw client over streamable HTTP.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::timeout;

use super::message::MessageWriter;
use super::{ANSWER_LIMIT_BYTES, DEFAULT_LIMIT, Exchange, HANDSHAKE_VERSION, message};
use crate::Error;
use crate::fixture::{Era, Incoming, STATELESS_VERSION, read};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Speaks to one endpoint.
pub struct RawClient {
    http: reqwest::Client,
    url: String,
    speaker: MessageWriter,
    session: Option<String>,
    /// Sent with every request beside the usual ones.
    further: Vec<(&'static str, HeaderValue)>,
    answer: Option<String>,
    limit: Duration,
    last_id: AtomicU64,
}

/// An answer over HTTP as it came, whatever it is.
#[derive(Clone, Debug)]
pub struct RawResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl RawClient {
    pub fn new(url: impl Into<String>) -> Result<Self, Error> {
        Ok(Self {
            http: http_client()?,
            url: url.into(),
            speaker: MessageWriter::default(),
            session: None,
            further: Vec::new(),
            answer: None,
            limit: DEFAULT_LIMIT,
            last_id: AtomicU64::new(0),
        })
    }

    /// Sends this bearer token with every request, and no other.
    #[must_use]
    pub fn with_bearer(mut self, token: &str) -> Self {
        self.further.retain(|(name, _)| *name != "authorization");
        self.with_header("authorization", &format!("Bearer {token}"))
    }

    /// Sends this header with every request.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.further.push((name, value.parse().expect("it is a header's value")));
        self
    }

    /// Waits at most this long for an answer.
    #[must_use]
    pub fn with_limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Calls itself so, from its first message on.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.speaker.name);
        self
    }

    /// Answers every request of the server with this result, JSON text.
    #[must_use]
    pub fn with_answer(mut self, result: &str) -> Self {
        self.answer = Some(result.to_owned());
        self
    }

    /// Offers these capabilities, JSON text, instead of elicitation alone.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: &str) -> Self {
        self.set_capabilities(capabilities);
        self
    }

    /// Answers every request of the server with this result from now on, or none of them.
    pub fn set_answer(&mut self, result: Option<&str>) {
        self.answer = result.map(str::to_owned);
    }

    /// Offers these capabilities from now on; a session keeps those that it began with.
    pub fn set_capabilities(&mut self, capabilities: &str) {
        capabilities.clone_into(&mut self.speaker.capabilities);
    }

    /// Changes to the handshake era: sends `initialize`, then `notifications/initialized`.
    pub async fn initialize(&mut self) -> Result<Exchange, Error> {
        self.speaker.era = Era::Handshake;
        let body =
            self.speaker.request(self.next_id(), "initialize", &self.speaker.initialize_params());
        let response = self.post(body, HeaderMap::new()).await?;
        let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok());
        self.session = session.map(str::to_owned);
        let exchange = self.read_answer(response, "initialize").await?;
        self.notify("notifications/initialized", "{}").await?;
        Ok(exchange)
    }

    /// The session of the handshake era, if the server gave one.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Calls a tool with arguments given as the JSON text of an object.
    pub async fn call(&self, tool: &str, arguments: &str) -> Result<Exchange, Error> {
        self.request_named("tools/call", tool, &message::call_params(tool, arguments)).await
    }

    /// Asks for the first page of tools.
    pub async fn list(&self) -> Result<Exchange, Error> {
        self.request("tools/list", "{}").await
    }

    /// Sends a request of a method that has no `Mcp-Name`.
    pub async fn request(&self, method: &str, params: &str) -> Result<Exchange, Error> {
        self.request_named(method, "", params).await
    }

    /// Sends a request whose header `Mcp-Name` is `name`.
    pub async fn request_named(
        &self,
        method: &str,
        name: &str,
        params: &str,
    ) -> Result<Exchange, Error> {
        self.begin(method, name, params).1.await
    }

    /// The id of a request, and the request itself, which is sent once it is awaited. Dropping it
    /// closes its connection.
    pub fn begin<'a>(
        &'a self,
        method: &'a str,
        name: &str,
        params: &str,
    ) -> (u64, impl Future<Output = Result<Exchange, Error>> + use<'a>) {
        let id = self.next_id();
        let body = self.speaker.request(id, method, params);
        let headers = self.mirror(method, name);
        let exchange = async move {
            let response = self.post(body, headers).await?;
            self.read_answer(response, method).await
        };
        (id, self.in_time(method, exchange))
    }

    /// Sends a request that is answered with a stream, such as `subscriptions/listen`.
    pub async fn open(&self, method: &str, params: &str) -> Result<MessageStream, Error> {
        let body = self.speaker.request(self.next_id(), method, params);
        let posted = self.post(body, self.mirror(method, ""));
        let response = self.in_time(method, posted).await?;
        if is_stream(&response) {
            return Ok(MessageStream::new(response, method, self.limit));
        }
        let RawResponse { status, body, .. } = self.in_time(method, whole(response)).await?;
        Err(Error::NotAnAnswer { status, body })
    }

    /// Sends a notification with parameters given as the JSON text of an object.
    pub async fn notify(&self, method: &str, params: &str) -> Result<(), Error> {
        let body = self.speaker.notification(method, params);
        let sent = self.post(body, self.mirror(method, ""));
        self.in_time(method, sent).await.map(drop)
    }

    /// Posts a body unchanged, with these headers in addition to the usual ones.
    pub async fn post_raw(&self, body: &str, headers: HeaderMap) -> Result<RawResponse, Error> {
        let response = async {
            let response = self.post(body.to_owned(), headers).await?;
            whole(response).await
        };
        self.in_time("a raw post", response).await
    }

    /// Ends the session and returns the status.
    pub async fn delete(&self) -> Result<u16, Error> {
        let request = self.http.delete(&self.url).headers(self.common_headers());
        let sent = async { Ok(request.send().await?.status().as_u16()) };
        self.in_time("DELETE", sent).await
    }

    /// Asks for a stream of the server's messages and returns the status.
    pub async fn get(&self) -> Result<u16, Error> {
        let request = self.http.get(&self.url).headers(self.common_headers());
        let sent = async { Ok(request.send().await?.status().as_u16()) };
        self.in_time("GET", sent).await
    }

    /// Sends a plain GET to the address and returns the response unchanged.
    pub async fn get_raw(&self) -> Result<RawResponse, Error> {
        let request = self.http.get(&self.url).headers(self.common_headers());
        let response = async { whole(request.send().await?).await };
        self.in_time("GET", response).await
    }

    /// Opens the session's stream of the server's messages.
    pub async fn listen(&self) -> Result<MessageStream, Error> {
        let request = self.http.get(&self.url).headers(self.common_headers());
        let sent = async { Ok(request.send().await?) };
        let response = self.in_time("GET", sent).await?;
        if is_stream(&response) {
            return Ok(MessageStream::new(response, "the session's stream", self.limit));
        }
        let RawResponse { status, body, .. } = self.in_time("GET", whole(response)).await?;
        Err(Error::NotAnAnswer { status, body })
    }

    fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    async fn in_time<T>(
        &self,
        what: &str,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit_ms = self.limit.as_millis();
        let late = |_| Error::Late { what: what.to_owned(), limit_ms };
        timeout(self.limit, work).await.map_err(late)?
    }

    /// The headers that mirror a stateless request's body.
    fn mirror(&self, method: &str, name: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if self.speaker.era == Era::Stateless {
            insert(&mut headers, METHOD, method);
            if !name.is_empty() {
                insert(&mut headers, NAME, name);
            }
        }
        headers
    }

    fn common_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        insert(&mut headers, ACCEPT, "application/json, text/event-stream");
        insert(&mut headers, CONTENT_TYPE, "application/json");
        match (self.speaker.era, &self.session) {
            (Era::Stateless, _) => insert(&mut headers, VERSION, STATELESS_VERSION),
            (Era::Handshake, None) => {}
            (Era::Handshake, Some(session)) => {
                insert(&mut headers, VERSION, HANDSHAKE_VERSION);
                insert(&mut headers, SESSION, session);
            }
        }
        for (name, value) in &self.further {
            headers.append(*name, value.clone());
        }
        headers
    }

    async fn post(&self, body: String, headers: HeaderMap) -> Result<Response, Error> {
        let mut all = self.common_headers();
        all.extend(headers);
        Ok(self.http.post(&self.url).headers(all).body(body).send().await?)
    }

    async fn read_answer(&self, response: Response, what: &str) -> Result<Exchange, Error> {
        let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
            return self.read_events(response, what).await;
        }
        let RawResponse { status, body, .. } = whole(response).await?;
        match read(&body) {
            Ok(Incoming::Response { .. }) => {
                Ok(Exchange { notices: Vec::new(), response: body, status })
            }
            Ok(_) | Err(_) => Err(Error::NotAnAnswer { status, body }),
        }
    }

    async fn read_events(&self, response: Response, what: &str) -> Result<Exchange, Error> {
        let status = response.status().as_u16();
        let mut stream = MessageStream::new(response, what, self.limit);
        let mut notices = Vec::new();
        loop {
            let text = stream.next_message().await?;
            match read(&text) {
                Ok(Incoming::Response { .. }) => {
                    return Ok(Exchange { notices, response: text, status });
                }
                Ok(Incoming::Request(request)) => {
                    if let Some(result) = &self.answer {
                        let answer = message::response(request.id.get(), result);
                        self.post(answer, HeaderMap::new()).await?;
                    }
                }
                Ok(Incoming::Notification { .. }) | Err(_) => {}
            }
            notices.push(text);
        }
    }
}

/// The messages of one event stream as they come; dropping it closes the connection.
pub struct MessageStream {
    response: Response,
    events: Events,
    what: String,
    limit: Duration,
}

impl MessageStream {
    fn new(response: Response, what: &str, limit: Duration) -> Self {
        Self { response, events: Events::default(), what: what.to_owned(), limit }
    }

    /// Waits for the next message, JSON text.
    pub async fn next(&mut self) -> Result<String, Error> {
        let (what, limit) = (self.what.clone(), self.limit);
        let late = |_| Error::Late { what, limit_ms: limit.as_millis() };
        timeout(limit, self.next_message()).await.map_err(late)?
    }

    async fn next_message(&mut self) -> Result<String, Error> {
        loop {
            if let Some(text) = self.events.next() {
                return Ok(text);
            }
            match self.response.chunk().await? {
                Some(chunk) => self.events.push(&chunk)?,
                None => {
                    return Err(Error::Closed { what: self.what.clone() });
                }
            }
        }
    }
}

/// Tests connect only to loopback, so there is no proxy and nothing to guard.
#[expect(clippy::disallowed_methods, reason = "the guarded client is not for tests' peers")]
pub(crate) fn http_client() -> Result<reqwest::Client, Error> {
    // The client needs a crypto provider even for plain HTTP; another one may be installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    Ok(reqwest::Client::builder().no_proxy().tcp_nodelay(true).build()?)
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    let value = HeaderValue::from_str(value).expect("tests send printable headers");
    headers.insert(name, value);
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"))
}

async fn whole(mut response: Response) -> Result<RawResponse, Error> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_LIMIT_BYTES {
            return Err(Error::TooLarge { limit_bytes: ANSWER_LIMIT_BYTES });
        }
    }
    Ok(RawResponse { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

/// The data of server-sent events, from the pieces of a body.
#[derive(Default)]
struct Events {
    buffer: Vec<u8>,
    /// No event ends before this offset.
    scanned: usize,
}

impl Events {
    fn push(&mut self, chunk: &Bytes) -> Result<(), Error> {
        // JSON escapes a carriage return, so an unescaped one can only end a line.
        self.buffer.extend(chunk.iter().filter(|byte| **byte != b'\r'));
        if self.buffer.len() > ANSWER_LIMIT_BYTES {
            return Err(Error::TooLarge { limit_bytes: ANSWER_LIMIT_BYTES });
        }
        Ok(())
    }

    /// The next event with data.
    fn next(&mut self) -> Option<String> {
        loop {
            let unseen = &self.buffer[self.scanned..];
            let Some(end) = unseen.windows(2).position(|bytes| bytes == b"\n\n") else {
                self.scanned = self.buffer.len().saturating_sub(1);
                return None;
            };
            let event: Vec<u8> = self.buffer.drain(..self.scanned + end + 2).collect();
            self.scanned = 0;
            let event = String::from_utf8_lossy(&event);
            let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
            let data: Vec<_> = data.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            if !data.is_empty() {
                return Some(data.join("\n"));
            }
        }
    }
}
