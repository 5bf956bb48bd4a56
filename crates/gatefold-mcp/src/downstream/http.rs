//! Streamable HTTP: the short way for calls and lists, rmcp for all else.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use ::http::{HeaderValue, Method, Request, Response, StatusCode};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::serve::ListenerExt as _;
use futures::StreamExt as _;
use gatefold_core::Principal;
use gatefold_dispatch::{Caller, Event, EventSink, NoPeer, TraceContext};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::front::{self, Asks, Post, SESSION_ID, Sender};
use super::handler::{Handler, PROGRESS_QUEUE};
use super::server::{Server, Shape};
use super::sessions::{Full, Sessions};

/// How an HTTP endpoint behaves.
#[derive(Debug, Clone)]
pub struct HttpEndpoint {
    /// Names by which browsers and clients may address this endpoint (the `Host` header).
    pub allowed_hosts: Vec<String>,
    /// Web pages that may use it (the `Origin` header). Requests without an origin always may.
    pub allowed_origins: Vec<String>,
    pub request_body_bytes: usize,
    /// How long a session may be silent.
    pub session_idle: Duration,
    /// How long calls under way may take to finish once the endpoint is shut down.
    pub drain: Duration,
}

impl Default for HttpEndpoint {
    fn default() -> Self {
        let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let origins = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
        Self {
            allowed_hosts: loopback.to_vec(),
            allowed_origins: origins.map(str::to_owned).to_vec(),
            request_body_bytes: 4 * 1024 * 1024,
            session_idle: Duration::from_secs(30 * 60),
            drain: Duration::from_secs(10),
        }
    }
}

/// How often silent sessions are looked for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(30);
/// How long connections may take to end once their calls have.
const CLOSING: Duration = Duration::from_secs(2);

type Rmcp = StreamableHttpService<Handler, LocalSessionManager>;

#[derive(Clone)]
struct Front(Arc<Inner>);

struct Inner {
    server: Arc<Server>,
    rmcp: Rmcp,
    manager: Arc<LocalSessionManager>,
    sessions: Arc<Sessions>,
    body_bytes: usize,
    /// Counts the calls under way.
    calls: TaskTracker,
}

/// Serves `/mcp`, and the routes given beside it, until `shutdown` fires; then lets the calls
/// under way finish.
pub async fn serve_http(
    server: Arc<Server>,
    listener: TcpListener,
    endpoint: HttpEndpoint,
    routes: Router,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let streams = CancellationToken::new();
    let front = Front::new(server, &endpoint, streams.clone());
    let inner = front.0.clone();
    let app = Router::new().route("/mcp", axum::routing::any(Front::handle)).with_state(front);
    let app = app.merge(routes).layer(axum::middleware::from_fn_with_state(
        Arc::new(endpoint.clone()),
        super::guard::check,
    ));
    // Without it, a small answer waits for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
    });
    let expiry = tokio::spawn(expire(inner.clone(), endpoint.session_idle));
    let stopped = shutdown.clone();
    let serving = axum::serve(listener, app).with_graceful_shutdown(stopped.cancelled_owned());
    let mut serving = std::pin::pin!(serving.into_future());
    tokio::select! {
        result = &mut serving => return result,
        () = shutdown.cancelled() => {}
    }
    inner.calls.close();
    let finished = async {
        tokio::select! {
            result = &mut serving => Some(result),
            () = inner.calls.wait() => None,
        }
    };
    let finished = tokio::time::timeout(endpoint.drain, finished).await;
    streams.cancel();
    expiry.abort();
    match finished {
        Ok(Some(result)) => result,
        _ => tokio::time::timeout(CLOSING, serving).await.unwrap_or(Ok(())),
    }
}

async fn expire(inner: Arc<Inner>, idle: Duration) {
    loop {
        tokio::time::sleep(EXPIRY_INTERVAL.min(idle)).await;
        for id in inner.sessions.expire(idle) {
            inner.close_session(id).await;
        }
    }
}

impl Inner {
    async fn close_session(&self, id: String) {
        if let Err(error) = self.manager.close_session(&id.into()).await {
            tracing::debug!(%error, "a session was closed already");
        }
    }
}

