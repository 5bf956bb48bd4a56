//! One request over HTTP.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::response::Response;
use axum::routing::post;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::Fixture;
use crate::fixture::{
    Behaviour, DEATH_EXIT, Fault, GARBAGE, HandshakeSessions, Incoming, OUTLET_LIMIT, Outlet, Peer,
    Reply, Request, Server, Streaming, lock, may_speak, read,
};

const BODY_LIMIT_BYTES: usize = 64 << 20;
const SESSION_LIMIT: usize = 4_096;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const HTML: HeaderValue = HeaderValue::from_static("text/html");

/// The specification's code for a header that contradicts the body.
const HEADER_MISMATCH: i64 = -32020;
const UNSUPPORTED_VERSION: i64 = -32022;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;

/// What `die` ends: the connection or the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Death {
    Process,
    Connection,
}

struct Service {
    behaviour: Behaviour,
    server: Arc<Server>,
    death: Death,
    /// At most [`SESSION_LIMIT`].
    sessions: Mutex<HashMap<String, Arc<Peer>>>,
    sessions_made: AtomicU64,
}

pub(super) fn router(path: &str, fixture: Fixture, death: Death) -> Router {
    let Fixture { behaviour, server } = fixture;
    let (sessions, sessions_made) = (Mutex::default(), AtomicU64::new(0));
    let service = Arc::new(Service { behaviour, server, death, sessions, sessions_made });
    Router::new()
        .route(path, post(answer).delete(end_session))
        .layer(DefaultBodyLimit::max(BODY_LIMIT_BYTES))
        .with_state(service)
}

async fn answer(State(service): State<Arc<Service>>, headers: HeaderMap, body: Bytes) -> Response {
    if !service.admits(&headers) {
        return unauthorized();
    }
    let Ok(text) = std::str::from_utf8(&body) else {
        return status(StatusCode::BAD_REQUEST);
    };
    let incoming = match read(text) {
        Ok(incoming) => incoming,
        Err((id, fault)) => return refuse(StatusCode::BAD_REQUEST, Reply::fault(id, &fault)),
    };
    if service.server.log.is_kept() {
        service.server.note(&incoming, text, Some(&headers_json(&headers)));
    }
    match &incoming {
        Incoming::Request(request) => {
            if let Err(fault) = service.check_mirror(request, &headers) {
                return refuse(StatusCode::BAD_REQUEST, Reply::fault(Some(request.id), &fault));
            }
            if request.method == "initialize" {
                return service.open_session(&incoming).await;
            }
            let peer = match service.peer_of(request, &headers) {
                Ok(peer) => peer,
                Err((code, message)) => {
                    let fault = Fault::new(INVALID_REQUEST, message);
                    return refuse(code, Reply::fault(Some(request.id), &fault));
                }
            };
            if service.streams(request) {
                return stream(service, peer, body.clone());
            }
            let reply = service.server.answer(&peer, &incoming, &Outlet::nowhere()).await;
            service.respond(request, reply)
        }
        Incoming::Notification { .. } | Incoming::Response { .. } => {
            let peer = service.session(&headers).unwrap_or_default();
            service.server.answer(&peer, &incoming, &Outlet::nowhere()).await;
            status(StatusCode::ACCEPTED)
        }
    }
}

