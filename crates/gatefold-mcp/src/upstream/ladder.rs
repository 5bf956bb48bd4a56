//! From a configuration to an open session, whichever era the server speaks.
//!
//! A server whose era is not known is asked for `server/discover` first. A handshake-era server may
//! refuse it, ignore it or die of it. If it refuses or ignores it, `initialize` is sent on the same
//! connection: a process that is merely slow to start is not started twice, and a late answer
//! cannot be mistaken for another, because every request on a connection has its own id. If the
//! server was late with the first request and refuses the second, the first is sent again. If it
//! died, it is started once more. What worked is tried first the next time.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{AnswerFault, BoxError, Domain, UpstreamIdentity};
use gatefold_dispatch::{CredentialSet, Credentials};
use gatefold_egress::HttpClient;
use gatefold_secrecy::KnownSecrets;
use reqwest::Url;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::TaskTracker;

use super::containers::ContainerNotes;
use super::credentials::CredentialHeaders;
use super::handshake::{self, Greeting, GreetingError};
use super::http::HttpWire;
use super::log_budget::LogBudget;
use super::notices::ServerNotices;
use super::package_runner::PackageName;
use super::process;
use super::request::WireError;
use super::roots::SoleClient;
use super::session::UpstreamSession;
use super::settings::{HttpSettings, McpSettings, StdioSettings, Transport};
use super::starts::{StartPlaces, StartTicket};
use super::stdio::StdioWire;
use super::wire::Wire;
use crate::path::GatewayPath;
use crate::protocol::Era;

/// Why no session could be opened. The text is for the operator of the gateway.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct ConnectError {
    pub(crate) reason: String,
    /// What a local server wrote to its standard error last.
    pub(crate) last_lines: Vec<String>,
    /// Whether its time ran out.
    pub(crate) is_late: bool,
    pub(crate) lack: ConnectLack,
    /// What it answered instead of a greeting, if it answered.
    pub(crate) fault: Option<AnswerFault>,
    /// How long it wants to be left alone, if it says so.
    pub(crate) retry_after: Option<Duration>,
    #[source]
    source: Option<BoxError>,
}

/// What was missing for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectLack {
    /// An answer of the server, or one that can be used.
    Answer,
    /// Credentials, so the server was not asked. Whoever gives them sets the pace of further tries.
    Credentials,
    /// Somebody who signs in. To try again does not help.
    SignIn,
    /// A handshake, at a server that speaks the stateless era. Its other session serves the call.
    Handshake,
}

impl ConnectError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        let (reason, lack) = (reason.into(), ConnectLack::Answer);
        Self {
            reason,
            last_lines: Vec::new(),
            is_late: false,
            lack,
            fault: None,
            retry_after: None,
            source: None,
        }
    }
}

/// The share of the connect deadline that an unknown server has to answer `server/discover`.
const DISCOVER_SHARE: u32 = 3;

/// The share of the connect deadline for which a start keeps its place exclusively.
const HELD_SHARE: u32 = 2;

/// How long an install keeps its place exclusively. One that takes longer is idle most of
/// the time.
const INSTALL_HELD: Duration = Duration::from_mins(1);

/// When the log first says that a download is still running. Each later interval is twice as long.
const FIRST_NOTE: Duration = Duration::from_secs(5);

/// What to do about a start that took too long.
const CONNECT_FIX: &str =
    "a first start may have to download, so try again or raise its `connect_deadline`";
const INSTALL_FIX: &str = "if it was still downloading then, raise its `install_deadline`";