impl Front {
    fn new(server: Arc<Server>, endpoint: &HttpEndpoint, streams: CancellationToken) -> Self {
        let mut manager = LocalSessionManager::default();
        // Calls that go past rmcp do not count as use for it, so sessions are expired here.
        manager.session_config.keep_alive = None;
        let manager = Arc::new(manager);
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_max_request_body_bytes(endpoint.request_body_bytes)
            .with_cancellation_token(streams);
        let factory = {
            let server = server.clone();
            move || Ok(Handler::new(server.clone()))
        };
        let rmcp = StreamableHttpService::new(factory, manager.clone(), config);
        Self(Arc::new(Inner {
            server,
            rmcp,
            manager,
            sessions: Arc::default(),
            body_bytes: endpoint.request_body_bytes,
            calls: TaskTracker::new(),
        }))
    }

    async fn handle(State(front): State<Self>, request: Request<Body>) -> Response<Body> {
        match *request.method() {
            Method::POST => front.post(request).await,
            Method::GET => front.listen(request).await,
            Method::DELETE => front.delete(request).await,
            _ => front.pass_on(request).await,
        }
    }

    async fn post(&self, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let body = match Limited::new(body, self.0.body_bytes).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return unread(error.as_ref(), self.0.body_bytes),
        };
        let mut client = None;
        match front::read(&parts.headers, &body) {
            Post::Request(request) => {
                if let Some(response) = self.answer(request).await {
                    return response;
                }
            }
            Post::Cancel { session, call } => {
                if self.0.sessions.cancel(session, call) {
                    return status(StatusCode::ACCEPTED);
                }
            }
            Post::Initialize { client: name } => client = Some(name.map(String::from)),
            Post::Other => {}
        }
        let request = Request::from_parts(parts, Body::from(body));
        let response = self.pass_on(request).await;
        if let (Some(name), Some(id)) = (client, session_id(response.headers())) {
            let principal = self.0.server.principal(name.as_deref());
            match self.0.sessions.open(id, principal) {
                Ok(None) => {}
                Ok(Some(crowded)) => self.0.close_session(crowded).await,
                Err(Full) => {
                    self.0.close_session(id.to_owned()).await;
                    return full();
                }
            }
        }
        response
    }

    /// Answers a request the short way; nothing when its session is not known.
    async fn answer(&self, request: front::Request<'_>) -> Option<Response<Body>> {
        let inner = &self.0;
        let (principal, shape, session) = match request.sender {
            Sender::Session(id) => (inner.sessions.principal(id)?, Shape::Handshake, Some(id)),
            Sender::Stateless { client } => {
                (inner.server.principal(client.as_deref()), Shape::Stateless, None)
            }
        };
        let (name, arguments) = match request.asks {
            Asks::ListTools => {
                let result = inner.server.list_tools(principal, shape);
                return Some(json(envelope(request.id, &result)));
            }
            Asks::CallTool { name, arguments } => (name, arguments),
        };
        let in_call = session.map(|session| inner.sessions.begin(session, request.id.get()));
        let cancel = in_call.as_ref().map_or_else(CancellationToken::new, |c| c.cancel.clone());
        let trace = TraceContext {
            traceparent: request.meta.traceparent.map(String::from),
            tracestate: request.meta.tracestate.map(String::from),
        };
        let Some(token) = request.meta.progress_token else {
            let caller =
                Caller { events: EventSink::none(), peer: Arc::new(NoPeer), cancel, trace };
            let call = inner.server.call_tool(principal, &name, arguments, caller, shape);
            let result = inner.calls.track_future(call).await;
            return Some(json(envelope(request.id, &result)));
        };
        let (events, progress) = mpsc::channel(PROGRESS_QUEUE);
        let events = EventSink::new(events);
        let caller = Caller { events, peer: Arc::new(NoPeer), cancel, trace };
        let call = CallWithProgress {
            server: inner.server.clone(),
            principal,
            shape,
            id: request.id.to_owned(),
            name: name.into_owned(),
            arguments: arguments.to_owned(),
        };
        let call = inner.calls.track_future(async move {
            let result = call.run(caller).await;
            drop(in_call);
            result
        });
        Some(with_progress(call, progress, token.to_owned()).await)
    }

    /// Opens a stream of notices. The session is not silent while its client holds it.
    async fn listen(&self, request: Request<Body>) -> Response<Body> {
        let session = session_id(request.headers()).map(str::to_owned);
        let response = self.pass_on(request).await;
        let Some(session) = session.filter(|_| response.status().is_success()) else {
            return response;
        };
        let listening = self.0.sessions.listen(&session);
        let (parts, body) = response.into_parts();
        let chunks = body.into_data_stream().map(move |chunk| {
            let _held = &listening;
            chunk
        });
        Response::from_parts(parts, Body::from_stream(chunks))
    }

    async fn delete(&self, request: Request<Body>) -> Response<Body> {
        if let Some(id) = session_id(request.headers()) {
            self.0.sessions.close(id);
        }
        self.pass_on(request).await
    }

    async fn pass_on(&self, request: Request<Body>) -> Response<Body> {
        self.0.rmcp.handle(request).await.map(Body::new)
    }
}

