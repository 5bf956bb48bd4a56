//! An MCP server as a source: sessions by identity, started on first use, stopped when idle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use gatefold_catalog::Manifest;
use gatefold_core::{CallEffect, CallError, Clock, UpstreamIdentity};
use gatefold_dispatch::{
    CredentialSet, Credentials, Manifests, SourceState, SourceStatus, StaticCredentials,
};
use gatefold_egress::HttpClient;
use gatefold_secrecy::KnownSecrets;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backoff::Backoffs;
use super::containers::ContainerNotes;
use super::ladder::{self, ConnectContext, ConnectError, ConnectLack};
use super::log_budget::LogBudget;
use super::mirrored_arguments::{self, MirroringTools};
use super::notices::ServerNotices;
use super::own_secrets;
use super::request::WireError;
use super::roots::{RootsOffer, SessionRoots, SoleClient};
use super::session::UpstreamSession;
use super::session_places::SessionPlaces;
use super::settings::{McpSettings, Transport};
use super::source_log::SourceLog;
use super::starts::{StartPlaces, StartTicket};
use crate::path::GatewayPath;
use crate::protocol::Era;

mod attendance;
mod calls;
mod choice;
mod dispatched;
mod handshakes;
mod lists;
mod own_lists;
mod pool;
mod subscriptions;

use self::lists::ListFailure;
pub use self::lists::{GATHERING, LONGEST_GATHERING};
use self::own_lists::{IdentityLists, OWN_LISTS};
use self::pool::{SessionKey, SessionPool, SessionPurpose, SessionSlot};
use self::subscriptions::ResourceListeners;

/// A session that ends sooner than this after it began counts as a failed start.
const SETTLED: Duration = Duration::from_secs(10);

/// How many changes of resources are kept for a slow listener.
const UPDATES: usize = 256;

/// One configured MCP server.
pub struct McpSource {
    settings: McpSettings,
    client: HttpClient,
    credentials: Arc<dyn Credentials>,
    configured: CredentialSet,
    /// Secrets that it was given and may repeat.
    secrets: Arc<KnownSecrets>,
    log: Arc<LogBudget>,
    /// What it wrote besides its answers.
    said: Arc<SourceLog>,
    clock: Arc<dyn Clock>,
    keeper: Arc<dyn Manifests>,
    starts: Arc<StartPlaces>,
    places: Arc<SessionPlaces>,
    path: Arc<GatewayPath>,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    /// The lists that it gave to separate identities.
    own_lists: Mutex<IdentityLists>,
    /// The resources that have changed.
    updates: broadcast::Sender<Arc<str>>,
    subscriptions: ResourceListeners,
    sole_client: Arc<SoleClient>,
    /// The tools of the manifest that mirror arguments in headers.
    mirroring: RwLock<Arc<MirroringTools>>,
    /// Held while a subscription is made or cancelled, so that two never overlap.
    subscribing: tokio::sync::Mutex<()>,
    state: Mutex<SourceInner>,
    /// Fires when the source is closed.
    closing: CancellationToken,
    /// The tasks that end the child processes, one for each.
    children: TaskTracker,
    containers: Option<Arc<dyn ContainerNotes>>,
}

struct SourceInner {
    sessions: SessionPool,
    status: SourceStatus,
    /// The last lines on standard error of the last server that failed to start.
    last_lines: Arc<[String]>,
    /// Why its last list could not be used, if it could not.
    list_failure: Option<ListFailure>,
    backoffs: Backoffs,
    /// The era that its main session spoke last.
    era: Option<Era>,
    /// Until when no handshake is tried for clients of that era, because the last one failed.
    no_handshake_until: Option<Instant>,
    roots_offer: RootsOffer,
    /// Whether a local server has started successfully in this run, so that nothing is left to
    /// download.
    is_installed: bool,
    is_closed: bool,
}

/// What a session is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartReason {
    /// Somebody waits for the result of a call.
    Call,
    Listing,
}

