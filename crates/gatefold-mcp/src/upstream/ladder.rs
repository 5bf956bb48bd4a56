//! From a configuration to an open session, whichever era the server speaks.
//!
//! A server whose era is not known is asked for `server/discover` first. A handshake-era server
//! may refuse it, ignore it or die of it. Refused or ignored, the same connection is asked to
//! `initialize`: a process that is merely slow to start is not started twice, and a late answer
//! cannot be mistaken, because every request on a connection has an id of its own. A server that was late to
//! the first question and refuses the second is asked the first again. A server that died is
//! started once more. What worked is tried first the next time.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{BoxError, Domain, UpstreamIdentity};
use gatefold_dispatch::{CredentialSet, Credentials};
use reqwest::Url;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::TaskTracker;

use super::credentials::CredentialHeaders;
use super::handshake::{self, Greeting, GreetingError};
use super::http::HttpWire;
use super::notices::ServerNotices;
use super::process;
use super::request::WireError;
use super::session::UpstreamSession;
use super::settings::{HttpSettings, McpSettings, StdioSettings, Transport};
use super::stdio::StdioWire;
use super::wire::Wire;
use crate::protocol::Era;

/// Why no session could be opened. The text is for whoever runs the gateway.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct ConnectError {
    pub(crate) reason: String,
    /// What a local server wrote to its standard error last.
    pub(crate) last_lines: Vec<String>,
    #[source]
    source: Option<BoxError>,
}

impl ConnectError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), last_lines: Vec::new(), source: None }
    }
}

/// The share of the connect deadline that an unknown server has to answer `server/discover`.
const DISCOVER_SHARE: u32 = 3;

/// Whom a connection is for, and what it is made with.
pub(crate) struct ConnectContext<'a> {
    pub(crate) client: &'a reqwest::Client,
    pub(crate) credentials: &'a Arc<dyn Credentials>,
    /// The headers that the configuration gives.
    pub(crate) configured: &'a CredentialSet,
    pub(crate) identity: &'a UpstreamIdentity,
    /// The era that the server spoke the last time.
    pub(crate) known: Option<Era>,
    pub(crate) notices: ServerNotices,
    /// Where the tasks go that end the children.
    pub(crate) children: &'a TaskTracker,
}

pub(crate) async fn connect(
    settings: &McpSettings,
    context: ConnectContext<'_>,
) -> Result<UpstreamSession, ConnectError> {
    let (domain, within) = (&settings.domain, settings.connect_deadline);
    let ladder = EraLadder { domain, within, context };
    match &settings.transport {
        Transport::Stdio(stdio) => ladder.stdio(stdio).await,
        Transport::Http(http) => ladder.http(http).await,
        Transport::Disabled => Err(ConnectError::new("it is disabled in the configuration")),
        Transport::Unusable(reason) => Err(ConnectError::new(reason.clone())),
    }
}

/// One connection on its way, era by era.
struct EraLadder<'a> {
    domain: &'a Domain,
    within: Duration,
    context: ConnectContext<'a>,
}

impl EraLadder<'_> {
    async fn stdio(&self, settings: &StdioSettings) -> Result<UpstreamSession, ConnectError> {
        let deadline = Instant::now() + self.within;
        let mut wire = self.start(settings, deadline).await?;
        if self.context.known == Some(Era::Handshake) {
            let refusal = match self.greet_stdio(&wire, Era::Handshake, deadline).await {
                Ok(session) => return Ok(session),
                Err(refusal) => refusal,
            };
            // It may have been updated since, and know nothing of its old era any more.
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
            Ok(session) => return Ok(session),
            Err(refusal) => refusal,
        };
        tracing::debug!(domain = %self.domain, ?refusal, "`server/discover` failed");
        if wire.ended().is_some() {
            wire = self.start(settings, deadline).await?;
        }
        match (refusal, self.greet_stdio(&wire, Era::Handshake, deadline).await) {
            // Slow to wake, it read the first question before this one, and holds to that era.
            (GreetingError::Late, Err(GreetingError::Refused(_))) => {
                self.greet_stdio(&wire, Era::Stateless, deadline).await
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
        let starting = self.context.children.spawn(async move { process::spawn(&own).await });
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
        let greeting = timeout_at(deadline, handshake::greet(&wire, era)).await;
        let greeting: Greeting = greeting.unwrap_or(Err(GreetingError::Late))?;
        Ok(UpstreamSession::new(wire, greeting, self.context.notices.clone()))
    }

    async fn http(&self, settings: &HttpSettings) -> Result<UpstreamSession, ConnectError> {
        let deadline = Instant::now() + self.within;
        let (first, second) = match self.context.known {
            Some(Era::Handshake) => (Era::Handshake, Era::Stateless),
            _ => (Era::Stateless, Era::Handshake),
        };
        let first_deadline = Instant::now() + self.within / 2;
        match self.http_in(first, settings, first_deadline).await {
            Ok(session) => return Ok(session),
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
        let ConnectContext { client, credentials, configured, identity, notices, .. } =
            &self.context;
        let (domain, identity) = (self.domain.clone(), (*identity).clone());
        let (port, configured) = ((*credentials).clone(), (*configured).clone());
        let headers = CredentialHeaders::new(port, configured, domain.clone(), identity);
        let (client, notices) = ((*client).clone(), notices.clone());
        let url = settings.url.parse::<Url>().map_err(|error| {
            let reason = format!("its URL cannot be read: {error}");
            GreetingError::Wire(WireError::NotSent(reason))
        })?;
        let wire = HttpWire::new(domain, client, url, headers, notices, era);
        let session = self.greet(Wire::Http(wire.clone()), era, deadline).await;
        if session.is_ok() {
            wire.open_stream().await;
        } else {
            // The server may have begun a session. It is told to forget that one, and nobody waits for it.
            tokio::spawn(async move { wire.close().await });
        }
        session
    }

    /// The reason is the server's end, if it has ended, or what it wrote instead of an answer.
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
        ConnectError::new(match refusal {
            GreetingError::Late => format!(
                "it did not answer within {} s; a first start may have to download, so try again \
                 or raise its `connect_deadline`",
                self.within.as_secs_f32()
            ),
            GreetingError::Refused(error) => format!("the handshake failed: {}", error.message),
            GreetingError::Unreadable(reason) => format!("the handshake failed: {reason}"),
            GreetingError::Wire(error) => error.to_string(),
        })
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
