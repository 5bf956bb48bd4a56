//! From a configuration to an open session, whichever era the server speaks.
//!
//! A server whose era is not known is asked for `server/discover` first. A handshake-era server
//! may refuse it, ignore it or die of it. Refused or ignored, the same connection is asked to
//! `initialize`: a process that is merely slow to start is not started twice, and a late answer
//! cannot be mistaken, because every attempt numbers its requests apart. A server that was late to
//! the first question and refuses the second is asked the first again. A server that died is
//! started once more. What worked is tried first the next time.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::{HeaderMap, HeaderName, HeaderValue};
use gatefold_catalog::ServerInfo;
use gatefold_core::{BoxError, Domain};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::TaskTracker;

use super::handler::{Handler, client_info};
use super::http::{self, HttpWire};
use super::news::News;
use super::params::ClientMeta;
use super::process;
use super::session::{Greeting, Offered, Session};
use super::settings::{HttpSettings, McpSettings, StdioSettings, Transport};
use super::stdio::StdioWire;
use super::wire::Wire;
use crate::protocol::Era;

/// Why no session could be opened. The text is for whoever runs the gateway.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct ConnectError {
    pub(crate) reason: String,
    #[source]
    source: Option<BoxError>,
}

impl ConnectError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), source: None }
    }
}

type Service = RunningService<RoleClient, Handler>;

/// The share of the connect deadline that an unknown server has to answer `server/discover`.
const DISCOVER_SHARE: u32 = 3;

/// How long a session waits for the stream that belongs to no request. Some servers say nothing until they have something to
/// say, and are not waited for any longer.
const STREAM_START: Duration = Duration::from_millis(250);
/// How long rmcp waits before it opens the stream that belongs to no request again: longer each time
/// in a row, unless the server names a time.
const STREAM_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_STREAM_PAUSE: Duration = Duration::from_secs(30);

pub(crate) async fn connect(
    settings: &McpSettings,
    client: &reqwest::Client,
    known: Option<Era>,
    news: News,
    children: &TaskTracker,
) -> Result<Session, ConnectError> {
    let within = settings.connect_deadline;
    let attempt = Attempt { domain: &settings.domain, known, within, news, children };
    match &settings.transport {
        Transport::Stdio(stdio) => attempt.stdio(stdio).await,
        Transport::Http(http) => attempt.http(http, client).await,
        Transport::Disabled => Err(ConnectError::new("it is disabled in the configuration")),
        Transport::Unusable(reason) => Err(ConnectError::new(reason.clone())),
    }
}

struct Attempt<'a> {
    domain: &'a Domain,
    known: Option<Era>,
    within: Duration,
    news: News,
    children: &'a TaskTracker,
}