/// What a source needs from outside.
pub struct McpPorts {
    pub client: HttpClient,
    /// Gives the credentials for each request to a remote server. They are sent in addition to the
    /// headers of the settings.
    pub credentials: Option<Arc<dyn Credentials>>,
    pub keeper: Arc<dyn Manifests>,
    pub clock: Arc<dyn Clock>,
    /// Where a local server gets its place for starting.
    pub starts: Arc<StartPlaces>,
    /// Where a session of a single user gets its place.
    pub sessions: Arc<SessionPlaces>,
    /// The gateway that the source belongs to.
    pub path: Arc<GatewayPath>,
    /// Where a local server's container is noted. Without it, one stays when this process is killed.
    pub containers: Option<Arc<dyn ContainerNotes>>,
}

impl McpSource {
    /// A source without a connection. `known` is what it offered when it was last connected.
    pub fn new(settings: McpSettings, ports: McpPorts, known: Option<Arc<Manifest>>) -> Arc<Self> {
        let (state, error) = match &settings.transport {
            Transport::Disabled => (SourceState::Disabled, None),
            Transport::Unusable(reason) => (SourceState::Failing, Some(reason.clone())),
            _ if known.is_some() => (SourceState::Known, None),
            _ => (SourceState::Configured, None),
        };
        let server = known.as_deref().and_then(Manifest::server);
        let protocol = server.map(|server| server.protocol.clone());
        let era = protocol.as_deref().map(Era::of);
        let since = ports.clock.now();
        let status = SourceStatus { state, since, error, protocol, downloading: None, sessions: 0 };
        let mirroring = known.as_deref().map(mirrored_arguments::of_manifest).unwrap_or_default();
        let credentials = ports.credentials;
        let credentials = credentials.unwrap_or_else(|| Arc::new(StaticCredentials::default()));
        let configured = settings.transport.credentials();
        let secrets = Arc::new(own_secrets::of_transport(&settings.transport));
        let sessions = SessionPool::of(&settings.transport);
        Arc::new(Self {
            log: Arc::new(LogBudget::new(settings.domain.clone())),
            said: Arc::new(SourceLog::new(ports.clock.clone())),
            settings,
            client: ports.client,
            credentials,
            configured,
            secrets,
            clock: ports.clock,
            keeper: ports.keeper,
            starts: ports.starts,
            places: ports.sessions,
            path: ports.path,
            manifest: watch::Sender::new(known),
            own_lists: Mutex::new(IdentityLists::new(OWN_LISTS)),
            updates: broadcast::Sender::new(UPDATES),
            subscriptions: ResourceListeners::default(),
            sole_client: Arc::default(),
            mirroring: RwLock::new(Arc::new(mirroring)),
            subscribing: tokio::sync::Mutex::default(),
            state: Mutex::new(SourceInner {
                sessions,
                status,
                last_lines: Arc::default(),
                list_failure: None,
                backoffs: Backoffs::default(),
                era,
                no_handshake_until: None,
                roots_offer: RootsOffer::default(),
                is_installed: false,
                is_closed: false,
            }),
            closing: CancellationToken::new(),
            children: TaskTracker::new(),
            containers: ports.containers,
        })
    }

    pub fn settings(&self) -> &McpSettings {
        &self.settings
    }

