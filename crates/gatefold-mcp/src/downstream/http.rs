//! Streamable HTTP: one endpoint for both eras of the protocol, and for every audience of the gateway.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ::http::{HeaderMap, Method, Request, Response, StatusCode};
use axum::body::Body;
use axum::extract::{ConnectInfo, Path, State};
use axum::routing::any;
use axum::{Extension, Router};
use futures::stream::unfold;
use gatefold_core::{AgentId, Domain, Principal};
use gatefold_exchange::{Audience, Scope, UnknownDisclosure};
use gatefold_http::{
    AuthenticationLayer, HttpEndpoint, RequestBodies, RequiredCaller, Routes, ServedApp,
    SharedEndpoint, serve,
};
use percent_encoding::percent_decode_str;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::callers::is_same_caller;
use super::client::Client;
use super::listening::ListenStream;
use super::message::ClientRequest;
use super::notices::{NoticeFeed, WantedLists};
use super::replays::{ReplayReader, Retention};
use super::server::Server;
use super::sessions::{ClientSession, Sessions};
use super::streams::{Event, REFUSALS, empty, json, stream, turned_away};
use crate::path::GatewayLoop;
use crate::protocol::headers::{LAST_EVENT_ID, SESSION_ID};
use crate::protocol::{Era, RpcError, rpc};
use headers::{RefusedResponse, accepts, not_allowed, refused, session_id};

mod headers;
mod posts;

/// How often silent sessions are looked for.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(30);
/// How long connections may take to end after their calls.
const CLOSING: Duration = Duration::from_secs(2);

/// What a request's address is for.
enum Entrance {
    Scope(Scope),
    Agent(AgentId),
}

/// Who makes a request, and which part of the gateway it is for.
struct Access {
    principal: Arc<Principal>,
    audience: Audience,
    /// Where it comes from.
    address: Option<IpAddr>,
}

#[derive(Clone)]
struct Endpoint(Arc<EndpointState>);

struct EndpointState {
    server: Arc<Server>,
    sessions: Arc<Sessions>,
    retention: Retention,
    bodies: Arc<RequestBodies>,
    /// Counts the running requests.
    requests: TaskTracker,
    /// Fires when streams of notices must end.
    end: CancellationToken,
    /// Fires when requests had time to finish.
    stopped: CancellationToken,
}

/// Serves `/mcp`, `/mcp/source/{domain}`, `/mcp/agent/{agent}` and the additional routes until `shutdown` fires; then
/// lets running calls finish. All pass the endpoint's authenticator but the routes that are declared public. The
/// handlers of added routes find a [`SharedEndpoint`] among a request's extensions.
pub async fn serve_http(
    server: Arc<Server>,
    listener: TcpListener,
    endpoint: HttpEndpoint,
    routes: impl Into<Routes>,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let inner = Arc::new(EndpointState {
        sessions: server.sessions.clone(),
        server,
        retention: Retention::for_sessions(endpoint.session_idle),
        bodies: Arc::new(RequestBodies::new(&endpoint)),
        requests: TaskTracker::new(),
        end: CancellationToken::new(),
        stopped: CancellationToken::new(),
    });
    let authenticator = endpoint.authenticator.clone();
    let layer = AuthenticationLayer::new(authenticator, RequiredCaller::Principal, REFUSALS);
    let routes = routes.into().into_router(&endpoint.authenticator);
    let (bodies, requests) = (inner.bodies.clone(), inner.requests.clone());
    let routes = routes.layer(Extension(SharedEndpoint { bodies, requests }));
    let app = ServedApp {
        router: own_routes(inner.clone()).route_layer(layer).merge(routes),
        refusals: REFUSALS,
        exposed_headers: vec![SESSION_ID],
    };
    let expiry = tokio::spawn(expire(inner.sessions.clone(), endpoint.session_idle));
    let _expiry = AbortOnDropHandle::new(expiry);
    let serving = serve(listener, app, &endpoint, &shutdown);
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = shutdown.cancelled() => {}
    }
    inner.end.cancel();
    inner.requests.close();
    let finished = async {
        tokio::select! {
            () = &mut serving => true,
            () = inner.requests.wait() => false,
        }
    };
    let finished = timeout(endpoint.drain, finished).await;
    if finished.is_err() {
        // Whoever still waits is told, instead of finding the stream ended.
        inner.stopped.cancel();
        let _ = timeout(CLOSING, inner.requests.wait()).await;
    }
    inner.sessions.clear();
    if !matches!(finished, Ok(true)) {
        let _ = timeout(CLOSING, serving).await;
    }
    Ok(())
}

fn own_routes(state: Arc<EndpointState>) -> Router {
    Router::new()
        .route("/mcp", any(of_everything))
        .route("/mcp/", any(of_everything))
        .route("/mcp/source/{domain}", any(of_one_source))
        .route("/mcp/source/{domain}/", any(of_one_source))
        .route("/mcp/agent/{agent}", any(of_one_agent))
        .route("/mcp/agent/{agent}/", any(of_one_agent))
        .with_state(Endpoint(state))
}

