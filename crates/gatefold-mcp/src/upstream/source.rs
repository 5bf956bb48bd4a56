//! An MCP server as a source: sessions by identity, started on first use, stopped when idle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, OptionFuture, join_all};
use gatefold_catalog::Manifest;
use gatefold_core::{
    BoxError, BusyWith, CallError, Clock, Domain, Outcome, Secret, UpstreamIdentity,
};
use gatefold_dispatch::{
    CallContext, Credential, CredentialSet, Credentials, Manifests, Offer, Source, SourceState,
    SourceStatus, StaticCredentials,
};
use gatefold_policy::Permit;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::backoff::Backoffs;
use super::ladder::{self, ConnectContext, ConnectError};
use super::mirrored_arguments::{self, MirroringTools};
use super::notices::ServerNotices;
use super::request::WireError;
use super::session::UpstreamSession;
use super::settings::{McpSettings, Transport};
use crate::protocol::Era;

mod calls;
mod lists;
mod own_lists;
mod pool;
mod subscriptions;

use self::lists::ListPace;
use self::own_lists::{OWN_LISTS, OwnLists};
use self::pool::{SessionPool, SessionSlot};
use self::subscriptions::ResourceListeners;

/// A session that ends sooner than this after it began counts as a failed start.
const SETTLED: Duration = Duration::from_secs(10);

/// Changes of resources that wait for whoever is slow to hear of them.
const UPDATES: usize = 256;

/// One configured MCP server.
pub struct McpSource {
    settings: McpSettings,
    client: reqwest::Client,
    credentials: Arc<dyn Credentials>,
    configured: CredentialSet,
    clock: Arc<dyn Clock>,
    keeper: Arc<dyn Manifests>,
    manifest: watch::Sender<Option<Arc<Manifest>>>,
    /// What it offers to identities of their own.
    own_lists: Mutex<OwnLists>,
    /// The resources that have changed.
    updates: broadcast::Sender<Arc<str>>,
    subscriptions: ResourceListeners,
    /// The tools of the manifest that mirror arguments in headers.
    mirroring: RwLock<Arc<MirroringTools>>,
    /// Held while a subscription is made or undone, so that two never cross.
    subscribing: tokio::sync::Mutex<()>,
    state: Mutex<SourceInner>,
    /// Fires when the source is closed.
    closing: CancellationToken,
    /// The tasks that end the children, one a child.
    children: TaskTracker,
}

struct SourceInner {
    sessions: SessionPool,
    status: SourceStatus,
    /// What the server of the last attempt that failed wrote to its standard error last.
    last_lines: Arc<[String]>,
    /// Why its list could not be taken up the last time, if it could not.
    list_failure: Option<String>,
    backoffs: Backoffs,
    era: Option<Era>,
    is_closed: bool,
}

/// What a source needs from outside.
pub struct McpPorts {
    /// The guarded client that `gatefold-egress` makes.
    pub client: reqwest::Client,
    /// Who is asked for credentials before each request to a remote server. What it gives goes
    /// beside the headers of the settings, which are all there is without it.
    pub credentials: Option<Arc<dyn Credentials>>,
    pub keeper: Arc<dyn Manifests>,
    pub clock: Arc<dyn Clock>,
}

impl McpSource {
    /// A source that is not connected. `known` is what it offered when it last was.
    pub fn new(settings: McpSettings, ports: McpPorts, known: Option<Arc<Manifest>>) -> Arc<Self> {
        let (state, error) = match &settings.transport {
            Transport::Disabled => (SourceState::Disabled, None),
            Transport::Unusable(reason) => (SourceState::Failing, Some(reason.clone())),
            _ if known.is_some() => (SourceState::Known, None),
            _ => (SourceState::Configured, None),
        };
        let protocol = known.as_deref().and_then(Manifest::server);
        let protocol = protocol.map(|server| server.protocol.clone());
        let era = protocol.as_deref().map(Era::of);
        let since = ports.clock.now();
        let status = SourceStatus { state, since, error, protocol, sessions: 0 };
        let mirroring = known.as_deref().map(mirrored_arguments::of_manifest).unwrap_or_default();
        let credentials = ports.credentials;
        let credentials = credentials.unwrap_or_else(|| Arc::new(StaticCredentials::default()));
        let configured = configured(&settings.transport);
        Arc::new(Self {
            settings,
            client: ports.client,
            credentials,
            configured,
            clock: ports.clock,
            keeper: ports.keeper,
            manifest: watch::Sender::new(known),
            own_lists: Mutex::new(OwnLists::new(OWN_LISTS)),
            updates: broadcast::Sender::new(UPDATES),
            subscriptions: ResourceListeners::default(),
            mirroring: RwLock::new(Arc::new(mirroring)),
            subscribing: tokio::sync::Mutex::default(),
            state: Mutex::new(SourceInner {
                sessions: SessionPool::default(),
                status,
                last_lines: Arc::default(),
                list_failure: None,
                backoffs: Backoffs::default(),
                era,
                is_closed: false,
            }),
            closing: CancellationToken::new(),
            children: TaskTracker::new(),
        })
    }