impl Attempt<'_> {
    async fn stdio(&self, settings: &StdioSettings) -> Result<Session, ConnectError> {
        let deadline = Instant::now() + self.within;
        let mut wire = self.start(settings, deadline).await?;
        if self.known == Some(Era::Handshake) {
            let refusal = match self.initialize_stdio(&wire, deadline).await {
                Ok(session) => return Ok(session),
                Err(refusal) => refusal,
            };
            // It may have been updated since, and know nothing of its old era any more.
            let session = match refusal {
                Refusal::Answered(_) => self.discover_stdio(&wire, deadline).await,
                _ if wire.ended().is_some() && Instant::now() < deadline => {
                    let ended = wire;
                    wire = self.start(settings, deadline).await?;
                    let session = self.discover_stdio(&wire, deadline).await;
                    if session.is_err() {
                        wire = ended;
                    }
                    session
                }
                refusal => Err(refusal),
            };
            return session.map_err(|refusal| self.failed_on(&wire, refusal));
        }
        let discover_deadline = Instant::now() + self.within / DISCOVER_SHARE;
        let refusal = match self.discover_stdio(&wire, discover_deadline).await {
            Ok(session) => return Ok(session),
            Err(refusal) => refusal,
        };
        tracing::debug!(domain = %self.domain, ?refusal, "`server/discover` failed");
        if wire.ended().is_some() {
            wire = self.start(settings, deadline).await?;
        }
        match (refusal, self.initialize_stdio(&wire, deadline).await) {
            // Slow to wake, it read the first question before this one, and holds to that era.
            (Refusal::Late, Err(Refusal::Answered(_))) => {
                self.discover_stdio(&wire, deadline).await
            }
            (_, session) => session,
        }
        .map_err(|refusal| self.failed_on(&wire, refusal))
    }

    async fn start(
        &self,
        settings: &StdioSettings,
        deadline: Instant,
    ) -> Result<Arc<StdioWire>, ConnectError> {
        // A task that whoever closes waits for: given up in its midst, a start would leave a child
        // that nobody knows of.
        let own = settings.clone();
        let starting = self.children.spawn(async move { process::spawn(&own).await });
        let spawned = timeout_at(deadline, starting).await;
        let spawned = spawned.map_err(|_| self.failed(Refusal::Late))?;
        let spawned = spawned.unwrap_or_else(|ended| Err(std::io::Error::other(ended)));
        let spawned = spawned.map_err(|error| ConnectError {
            reason: start_hint(settings, &error),
            source: Some(error.into()),
        })?;
        Ok(StdioWire::new(self.domain.clone(), spawned, self.news.clone(), self.children))
    }

    async fn discover_stdio(
        &self,
        wire: &Arc<StdioWire>,
        deadline: Instant,
    ) -> Result<Session, Refusal> {
        let handler = Handler { era: Era::Stateless };
        let service = serve_client_with_lifecycle(handler, wire.handshake(), discover());
        let service = settled(timeout_at(deadline, service).await)?;
        Ok(self.session(Wire::Stdio(wire.clone()), service, Era::Stateless))
    }

    async fn initialize_stdio(
        &self,
        wire: &Arc<StdioWire>,
        deadline: Instant,
    ) -> Result<Session, Refusal> {
        let handler = Handler { era: Era::Handshake };
        let lifecycle = ClientLifecycleMode::Initialize;
        let service = serve_client_with_lifecycle(handler, wire.handshake(), lifecycle);
        let service = settled(timeout_at(deadline, service).await)?;
        Ok(self.session(Wire::Stdio(wire.clone()), service, Era::Handshake))
    }

    async fn http(
        &self,
        settings: &HttpSettings,
        client: &reqwest::Client,
    ) -> Result<Session, ConnectError> {
        let headers = headers(settings)?;
        let deadline = Instant::now() + self.within;
        let (first, second) = match self.known {
            Some(Era::Handshake) => (Era::Handshake, Era::Stateless),
            _ => (Era::Stateless, Era::Handshake),
        };
        let first_deadline = Instant::now() + self.within / 2;
        match self.http_in(first, settings, client, headers.clone(), first_deadline).await {
            Ok(session) => return Ok(session),
            Err(refusal) => {
                tracing::debug!(domain = %self.domain, ?first, ?refusal, "an era was refused");
            }
        }
        let session = self.http_in(second, settings, client, headers, deadline).await;
        session.map_err(|refusal| self.failed(refusal))
    }

    async fn http_in(
        &self,
        era: Era,
        settings: &HttpSettings,
        client: &reqwest::Client,
        headers: HeaderMap,
        deadline: Instant,
    ) -> Result<Session, Refusal> {
        let (domain, news) = (self.domain.clone(), self.news.clone());
        let wire = HttpWire::new(domain, client.clone(), &settings.url, headers.clone(), news);
        let mut config = StreamableHttpClientTransportConfig::with_uri(settings.url.as_str());
        config.custom_headers =
            headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        config.reinit_on_expired_session = false;
        let mut pauses = ExponentialBackoff::default();
        (pauses.base_duration, pauses.max_delay) = (STREAM_PAUSE, Some(LONGEST_STREAM_PAUSE));
        config.retry_config = Arc::new(pauses);
        let transport = StreamableHttpClientTransport::with_client(wire.tapped(), config);
        let handler = Handler { era };
        let lifecycle = match era {
            Era::Handshake => ClientLifecycleMode::Initialize,
            Era::Stateless => discover(),
        };
        let service = serve_client_with_lifecycle(handler, transport, lifecycle);
        let service = settled(timeout_at(deadline, service).await);
        let service = service.map_err(|refusal| match (refusal, wire.tap.trouble()) {
            (Refusal::Failed(_), Some(trouble)) => Refusal::Told(trouble),
            (refusal, _) => refusal,
        })?;
        wire.settle(http::Handshake {
            protocol_version: protocol_version(service.peer()),
            is_stateless: era == Era::Stateless,
        });
        if era == Era::Handshake && wire.tap.session().is_some() {
            // What a server says before this stream is open is lost.
            let _ = timeout(STREAM_START, wire.tap.stream_answered()).await;
        }
        Ok(self.session(Wire::Http(wire), service, era))
    }

    fn session(&self, wire: Wire, service: Service, era: Era) -> Session {
        let peer = service.peer();
        let info = peer.peer_info();
        let info = info.as_deref();
        let implementation = info.and_then(|info| info.server_info.as_ref());
        let protocol = protocol_version(peer);
        let capabilities = wire.capabilities().or_else(|| {
            // Over HTTP rmcp reads the answer, and keeps what it knows of it.
            info.and_then(|info| serde_json::to_string(&info.capabilities).ok())
        });
        let greeting = Greeting {
            offered: capabilities.as_deref().map(Offered::read).unwrap_or_default(),
            server: ServerInfo {
                name: implementation.map(|i| i.name.clone()).unwrap_or_default(),
                version: implementation.map(|i| i.version.clone()).unwrap_or_default(),
                title: implementation.and_then(|i| i.title.clone()),
                instructions: info.and_then(|info| info.instructions.clone()),
                protocol: protocol.clone(),
                capabilities,
            },
            client: (era == Era::Stateless)
                .then(|| ClientMeta { protocol_version: protocol, client_info: client_info() }),
        };
        Session::new(wire, greeting, self.news.clone(), service)
    }

    /// The reason is the server's end, if it has ended, or what it wrote instead of an answer.
    fn failed_on(&self, wire: &StdioWire, refusal: Refusal) -> ConnectError {
        let mut error = self.failed(refusal);
        if let Some(ended) = wire.ended() {
            error.reason = ended;
        } else if let Some(noise) = wire.noise() {
            error.reason = format!(
                "{}; it wrote lines that are not the protocol, such as: {noise}",
                error.reason
            );
        }
        error
    }

    fn failed(&self, refusal: Refusal) -> ConnectError {
        let (reason, source) = match refusal {
            Refusal::Late => {
                let reason = format!(
                    "it did not answer within {} s; a first start may have to download, so try \
                     again or raise its `connect_deadline`",
                    self.within.as_secs_f32()
                );
                (reason, None)
            }
            Refusal::Told(reason) => (reason, None),
            Refusal::Answered(error) | Refusal::Failed(error) => {
                let reason = format!("the handshake failed: {}", cause(&error));
                (reason, Some(error as BoxError))
            }
        };
        ConnectError { reason, source }
    }
}