/// A call that owns all it needs, because its answer may become a stream that outlives the
/// request's own scope.
struct CallWithProgress {
    server: Arc<Server>,
    principal: Arc<Principal>,
    shape: Shape,
    id: Box<RawValue>,
    name: String,
    arguments: Box<RawValue>,
}

impl CallWithProgress {
    /// The whole answer.
    async fn run(self, caller: Caller) -> String {
        let Self { server, principal, shape, id, name, arguments } = self;
        let result = server.call_tool(principal, &name, &arguments, caller, shape).await;
        envelope(&id, &result)
    }
}

/// Answers as plain JSON when the result comes first, else as a stream of events.
async fn with_progress(
    call: impl Future<Output = String> + Send + 'static,
    mut progress: mpsc::Receiver<Event>,
    token: Box<RawValue>,
) -> Response<Body> {
    let mut call = Box::pin(call);
    let first = tokio::select! {
        biased;
        Some(event) = progress.recv() => notice(&token, &event),
        answer = &mut call => return json(answer),
    };
    let (sender, receiver) = mpsc::channel::<String>(PROGRESS_QUEUE);
    let relay = async move {
        let mut next = Some(first);
        loop {
            if let Some(message) = next.take()
                && sender.send(message).await.is_err()
            {
                return;
            }
            tokio::select! {
                biased;
                Some(event) = progress.recv() => next = Some(notice(&token, &event)),
                answer = &mut call => {
                    let _ = sender.send(answer).await;
                    return;
                }
            }
        }
    };
    // The relay lives inside the body, so that a client that goes away ends the call.
    let relay = futures::stream::once(relay).filter_map(async |()| None);
    let messages = futures::stream::unfold(receiver, async |mut receiver| {
        receiver.recv().await.map(|message| (message, receiver))
    });
    let events = futures::stream::select(relay, messages)
        .map(|message| Ok::<_, Infallible>(Bytes::from(format!("data: {message}\n\n"))));
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// A progress notification as the source worded it, under the client's own token.
fn notice(token: &RawValue, event: &Event) -> String {
    let Event::Progress(params) = event;
    let mut params: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(params.get()).unwrap_or_default();
    let token = serde_json::from_str(token.get()).unwrap_or_default();
    params.insert("progressToken".to_owned(), token);
    let params = serde_json::Value::Object(params);
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#)
}

fn envelope(id: &RawValue, result: &str) -> String {
    let id = id.get();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

fn json(text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

fn full() -> Response<Body> {
    let text =
        "as many sessions are open as the gateway keeps, and all are in use; try again later";
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

fn unread(error: &(dyn std::error::Error + 'static), limit: usize) -> Response<Body> {
    if error.is::<LengthLimitError>() {
        let text = format!("the request has more than {limit} bytes");
        let mut response = Response::new(Body::from(text));
        *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        return response;
    }
    status(StatusCode::BAD_REQUEST)
}

fn session_id(headers: &::http::HeaderMap) -> Option<&str> {
    headers.get(&SESSION_ID)?.to_str().ok()
}