    pub fn settings(&self) -> &McpSettings {
        &self.settings
    }

    fn lock(&self) -> MutexGuard<'_, SourceInner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open session of this identity, or one that is opened now. All calls that ask while it is
    /// being opened wait for the same one.
    async fn session(
        self: &Arc<Self>,
        identity: &UpstreamIdentity,
    ) -> Result<Arc<UpstreamSession>, CallError> {
        let connecting = match self.lookup(identity)? {
            SessionSlot::Open(session) => return Ok(session),
            SessionSlot::Connecting(connecting) => connecting,
        };
        connecting.await.map_err(|error| self.unavailable(error.reason.clone(), Some(error)))
    }

    fn lookup(self: &Arc<Self>, identity: &UpstreamIdentity) -> Result<SessionSlot, CallError> {
        let mut state = self.lock();
        match state.sessions.used(identity) {
            Some(SessionSlot::Open(session)) => match session.wire.ended() {
                None => return Ok(SessionSlot::Open(session)),
                Some(reason) => {
                    self.note_end(&mut state, identity, &session, reason);
                }
            },
            Some(connecting) => return Ok(connecting),
            None => {}
        }
        if state.is_closed {
            return Err(self.unavailable("it was removed from the configuration".to_owned(), None));
        }
        if let Some(wait) = state.backoffs.wait(identity) {
            let error = state.status.error.as_deref().unwrap_or("it ended soon after its start");
            let reason = format!("{error} (tried again in {} s)", wait.as_secs() + 1);
            return Err(CallError::CircuitOpen { domain: self.settings.domain.clone(), reason });
        }
        self.make_room(&mut state, identity)?;
        // A task of its own: a caller may give up waiting, and the others still get the session.
        let task = tokio::spawn(self.clone().connect(identity.clone()));
        let connecting = async move {
            task.await.unwrap_or_else(|_| Err(Arc::new(ConnectError::new("connecting failed"))))
        };
        let connecting = connecting.boxed().shared();
        state.sessions.insert(identity.clone(), SessionSlot::Connecting(connecting.clone()));
        self.set_status(&mut state, SourceState::Starting, None);
        Ok(SessionSlot::Connecting(connecting))
    }

    /// Retires the session that was unused the longest, if there are as many as there may be.
    fn make_room(
        self: &Arc<Self>,
        state: &mut SourceInner,
        identity: &UpstreamIdentity,
    ) -> Result<(), CallError> {
        let is_idle = |identity: &UpstreamIdentity, session: &UpstreamSession| {
            !session.is_in_use()
                && !session.has_tasks()
                && self.subscriptions.of(identity).is_empty()
        };
        let domain = &self.settings.domain;
        let retired = state.sessions.make_room(identity, is_idle);
        let busy = |_| CallError::Busy { domain: domain.clone(), of: BusyWith::Connections };
        let retired = retired.map_err(busy)?;
        if let Some(session) = retired {
            tracing::info!(%domain, "stopped a session in favour of another");
            tokio::spawn(async move { session.close().await });
        }
        Ok(())
    }