/// How one attempt at a handshake failed.
#[derive(Debug)]
enum Refusal {
    Late,
    /// The server answered with an error, so it is there and listens.
    Answered(Box<ClientInitializeError>),
    Failed(Box<ClientInitializeError>),
    /// The same, in words of ours.
    Told(String),
}

fn settled(
    attempt: Result<Result<Service, ClientInitializeError>, tokio::time::error::Elapsed>,
) -> Result<Service, Refusal> {
    match attempt {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error @ ClientInitializeError::JsonRpcError(_))) => {
            Err(Refusal::Answered(Box::new(error)))
        }
        Ok(Err(error)) => Err(Refusal::Failed(Box::new(error))),
        Err(_) => Err(Refusal::Late),
    }
}

fn discover() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn protocol_version(peer: &Peer<RoleClient>) -> String {
    peer.peer_info().map_or_else(String::new, |info| info.protocol_version.to_string())
}

fn headers(settings: &HttpSettings) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &settings.headers {
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| ConnectError::new(format!("`{name}` is not a header's name")))?;
        // The value may be a secret, so the message does not show it.
        let mut value = HeaderValue::try_from(value.expose())
            .map_err(|_| ConnectError::new(format!("the value of header `{name}` is not legal")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn start_hint(settings: &StdioSettings, error: &std::io::Error) -> String {
    let StdioSettings { command, cwd, .. } = settings;
    if let Some(cwd) = cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return format!("its working directory `{}` was not found", cwd.display());
    }
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("`{command}` was not found; install it, or give its full path")
        }
        std::io::ErrorKind::PermissionDenied => {
            format!("`{command}` may not be run; check that it is executable")
        }
        _ => format!("`{command}` could not be started: {error}"),
    }
}

/// What lies at the bottom of an error, without rmcp's names for its own parts.
fn cause(error: &ClientInitializeError) -> String {
    let mut cause: &dyn std::error::Error = match error {
        ClientInitializeError::JsonRpcError(error) => return error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => error.error.as_ref(),
        error => error,
    };
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