async fn expire(sessions: Arc<Sessions>, idle: Duration) {
    loop {
        tokio::time::sleep(EXPIRY_INTERVAL.min(idle)).await;
        sessions.expire(idle);
    }
}

async fn of_everything(
    State(endpoint): State<Endpoint>,
    Extension(principal): Extension<Arc<Principal>>,
    request: Request<Body>,
) -> Response<Body> {
    endpoint.0.handle(Entrance::Scope(Scope::Everything), principal, request).await
}

async fn of_one_source(
    State(endpoint): State<Endpoint>,
    Path(domain): Path<String>,
    Extension(principal): Extension<Arc<Principal>>,
    request: Request<Body>,
) -> Response<Body> {
    match Domain::parse(&domain) {
        Ok(domain) => {
            endpoint.0.handle(Entrance::Scope(Scope::Source(domain)), principal, request).await
        }
        Err(_) => no_such_source(),
    }
}

async fn of_one_agent(
    State(endpoint): State<Endpoint>,
    Path(agent): Path<String>,
    Extension(principal): Extension<Arc<Principal>>,
    request: Request<Body>,
) -> Response<Body> {
    endpoint.0.handle(Entrance::Agent(AgentId::new(agent)), principal, request).await
}

impl EndpointState {
    async fn handle(
        self: &Arc<Self>,
        entrance: Entrance,
        principal: Arc<Principal>,
        request: Request<Body>,
    ) -> Response<Body> {
        let (parts, body) = request.into_parts();
        if let Err(GatewayLoop) = self.server.path.enter(&parts.headers) {
            return turned_away(StatusCode::LOOP_DETECTED, GatewayLoop::REASON);
        }
        let asked = AskedSurface::of(parts.uri.query());
        let (principal, audience) = match self.entered(entrance, principal, asked) {
            Ok(entered) => entered,
            Err(refused) => return *refused,
        };
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
        let access = Access { principal, audience, address };
        match parts.method {
            Method::POST => self.post(access, parts, body).await,
            Method::GET => self.get(access, &parts.headers),
            Method::DELETE => self.delete(&access, &parts.headers),
            _ => not_allowed(),
        }
    }

    /// Who asks, and for which part of the gateway.
    fn entered(
        &self,
        entrance: Entrance,
        principal: Arc<Principal>,
        asked: AskedSurface<'_>,
    ) -> Result<(Arc<Principal>, Audience), RefusedResponse> {
        let AskedSurface { disclosure, is_told_all, request } = asked;
        let told = |audience: Audience| {
            let audience = if is_told_all { audience.told_all() } else { audience };
            match &request {
                Some(request) => audience.for_request(request),
                None => audience,
            }
        };
        let unknown = |error: UnknownDisclosure| {
            Box::new(turned_away(StatusCode::BAD_REQUEST, error.to_string()))
        };
        match entrance {
            // What an agent may not do is a rule about the agents of the configuration, which its
            // address looks up.
            Entrance::Scope(_) if is_agents_own(&principal) => Err(Box::new(of_its_agent_only())),
            // A source that this principal may not see must look like one that does not exist.
            Entrance::Scope(Scope::Source(domain)) if !self.server.shows(&principal, &domain) => {
                Err(Box::new(no_such_source()))
            }
            Entrance::Scope(scope) => {
                let audience = self.server.audience(scope, disclosure).map_err(unknown)?;
                Ok((principal, told(audience)))
            }
            Entrance::Agent(agent) => {
                // Whoever is an agent already does not become another one.
                let acting =
                    principal.acting_as(&agent).ok_or_else(|| Box::new(no_such_agent()))?;
                // One that this principal does not find must look like one that does not exist.
                let audience = self.server.agent_audience(&agent, disclosure);
                let audience = audience.filter(|_| self.server.shows_agent(&principal, &agent));
                let audience =
                    audience.ok_or_else(|| Box::new(no_such_agent()))?.map_err(unknown)?;
                Ok((Arc::new(acting), told(audience)))
            }
        }
    }

    /// Opens a stream of notices in the stateless era.
    async fn listen(
        &self,
        audience: Audience,
        client: &Client,
        request: ClientRequest,
    ) -> Response<Body> {
        let ClientRequest { id, params, .. } = request;
        let server = self.server.clone();
        let filter = params.notifications.unwrap_or_default();
        let end = self.end.clone();
        match ListenStream::open(server, audience, client, id.clone(), filter, end).await {
            Ok(listening) => stream(unfold(listening, async |mut listening| {
                Some((Event::once(listening.next().await?), listening))
            })),
            Err(error) => refused(Some(&id), &error, Era::Stateless),
        }
    }