    async fn connect(
        self: Arc<Self>,
        identity: UpstreamIdentity,
    ) -> Result<Arc<UpstreamSession>, Arc<ConnectError>> {
        let known = self.lock().era;
        let started = Instant::now();
        let (subscriptions, listener) = (self.subscriptions.clone(), identity.clone());
        let is_wanted = move |uri: &str| subscriptions.has(&listener, uri);
        let notices = ServerNotices::new(self.updates.clone(), is_wanted);
        let attempt = ladder::connect(&self.settings, self.context(&identity, known, notices));
        let connected = self.closing.run_until_cancelled(attempt).await;
        let connected = connected.unwrap_or_else(|| Err(ConnectError::new("it was closed")));
        let mut state = self.lock();
        match connected {
            Ok(session) => {
                let session = Arc::new(session);
                let protocol = session.greeting.server.protocol.clone();
                if known.is_some_and(|known| known != session.era()) {
                    let before = state.status.protocol.as_deref().unwrap_or_default();
                    tracing::info!(domain = %self.settings.domain, before, now = protocol, "speaks another era now");
                }
                state.era = Some(session.era());
                tracing::info!(domain = %self.settings.domain, protocol, took = ?started.elapsed(), "connected");
                state.status.protocol = Some(protocol);
                state.sessions.insert(identity.clone(), SessionSlot::Open(session.clone()));
                self.set_status(&mut state, SourceState::Running, None);
                tokio::spawn(self.clone().attend(identity, session.clone()));
                Ok(session)
            }
            Err(error) => {
                if !state.is_closed {
                    let domain = &self.settings.domain;
                    tracing::warn!(%domain, reason = error.reason, "connecting failed");
                }
                state.sessions.remove(&identity);
                state.backoffs.failed(&identity);
                self.set_status(&mut state, SourceState::Failing, Some(error.reason.clone()));
                state.last_lines = error.last_lines.as_slice().into();
                Err(Arc::new(error))
            }
        }
    }

    /// Greets the server anew, beside the session there is.
    async fn probe(&self, identity: &UpstreamIdentity) -> Result<UpstreamSession, ConnectError> {
        let known = self.lock().era;
        let notices = ServerNotices::new(broadcast::Sender::new(1), |_| false);
        ladder::connect(&self.settings, self.context(identity, known, notices)).await
    }

    fn context<'a>(
        &'a self,
        identity: &'a UpstreamIdentity,
        known: Option<Era>,
        notices: ServerNotices,
    ) -> ConnectContext<'a> {
        let Self { client, credentials, configured, children, .. } = self;
        ConnectContext { client, credentials, configured, identity, known, notices, children }
    }

    /// Looks after an open session until it ends or nobody uses it any more.
    async fn attend(self: Arc<Self>, identity: UpstreamIdentity, session: Arc<UpstreamSession>) {
        let (listed, ()) = tokio::join!(
            self.list_once(&identity, &session),
            self.resubscribe(&identity, &session)
        );
        if let Err(error) = listed {
            self.listing_failed(&identity, &session, &error);
        }
        let mut pace = ListPace::default();
        let mut list_at = None;
        let (mut uses, mut idle_at) = (session.uses(), Instant::now() + self.settings.idle_stop);
        loop {
            let list_is_due: OptionFuture<_> = list_at.map(sleep_until).into();
            tokio::select! {
                () = session.wire.when_ended() => {
                    self.lost(&identity, &session);
                    return;
                }
                () = session.notices.list_changed.notified(), if list_at.is_none() => {
                    list_at = Some(pace.next(Instant::now()));
                }
                Some(()) = list_is_due => {
                    list_at = None;
                    // Whatever was told until now is in the list that is asked for now.
                    let _ = session.notices.list_changed.notified().now_or_never();
                    if let Err(error) = self.list(&identity, &session).await {
                        self.listing_failed(&identity, &session, &error);
                    }
                }
                () = sleep_until(idle_at) => {
                    if session.uses() == uses && self.retire(&identity, &session) {
                        session.close().await;
                        return;
                    }
                    uses = session.uses();
                    idle_at = Instant::now() + self.settings.idle_stop;
                }
            }
        }
    }

    /// Takes an idle session out of use, unless a call came in at the last moment.
    fn retire(&self, identity: &UpstreamIdentity, session: &Arc<UpstreamSession>) -> bool {
        let mut state = self.lock();
        if session.has_tasks() || !self.subscriptions.of(identity).is_empty() {
            return false;
        }
        if session.is_in_use() || !state.sessions.holds(identity, session) {
            return !session.is_in_use();
        }
        state.sessions.remove(identity);
        state.backoffs.succeeded(identity);
        if state.sessions.is_empty() {
            self.set_status(&mut state, SourceState::Idle, None);
        }
        tracing::info!(domain = %self.settings.domain, "stopped for want of use");
        true
    }

    /// Notes that a session has ended by itself.
    fn lost(self: &Arc<Self>, identity: &UpstreamIdentity, session: &Arc<UpstreamSession>) {
        let reason = session.wire.ended().unwrap_or_default();
        self.note_end(&mut self.lock(), identity, session, reason);
    }

    /// Forgets a session that turned out to be useless, so that the next call opens another.
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

    /// Takes a session that has ended out of use and counts its end. The first to see the end does both
    /// under one lock, so each end counts once. Returns false for an end that was seen before.
    fn note_end(
        self: &Arc<Self>,
        state: &mut SourceInner,
        identity: &UpstreamIdentity,
        session: &Arc<UpstreamSession>,
        reason: String,
    ) -> bool {
        if !state.sessions.holds(identity, session) {
            return false;
        }
        state.sessions.remove(identity);
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

    fn unavailable(&self, reason: String, source: Option<Arc<ConnectError>>) -> CallError {
        let source = source.map(|error| Box::new(error) as BoxError);
        CallError::Unavailable { domain: self.settings.domain.clone(), reason, source }
    }
}