/// Who a connection is for, and what it needs.
pub(crate) struct ConnectContext<'a> {
    pub(crate) client: &'a HttpClient,
    pub(crate) path: &'a Arc<GatewayPath>,
    pub(crate) credentials: &'a Arc<dyn Credentials>,
    /// The headers that the configuration gives.
    pub(crate) configured: &'a CredentialSet,
    /// Secrets that are masked in everything the server says.
    pub(crate) secrets: &'a Arc<KnownSecrets>,
    pub(crate) log: &'a Arc<LogBudget>,
    pub(crate) identity: &'a UpstreamIdentity,
    /// The era that the server spoke last.
    pub(crate) known: Option<Era>,
    /// The era to speak, where there is no choice left.
    pub(crate) only: Option<Era>,
    /// The only client, if there is one.
    pub(crate) sole_client: &'a SoleClient,
    pub(crate) notices: ServerNotices,
    /// Whether it has started successfully before, so that nothing is left to download.
    pub(crate) is_installed: bool,
    pub(crate) starts: &'a StartPlaces,
    pub(crate) ticket: &'a StartTicket,
    /// Where the tasks go that end the child processes.
    pub(crate) children: &'a TaskTracker,
    /// Where the containers are noted that they start.
    pub(crate) containers: Option<&'a Arc<dyn ContainerNotes>>,
}

pub(crate) async fn connect(
    settings: &McpSettings,
    context: ConnectContext<'_>,
) -> Result<UpstreamSession, ConnectError> {
    let (domain, within) = (&settings.domain, settings.connect_deadline);
    let ladder = EraLadder { domain, within, limit: within, is_install: false, context };
    let session = match &settings.transport {
        Transport::Stdio(stdio) => ladder.local(stdio, settings.install_deadline).await,
        Transport::Http(http) => ladder.http(http).await,
        Transport::Disabled => Err(ConnectError::new("it is disabled in the configuration")),
        Transport::Unusable(reason) => Err(ConnectError::new(reason.clone())),
    }?;
    if session.era() == Era::Handshake {
        session.notices.roots.await_first().await;
    }
    Ok(session)
}

/// One attempt to connect, era by era.
struct EraLadder<'a> {
    domain: &'a Domain,
    /// The connect deadline.
    within: Duration,
    /// The time limit that applies: longer than `within` while it may download.
    limit: Duration,
    /// Whether it may have to download something first.
    is_install: bool,
    context: ConnectContext<'a>,
}