    /// Opens a session's stream of notices. The session does not count as silent while its client
    /// holds it.
    fn get(self: &Arc<Self>, access: Access, headers: &HeaderMap) -> Response<Body> {
        if session_id(headers).is_none() {
            return not_allowed();
        }
        if !accepts(headers, "text/event-stream") {
            return turned_away(
                StatusCode::NOT_ACCEPTABLE,
                "a stream of notices is text/event-stream",
            );
        }
        let session = match self.session(&access, headers) {
            Ok(session) => session,
            Err(refused) => return *refused,
        };
        if let Some(event) = headers.get(&LAST_EVENT_ID) {
            let reader = event.to_str().ok().and_then(|event| session.replays.resume(event));
            let Some(reader) = reader else {
                let error = RpcError::invalid_request("nothing is kept that follows this event");
                return refused(None, &error, Era::Handshake);
            };
            return resumable(reader);
        }
        let server = self.server.clone();
        let Access { principal, audience, .. } = access;
        let audience = server.for_client(&audience, session.client.as_ref());
        let audience = session.audience_of(audience);
        let subscriptions = session.subscriptions.clone();
        let notices =
            NoticeFeed::new(server, audience, principal, WantedLists::ALL, subscriptions, None);
        let (held, end) = (session.listen(), self.end.clone());
        stream(unfold((notices, held, session, end), async |mut state| {
            let (notices, held, session, end) = &mut state;
            let next = tokio::select! {
                biased;
                () = end.cancelled() => None,
                () = session.closed.cancelled() => None,
                () = held.replaced.cancelled() => None,
                next = notices.next() => next,
            };
            Some((Event::once(next?), state))
        }))
    }

    fn delete(&self, access: &Access, headers: &HeaderMap) -> Response<Body> {
        if session_id(headers).is_none() {
            return not_allowed();
        }
        match (self.session(access, headers), session_id(headers)) {
            (Ok(_), Some(id)) => {
                self.sessions.close(id);
                empty(StatusCode::NO_CONTENT)
            }
            (Err(refused), _) => *refused,
            (Ok(_), None) => not_allowed(),
        }
    }

    /// The session that a request names. It belongs to one principal and one audience; to any other
    /// it does not exist.
    fn session(
        &self,
        access: &Access,
        headers: &HeaderMap,
    ) -> Result<Arc<ClientSession>, RefusedResponse> {
        let Some(id) = session_id(headers) else {
            let text = "the request names no session: begin with `initialize` and send its \
                        `Mcp-Session-Id`, or send `_meta` of version 2026-07-28";
            let error = RpcError::invalid_request(text);
            return Err(Box::new(refused(None, &error, Era::Handshake)));
        };
        let is_own = |session: &ClientSession| {
            session.audience.is_asked_for_as(&access.audience)
                && is_same_caller(&session.principal, &access.principal)
        };
        let session = self.sessions.get(id, is_own);
        session.ok_or_else(|| {
            let error =
                RpcError::invalid_request("there is no such session (any more): `initialize` anew");
            Box::new(json(StatusCode::NOT_FOUND, rpc::refusal(None, &error)))
        })
    }
}

fn no_such_source() -> Response<Body> {
    turned_away(StatusCode::NOT_FOUND, "there is no such source")
}

/// Whether a token is good for one agent only.
fn is_agents_own(principal: &Principal) -> bool {
    principal.token.is_some() && principal.agent.is_some()
}

fn of_its_agent_only() -> Response<Body> {
    let text = "this token is an agent's: it is good for `/mcp/agent/NAME` of its agent alone";
    turned_away(StatusCode::FORBIDDEN, text)
}

fn no_such_agent() -> Response<Body> {
    turned_away(StatusCode::NOT_FOUND, "there is no such agent")
}

/// What the query of a request's address asks for, such as `disclosure=flat`.
struct AskedSurface<'a> {
    disclosure: Option<&'a str>,
    /// Whether the client takes instructions of any length.
    is_told_all: bool,
    /// What the model is asked to do.
    request: Option<String>,
}

impl<'a> AskedSurface<'a> {
    fn of(query: Option<&'a str>) -> Self {
        let value = |wanted: &str| {
            let mut parts = query?.split('&').filter_map(|part| part.split_once('='));
            parts.find(|(key, _)| *key == wanted).map(|(_, value)| value)
        };
        Self {
            disclosure: value("disclosure"),
            is_told_all: value("instructions") == Some("full"),
            request: value("for").map(decoded).filter(|request| !request.trim().is_empty()),
        }
    }
}

fn resumable(reader: ReplayReader) -> Response<Body> {
    stream(unfold(reader, async |mut reader| Some((reader.next().await?, reader))))
}

/// A value of a query: `+` is a space, and `%` begins a byte.
fn decoded(value: &str) -> String {
    let spaced = value.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}