    fn lock(&self) -> MutexGuard<'_, SourceInner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(
        self: Arc<Self>,
        key: SessionKey,
        ticket: Arc<StartTicket>,
    ) -> Result<Arc<UpstreamSession>, Arc<ConnectError>> {
        let (known, roots) = {
            let mut state = self.lock();
            (state.era, SessionRoots::new(self.sole_client.clone(), state.roots_offer.for_next()))
        };
        let only = match key.purpose {
            SessionPurpose::Main => self.settings.era.only(),
            SessionPurpose::HandshakeCalls => Some(Era::Handshake),
        };
        let started = Instant::now();
        let identity = &key.identity;
        let (subscriptions, listener) = (self.subscriptions.clone(), identity.clone());
        let is_wanted = move |uri: &str| subscriptions.has(&listener, uri);
        let notices = ServerNotices::new(self.updates.clone(), roots, is_wanted);
        let notices = notices.logging(&self.said);
        let context = self.context(identity, known, only, notices, &ticket);
        let sign_in = || self.credentials.sign_in(&self.settings.domain, identity);
        let sign_in_before = sign_in();
        let attempt = ladder::connect(&self.settings, context);
        let connected = self.closing.run_until_cancelled(attempt).await;
        let connected = connected.unwrap_or_else(|| Err(ConnectError::new("it was closed")));
        let connected = match key.purpose {
            SessionPurpose::Main => connected,
            SessionPurpose::HandshakeCalls => self.judge_handshake(connected).await,
        };
        match connected {
            Ok(mut session) => {
                session.sign_in = sign_in_before.or_else(sign_in);
                let protocol = &session.greeting.server.protocol;
                tracing::info!(domain = %self.settings.domain, protocol, took = ?started.elapsed(), "connected");
                Ok(self.take_into_use(key, session, known))
            }
            Err(error) => {
                self.note_unopened(&key, &error);
                Err(Arc::new(error))
            }
        }
    }

    /// Puts an open session where calls find it, and looks after it from now on.
    fn take_into_use(
        self: &Arc<Self>,
        mut key: SessionKey,
        session: UpstreamSession,
        known: Option<Era>,
    ) -> Arc<UpstreamSession> {
        let session = Arc::new(session);
        let protocol = session.greeting.server.protocol.clone();
        let mut state = self.lock();
        if key.purpose == SessionPurpose::HandshakeCalls && !self.may_have_two(&session) {
            if let Some(SessionSlot::Open(former)) = state.sessions.take_over(&key) {
                // The calls under way finish in it.
                former.replaced.cancel();
            }
            key = SessionKey::main(&key.identity);
        } else if key.purpose == SessionPurpose::Main
            && known.is_some_and(|known| known != session.era())
        {
            let before = state.status.protocol.as_deref().unwrap_or_default();
            tracing::info!(domain = %self.settings.domain, before, now = protocol, "speaks another era now");
        }
        state.is_installed = true;
        if key.purpose == SessionPurpose::Main {
            state.era = Some(session.era());
            state.status.protocol = Some(protocol);
        }
        state.sessions.opened(key.clone(), session.clone());
        self.set_status(&mut state, SourceState::Running, None);
        tokio::spawn(self.clone().attend(key, session.clone()));
        session
    }

    /// Notes that a session could not be opened.
    fn note_unopened(&self, key: &SessionKey, error: &ConnectError) {
        let (mut state, domain) = (self.lock(), &self.settings.domain);
        state.sessions.remove(key);
        // It may have begun to download a new version of its package.
        state.is_installed &= !error.is_late;
        let is_open = state.sessions.open() > 0;
        if error.lack == ConnectLack::Handshake {
            tracing::info!(%domain, reason = error.reason, "it takes no handshake");
            // Nothing failed: the other session goes on, unless it was stopped meanwhile.
            let to = match (is_open, state.sessions.is_empty()) {
                (true, _) => SourceState::Running,
                (false, true) => SourceState::Idle,
                (false, false) => SourceState::Starting,
            };
            return self.set_status(&mut state, to, None);
        }
        if !state.is_closed {
            tracing::warn!(%domain, reason = error.reason, "connecting failed");
        }
        // The server is spared nothing, and after a sign-in nobody should wait.
        if error.lack == ConnectLack::Answer {
            state.backoffs.failed(&key.identity, error.fault);
        }
        let to = if is_open { SourceState::Running } else { SourceState::Failing };
        self.set_status(&mut state, to, Some(error.reason.clone()));
        state.last_lines = error.last_lines.as_slice().into();
    }

    /// Greets the server again, next to the existing session.
    async fn probe(&self, identity: &UpstreamIdentity) -> Result<UpstreamSession, ConnectError> {
        let (known, only) = (self.lock().era, self.settings.era.only());
        let roots = SessionRoots::new(self.sole_client.clone(), true);
        let notices = ServerNotices::new(broadcast::Sender::new(1), roots, |_| false);
        let notices = notices.logging(&self.said);
        let ticket = StartTicket::default();
        let context = self.context(identity, known, only, notices, &ticket);
        ladder::connect(&self.settings, context).await
    }

    fn context<'a>(
        &'a self,
        identity: &'a UpstreamIdentity,
        known: Option<Era>,
        only: Option<Era>,
        notices: ServerNotices,
        ticket: &'a StartTicket,
    ) -> ConnectContext<'a> {
        let is_installed = self.lock().is_installed;
        let Self {
            client,
            path,
            credentials,
            configured,
            secrets,
            log,
            starts,
            children,
            containers,
            sole_client,
            ..
        } = self;
        ConnectContext {
            client,
            path,
            credentials,
            configured,
            secrets,
            log,
            identity,
            known,
            only,
            sole_client,
            notices,
            is_installed,
            starts,
            ticket,
            children,
            containers: containers.as_ref(),
        }
    }

    /// Drops a session that turned out to be useless, so that the next call opens another.
    fn forget(
        self: &Arc<Self>,
        identity: &UpstreamIdentity,
        session: &Arc<UpstreamSession>,
        error: &WireError,
    ) {
        let reason = session.wire.ended().unwrap_or_else(|| error.to_string());
        if self.note_end(&mut self.lock(), identity, session, reason) {
            let session = session.clone();
            tokio::spawn(async move { session.close().await });
        }
    }

    /// Takes an ended session out of use and counts its end. Both happen under one lock, so each
    /// end counts once. Returns false for an end that was already counted.
    fn note_end(
        self: &Arc<Self>,
        state: &mut SourceInner,
        identity: &UpstreamIdentity,
        session: &Arc<UpstreamSession>,
        reason: String,
    ) -> bool {
        if !state.sessions.take_out(session) {
            return false;
        }
        if session.began.elapsed() < SETTLED {
            state.backoffs.ended_early(identity);
        } else {
            state.backoffs.succeeded(identity);
        }
        if state.sessions.is_empty() {
            self.set_status(state, SourceState::Failing, Some(reason));
            state.last_lines = session.wire.last_lines().into();
        } else {
            state.status.sessions = state.sessions.open();
        }
        if !state.is_closed && !self.subscriptions.of(identity).is_empty() {
            tokio::spawn(self.clone().revive(identity.clone()));
        }
        true
    }

    fn set_status(&self, state: &mut SourceInner, to: SourceState, error: Option<String>) {
        state.status.sessions = state.sessions.open();
        state.status.error = error;
        state.last_lines = Arc::default();
        if state.status.state != to {
            state.status.state = to;
            state.status.since = self.clock.now();
        }
    }

    /// Why there is no session. A call learns what the server answered instead.
    fn unopened(&self, error: Arc<ConnectError>, purpose: StartReason) -> CallError {
        let (domain, reason) = (self.settings.domain.clone(), error.reason.clone());
        match (error.fault, error.lack) {
            (_, ConnectLack::SignIn) => CallError::NeedsSignIn { domain, reason },
            (Some(fault), _) if purpose == StartReason::Call => CallError::NoResult {
                domain,
                fault,
                effect: CallEffect::Nothing,
                retry_after: error.retry_after,
                reason,
            },
            _ => CallError::Unavailable { domain, reason, source: Some(Box::new(error)) },
        }
    }

    fn unavailable(&self, reason: String) -> CallError {
        CallError::Unavailable { domain: self.settings.domain.clone(), reason, source: None }
    }
}