impl EraLadder<'_> {
    /// Starts a local server once there is a place for it. Its time counts from then on.
    ///
    /// A first start through a package runner may take as long as an install. A runner that is
    /// killed during a download leaves locks and half-filled folders behind, which break its next
    /// start and those of other programs.
    async fn local(
        mut self,
        settings: &StdioSettings,
        install_deadline: Duration,
    ) -> Result<UpstreamSession, ConnectError> {
        let (starts, ticket) = (self.context.starts, self.context.ticket);
        let package = if self.context.is_installed { None } else { PackageName::of(settings) };
        let Some(package) = package else {
            let place = starts.take(ticket).await;
            return place.hold(self.within / HELD_SHARE, Box::pin(self.stdio(settings))).await;
        };
        let (_turn, place) = starts.take_install(&package).await;
        ticket.begin_install();
        (self.limit, self.is_install) = (install_deadline.max(self.within), true);
        place.hold(INSTALL_HELD, self.noted(Box::pin(self.stdio(settings)))).await
    }

    /// Logs now and then that a download is still running.
    async fn noted<T>(&self, install: impl Future<Output = T>) -> T {
        let mut install = pin!(install);
        let mut pause = FIRST_NOTE;
        loop {
            if let Ok(result) = timeout(pause, &mut install).await {
                return result;
            }
            let took = self.context.ticket.downloading().unwrap_or_default().as_secs();
            tracing::info!(domain = %self.domain, "downloading, {took} s");
            pause = pause.saturating_mul(2);
        }
    }

    async fn stdio(&self, settings: &StdioSettings) -> Result<UpstreamSession, ConnectError> {
        let deadline = Instant::now() + self.limit;
        let mut wire = self.start(settings, deadline).await?;
        if let Some(era) = self.context.only {
            let session = self.greet_stdio(&wire, era, deadline).await;
            return session.map_err(|refusal| self.failed_on(&wire, refusal));
        }
        if self.context.known == Some(Era::Handshake) {
            let refusal = match self.greet_stdio(&wire, Era::Handshake, deadline).await {
                Ok(session) => return Ok(session),
                Err(refusal) => refusal,
            };
            // It may have been updated since, and no longer speak its old era.
            let session = match refusal {
                GreetingError::Refused(_) => {
                    self.greet_stdio(&wire, Era::Stateless, deadline).await
                }
                _ if wire.ended().is_some() && Instant::now() < deadline => {
                    let ended = wire;
                    wire = self.start(settings, deadline).await?;
                    let session = self.greet_stdio(&wire, Era::Stateless, deadline).await;
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
        let refusal = match self.greet_stdio(&wire, Era::Stateless, discover_deadline).await {
            Ok(session) => return Ok(self.in_clients_era(session, &wire, deadline).await),
            Err(refusal) => refusal,
        };
        tracing::debug!(domain = %self.domain, ?refusal, "`server/discover` failed");
        if wire.ended().is_some() {
            wire = self.start(settings, deadline).await?;
        }
        let mut session = self.greet_stdio(&wire, Era::Handshake, deadline).await;
        let has_died = session.is_err() && wire.ended().is_some() && Instant::now() < deadline;
        if has_died && matches!(refusal, GreetingError::Late) {
            // It was slow to start, and died of the first request, which had timed out by then.
            wire = self.start(settings, deadline).await?;
            session = self.greet_stdio(&wire, Era::Handshake, deadline).await;
        }
        match (refusal, session) {
            // It was slow to start, read the first request before this one, and sticks to that era.
            (GreetingError::Late, Err(GreetingError::Refused(_))) => {
                self.greet_stdio(&wire, Era::Stateless, deadline).await
            }
            (_, session) => session,
        }
        .map_err(|refusal| self.failed_on(&wire, refusal))
    }

    /// Greets a server again that says that it speaks both eras, if the only client is of the handshake
    /// era. The server is only started, not asked for anything, so it may still choose.
    async fn in_clients_era(
        &self,
        session: UpstreamSession,
        wire: &Arc<StdioWire>,
        deadline: Instant,
    ) -> UpstreamSession {
        if !session.greeting.names_handshake || !self.context.sole_client.has_session() {
            return session;
        }
        let again = self.greet_stdio(wire, Era::Handshake, deadline).await;
        // The caller finds out about a server that has ended.
        again.unwrap_or(session)
    }

    async fn start(
        &self,
        settings: &StdioSettings,
        deadline: Instant,
    ) -> Result<Arc<StdioWire>, ConnectError> {
        // Closing the source waits for this task. A start that is cancelled halfway would leave a
        // child process behind that nobody knows of.
        let (own, domain) = (settings.clone(), self.domain.clone());
        let notes = self.context.containers.cloned();
        let starting = async move { process::spawn_source(&own, &domain, notes).await };
        let starting = self.context.children.spawn(starting);
        let spawned = timeout_at(deadline, starting).await;
        let spawned = spawned.map_err(|_| self.failed(GreetingError::Late))?;
        let spawned = spawned.unwrap_or_else(|ended| Err(std::io::Error::other(ended)));
        let spawned = spawned.map_err(|error| {
            let told = ConnectError::new(start_hint(settings, &error));
            ConnectError { source: Some(error.into()), ..told }
        })?;
        Ok(StdioWire::new(
            self.domain.clone(),
            spawned,
            self.context.notices.clone(),
            self.context.secrets.clone(),
            self.context.log.clone(),
            self.context.children,
        ))
    }

    async fn greet_stdio(
        &self,
        wire: &Arc<StdioWire>,
        era: Era,
        deadline: Instant,
    ) -> Result<UpstreamSession, GreetingError> {
        self.greet(Wire::Stdio(wire.clone()), era, deadline).await
    }

    async fn greet(
        &self,
        wire: Wire,
        era: Era,
        deadline: Instant,
    ) -> Result<UpstreamSession, GreetingError> {
        let roots = &self.context.notices.roots;
        let greeting = timeout_at(deadline, handshake::greet(&wire, era, roots)).await;
        let greeting: Greeting = greeting.unwrap_or(Err(GreetingError::Late))?;
        Ok(UpstreamSession::new(wire, greeting, self.context.notices.clone()))
    }

    async fn http(&self, settings: &HttpSettings) -> Result<UpstreamSession, ConnectError> {
        let deadline = Instant::now() + self.within;
        if let Some(era) = self.context.only {
            let session = self.http_in(era, settings, deadline).await;
            return session.map_err(|refusal| self.failed(refusal));
        }
        let (first, second) = match self.context.known {
            Some(Era::Handshake) => (Era::Handshake, Era::Stateless),
            _ => (Era::Stateless, Era::Handshake),
        };
        let first_deadline = Instant::now() + self.within / 2;
        match self.http_in(first, settings, first_deadline).await {
            Ok(session) => return Ok(session),
            // The other era would be refused for the same reason.
            Err(refusal @ GreetingError::Wire(WireError::NeedsSignIn(_))) => {
                return Err(self.failed(refusal));
            }
            Err(refusal) => {
                tracing::debug!(domain = %self.domain, ?first, ?refusal, "an era was refused");
            }
        }
        let session = self.http_in(second, settings, deadline).await;
        session.map_err(|refusal| self.failed(refusal))
    }

    async fn http_in(
        &self,
        era: Era,
        settings: &HttpSettings,
        deadline: Instant,
    ) -> Result<UpstreamSession, GreetingError> {
        let ConnectContext { client, path, credentials, configured, identity, notices, .. } =
            &self.context;
        let (domain, identity) = (self.domain.clone(), (*identity).clone());
        let (port, configured) = ((*credentials).clone(), (*configured).clone());
        let (transport, secrets) =
            (Transport::Http(settings.clone()), self.context.secrets.clone());
        let headers =
            CredentialHeaders::new(port, configured, transport, secrets, domain.clone(), identity);
        let (client, path, notices) = ((*client).clone(), (*path).clone(), notices.clone());
        let url = settings.url.parse::<Url>().map_err(|error| {
            let reason = format!("its URL cannot be read: {error}");
            GreetingError::Wire(WireError::NotSent(reason))
        })?;
        let wire = HttpWire::new(domain, (client, path), url, headers, notices, era);
        let session = self.greet(Wire::Http(wire.clone()), era, deadline).await;
        if session.is_ok() {
            wire.open_stream().await;
        } else {
            // The server may have begun a session. It is told to end it, without waiting for the
            // answer.
            tokio::spawn(async move { wire.close().await });
        }
        session
    }

    /// The reason is how the server ended, if it has ended, or what it wrote instead of an answer.
    fn failed_on(&self, wire: &StdioWire, refusal: GreetingError) -> ConnectError {
        let mut error = self.failed(refusal);
        error.last_lines = wire.last_lines();
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

    fn failed(&self, refusal: GreetingError) -> ConnectError {
        let is_late = matches!(refusal, GreetingError::Late);
        let lack = match &refusal {
            GreetingError::Wire(WireError::NeedsSignIn(_)) => ConnectLack::SignIn,
            GreetingError::Wire(WireError::NoCredentials(_)) => ConnectLack::Credentials,
            _ => ConnectLack::Answer,
        };
        let (fault, retry_after) = match &refusal {
            GreetingError::Wire(WireError::Refused(status) | WireError::TurnedAway(status)) => {
                (Some(status.fault()), status.retry_after)
            }
            GreetingError::Wire(WireError::Broken(_) | WireError::TooLarge(_))
            | GreetingError::Unreadable(_) => (Some(AnswerFault::Unreadable), None),
            GreetingError::Refused(_) => (Some(AnswerFault::RefusedGreeting), None),
            GreetingError::Wire(_) | GreetingError::Late => (None, None),
        };
        let told = ConnectError::new(match refusal {
            GreetingError::Late => {
                let limit = self.limit.as_secs_f32();
                let fix = if self.is_install { INSTALL_FIX } else { CONNECT_FIX };
                format!("it did not answer within {limit} s; {fix}")
            }
            GreetingError::Refused(error) => format!("the handshake failed: {}", error.message),
            GreetingError::Unreadable(reason) => format!("the handshake failed: {reason}"),
            GreetingError::Wire(error) => error.to_string(),
        });
        ConnectError { is_late, lack, fault, retry_after, ..told }
    }
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