async fn end_session(State(service): State<Arc<Service>>, headers: HeaderMap) -> StatusCode {
    let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
    match lock(&service.sessions).remove(id) {
        Some(_) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}

impl Service {
    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.behaviour.bearer else {
            return true;
        };
        let sent =
            headers.get(AUTHORIZATION).and_then(|sent| sent.as_bytes().strip_prefix(b"Bearer "));
        sent == Some(token.as_bytes())
    }

    /// Whether a request is in the stateless era, by its own metadata.
    fn is_stateless(&self, request: &Request<'_>) -> bool {
        self.behaviour.served.serves_stateless() && !request.meta.version.is_empty()
    }

    /// Checks that the headers of a stateless request match its body.
    fn check_mirror(&self, request: &Request<'_>, headers: &HeaderMap) -> Result<(), Fault> {
        if !self.is_stateless(request) {
            return Ok(());
        }
        let says = |name: &HeaderName, value: &str| {
            headers.get(name).is_some_and(|sent| sent == value || is_encoded(sent))
        };
        let wrong = if !says(&VERSION, &request.meta.version) {
            VERSION
        } else if !says(&METHOD, &request.method) {
            METHOD
        } else if request.method == "tools/call" && !says(&NAME, &request.params.name) {
            NAME
        } else {
            return Ok(());
        };
        Err(Fault::new(HEADER_MISMATCH, format!("header `{wrong}` does not match the body")))
    }

    fn session(&self, headers: &HeaderMap) -> Option<Arc<Peer>> {
        let id = headers.get(SESSION)?.to_str().ok()?;
        lock(&self.sessions).get(id).cloned()
    }

    /// Finds the peer of a request; a request outside a session gets a peer of its own.
    fn peer_of(
        &self,
        request: &Request<'_>,
        headers: &HeaderMap,
    ) -> Result<Arc<Peer>, (StatusCode, &'static str)> {
        let needs_session = self.behaviour.served.serves_handshake()
            && !self.is_stateless(request)
            && request.method != "server/discover";
        if !needs_session {
            return Ok(Arc::default());
        }
        if !headers.contains_key(SESSION) {
            let message = "header `mcp-session-id` is missing";
            return Err((StatusCode::BAD_REQUEST, message));
        }
        self.session(headers).ok_or((StatusCode::NOT_FOUND, "unknown session"))
    }

    async fn open_session(&self, incoming: &Incoming<'_>) -> Response {
        let peer = Arc::new(Peer::default());
        let reply = self.server.answer(&peer, incoming, &Outlet::nowhere()).await;
        let Reply::Result(text) = reply else {
            return refuse(StatusCode::BAD_REQUEST, reply);
        };
        let number = self.sessions_made.fetch_add(1, Ordering::Relaxed) + 1;
        let id = format!("fixture-{}-{number}", std::process::id());
        let mut sessions = lock(&self.sessions);
        if sessions.len() == SESSION_LIMIT {
            return status(StatusCode::SERVICE_UNAVAILABLE);
        }
        let header = HeaderValue::from_str(&id).expect("the id has printable characters only");
        sessions.insert(id, peer);
        let mut response = if self.behaviour.streaming == Streaming::Always {
            with_body(StatusCode::OK, EVENTS, event(&text).into())
        } else {
            with_body(StatusCode::OK, JSON, text.into())
        };
        if self.behaviour.sessions == HandshakeSessions::Begun {
            response.headers_mut().insert(SESSION, header);
        }
        response
    }

    fn streams(&self, request: &Request<'_>) -> bool {
        self.behaviour.streaming == Streaming::Always
            || may_speak(request, self.is_stateless(request))
    }

    fn respond(&self, request: &Request<'_>, reply: Reply) -> Response {
        match reply {
            Reply::Result(text) => with_body(StatusCode::OK, JSON, text.into()),
            Reply::Fault { code, text } => {
                let status = fault_status(code, self.is_stateless(request));
                with_body(status, JSON, text.into())
            }
            Reply::Death => self.die(),
            Reply::Silence | Reply::Garbage => refuse(StatusCode::OK, reply),
        }
    }

    fn die(&self) -> Response {
        if self.death == Death::Process {
            std::process::exit(DEATH_EXIT);
        }
        let broken = futures::stream::once(std::future::ready(Err::<Bytes, _>(
            std::io::Error::other("died as asked"),
        )));
        with_body(StatusCode::OK, JSON, Body::from_stream(broken))
    }
}

/// Answers with events; the call ends when the reader goes.
fn stream(service: Arc<Service>, peer: Arc<Peer>, body: Bytes) -> Response {
    let (messages, mut received) = mpsc::channel::<String>(OUTLET_LIMIT);
    tokio::spawn(async move {
        let gone = messages.clone();
        let outlet = Outlet::to(messages);
        let text = std::str::from_utf8(&body).unwrap_or_default();
        let Ok(incoming) = read(text) else { return };
        let reply = tokio::select! {
            reply = service.server.answer(&peer, &incoming, &outlet) => reply,
            () = gone.closed() => return,
        };
        match reply {
            Reply::Result(text) | Reply::Fault { text, .. } => outlet.send(text).await,
            Reply::Garbage => outlet.send(GARBAGE.to_owned()).await,
            Reply::Death if service.death == Death::Process => std::process::exit(DEATH_EXIT),
            Reply::Death | Reply::Silence => {}
        }
    });
    let events = futures::stream::poll_fn(move |context| {
        let message = received.poll_recv(context);
        message.map(|message| message.map(|message| Ok::<_, Infallible>(event(&message))))
    });
    with_body(StatusCode::OK, EVENTS, Body::from_stream(events))
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// In the stateless era the HTTP status reflects the fault; before it, every answer has 200.
fn fault_status(code: i64, is_stateless: bool) -> StatusCode {
    match code {
        METHOD_NOT_FOUND if is_stateless => StatusCode::NOT_FOUND,
        UNSUPPORTED_VERSION..=HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Whether a header value uses the specification's encoding for unprintable text. It is not
/// decoded.
fn is_encoded(value: &HeaderValue) -> bool {
    value.as_bytes().starts_with(b"=?base64?")
}

fn headers_json(headers: &HeaderMap) -> String {
    let entry = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), Value::String(value))
    };
    Value::Object(headers.iter().map(entry).collect()).to_string()
}

fn unauthorized() -> Response {
    let mut response = status(StatusCode::UNAUTHORIZED);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

fn refuse(code: StatusCode, reply: Reply) -> Response {
    match reply {
        Reply::Result(text) | Reply::Fault { text, .. } => with_body(code, JSON, text.into()),
        Reply::Garbage => with_body(StatusCode::OK, HTML, format!("<p>{GARBAGE}</p>").into()),
        Reply::Silence | Reply::Death => status(StatusCode::ACCEPTED),
    }
}

fn status(code: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = code;
    response
}

fn with_body(code: StatusCode, kind: HeaderValue, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