/// The headers of a remote server's settings, for everybody.
fn configured(transport: &Transport) -> CredentialSet {
    let headers = match transport {
        Transport::Http(http) => http.headers.as_slice(),
        _ => &[],
    };
    let credential =
        |(name, value): &(String, Secret)| Credential { name: name.clone(), value: value.clone() };
    headers.iter().map(credential).collect()
}

impl Source for McpSource {
    fn domain(&self) -> &Domain {
        &self.settings.domain
    }

    fn manifests(&self) -> watch::Receiver<Option<Arc<Manifest>>> {
        self.manifest.subscribe()
    }

    fn release(self: Arc<Self>, identity: &UpstreamIdentity, uri: &str) {
        let (identity, uri) = (identity.clone(), uri.to_owned());
        // Outside of any runtime there is nothing left to release.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { self.leave(&identity, &uri).await });
        }
    }

    fn updates(&self) -> Option<broadcast::Receiver<Arc<str>>> {
        Some(self.updates.subscribe())
    }

    fn status(&self) -> SourceStatus {
        let state = self.lock();
        let status = state.status.clone();
        // Of two things that are wrong, the one that keeps calls from being made comes first.
        let error = status.error.or_else(|| state.list_failure.clone());
        SourceStatus { error, ..status }
    }

    fn last_lines(&self) -> Vec<String> {
        self.lock().last_lines.to_vec()
    }

    fn offer(&self, identity: &UpstreamIdentity) -> Offer {
        match identity {
            UpstreamIdentity::Shared => Offer::Shared,
            UpstreamIdentity::User(_) => {
                let own = self.own_list(identity);
                own.map_or(Offer::Unasked, |own| Offer::Own(own.manifest))
            }
        }
    }

    fn refresh(self: Arc<Self>) -> BoxFuture<'static, Result<(), CallError>> {
        self.refresh_for(UpstreamIdentity::Shared)
    }

    fn refresh_for(
        self: Arc<Self>,
        identity: UpstreamIdentity,
    ) -> BoxFuture<'static, Result<(), CallError>> {
        Box::pin(async move {
            let session = self.session(&identity).await?;
            let listed = if session.is_listed() {
                self.list(&identity, &session).await
            } else {
                self.list_once(&identity, &session).await
            };
            listed.map_err(|error| self.unavailable(error.to_string(), None))
        })
    }

    fn invoke(
        self: Arc<Self>,
        permit: Permit,
        context: CallContext,
    ) -> BoxFuture<'static, Result<Outcome, CallError>> {
        Box::pin(self.call(permit, context))
    }

    fn close(self: Arc<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.lock().is_closed = true;
            self.closing.cancel();
            let sessions: Vec<_> = self.lock().sessions.all().cloned().collect();
            join_all(sessions.into_iter().map(SessionSlot::close)).await;
            // Those of attempts that failed, and of sessions that were given up, are among them.
            self.children.close();
            self.children.wait().await;
        })
    }
}
