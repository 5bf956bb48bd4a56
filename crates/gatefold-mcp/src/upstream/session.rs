//! One open connection: the handshake behind it, calls over it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http::header::{HeaderName, HeaderValue};
use gatefold_dispatch::{MemoryShare, RequestMeta as CallerMeta, ResultRoom};
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::back_channel::BackChannel;
use super::handshake::Greeting;
use super::message::Reply;
use super::notices::ServerNotices;
use super::params::{OutgoingMeta, OutgoingParams, RequestSender};
use super::request::{RequestKind, WireError, WireRequest};
use super::wire::Wire;
use crate::protocol::{Era, LogLevel, RpcError, methods, rpc};

mod list;
mod listening;
mod liveness;

pub use self::list::{LIST_BYTES, PAGES};
pub(crate) use self::list::{ListError, ServerLists};
use self::listening::SubscriptionKeeper;
use self::liveness::Liveness;
pub use self::liveness::{LATE_CALLS, PING_DEADLINE};

/// How long a server may take to set its log level. After that the call goes ahead anyway.
const LOG_LEVEL_DEADLINE: Duration = Duration::from_secs(5);
/// The longest that a session is kept for a task that it created.
const LONGEST_TASK: Duration = Duration::from_hours(1);
/// The largest answer to a request that only changes something at the server, in bytes.
const SETTING_BYTES: u64 = 64 * 1024;

pub(crate) struct UpstreamSession {
    pub(crate) wire: Wire,
    pub(crate) greeting: Greeting,
    pub(crate) notices: ServerNotices,
    pub(crate) began: Instant,
    pub(crate) liveness: Liveness,
    /// In the stateless era, what we listen to.
    listening: Option<SubscriptionKeeper>,
    /// The log level that we last asked the server for, even if it refused.
    log_level: Mutex<Option<LogLevel>>,
    in_flight: AtomicUsize,
    /// Rung when the last call under way has ended.
    unused: Notify,
    /// The sign-in that it was opened under, see [`Credentials::sign_in`].
    ///
    /// [`Credentials::sign_in`]: gatefold_dispatch::Credentials::sign_in
    pub(crate) sign_in: Option<u64>,
    /// Fires when another session takes its place. Its calls end in it.
    pub(crate) replaced: CancellationToken,
    /// Calls so far, which shows a watcher whether the session was used in the meantime.
    uses: AtomicU64,
    listed: AtomicBool,
    /// Held while the list is fetched, so that two fetches never overlap.
    pub(crate) listing: tokio::sync::Mutex<()>,
    /// Until when the tasks that it created may be asked for.
    tasks_until: Mutex<Option<Instant>>,
    /// When its era was last doubted.
    doubted: Mutex<Option<Instant>>,
    /// Ends the subscriptions. Fires when the session is closed or dropped.
    ends: CancellationToken,
    _ends: DropGuard,
}

/// A call of any kind.
pub(crate) struct SessionCall<'a> {
    pub(crate) method: &'static str,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) params: OutgoingParams<'a>,
    pub(crate) caller: &'a CallerMeta,
    pub(crate) memory: Option<Arc<dyn MemoryShare>>,
    /// What the client behind it declared.
    pub(crate) capabilities: &'a RawValue,
    pub(crate) back_channel: Arc<BackChannel>,
    pub(crate) is_heard: bool,
    pub(crate) limit: u64,
    pub(crate) room: ResultRoom,
}

/// Why something could not be set at the server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("{}", .0.message)]
    Refused(RpcError),
    #[error("{0}")]
    Unheard(String),
}

impl UpstreamSession {
    pub(crate) fn new(wire: Wire, greeting: Greeting, notices: ServerNotices) -> Self {
        let ends = CancellationToken::new();
        let listening = greeting.client.clone().map(|client| {
            let announced = greeting.offered.announced();
            SubscriptionKeeper::begin(
                wire.clone(),
                client,
                announced,
                notices.clone(),
                ends.clone(),
            )
        });
        Self {
            wire,
            greeting,
            notices,
            began: Instant::now(),
            liveness: Liveness::default(),
            listening,
            log_level: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            unused: Notify::new(),
            sign_in: None,
            replaced: CancellationToken::new(),
            uses: AtomicU64::new(0),
            listed: AtomicBool::new(false),
            listing: tokio::sync::Mutex::default(),
            tasks_until: Mutex::default(),
            doubted: Mutex::default(),
            _ends: ends.clone().drop_guard(),
            ends,
        }
    }

    pub(crate) fn era(&self) -> Era {
        if self.greeting.client.is_some() { Era::Stateless } else { Era::Handshake }
    }

    /// Tells the server that its roots have changed. It then asks for the new ones.
    pub(crate) async fn tell_of_roots(&self) {
        self.notices.roots.tell();
        if let Err(error) = self.wire.notify(rpc::notice(methods::ROOTS_CHANGED, "{}")).await {
            tracing::debug!(%error, "a server was not told of new roots");
        }
    }

    pub(crate) async fn call(&self, call: SessionCall<'_>) -> Result<Reply, WireError> {
        let _using = self.using();
        self.raise_log_level(call.caller).await;
        let SessionCall {
            method,
            name,
            headers,
            mut params,
            back_channel,
            memory,
            limit,
            room,
            ..
        } = call;
        let id = self.wire.next_id();
        let capabilities = Some(call.capabilities);
        params.meta = OutgoingMeta {
            progress_token: call.is_heard.then_some(id),
            caller: Some(call.caller),
            client: self
                .greeting
                .client
                .as_deref()
                .map(|greeting| RequestSender { greeting, capabilities }),
        };
        let text = rpc::request(id, method, &params);
        let request = WireRequest {
            name,
            headers,
            memory,
            back_channel,
            room: Some(room),
            ..WireRequest::of_ours(id, RequestKind::Ordinary, method, text, limit)
        };
        self.wire.request(request).await
    }

    /// Sends a request of our own, on behalf of no caller.
    async fn request(
        &self,
        method: &'static str,
        params: OutgoingParams<'_>,
        limit: u64,
    ) -> Result<Reply, WireError> {
        self.request_as(None, method, params, limit).await
    }

    /// The same, with what a client declares. Only servers of the stateless era hear of it.
    async fn request_as(
        &self,
        capabilities: Option<&RawValue>,
        method: &'static str,
        mut params: OutgoingParams<'_>,
        limit: u64,
    ) -> Result<Reply, WireError> {
        let _using = self.using();
        let id = self.wire.next_id();
        let name = params.uri.map(Arc::from);
        let client = self.greeting.client.as_deref();
        let client = client.map(|greeting| RequestSender { greeting, capabilities });
        params.meta = OutgoingMeta { client, ..OutgoingMeta::default() };
        let text = rpc::request(id, method, &params);
        let request = WireRequest::of_ours(id, RequestKind::Ordinary, method, text, limit);
        let request = WireRequest { name, ..request };
        self.wire.request(request).await
    }

    async fn set(
        &self,
        method: &'static str,
        params: OutgoingParams<'_>,
    ) -> Result<(), SettingError> {
        match self.request(method, params, SETTING_BYTES).await? {
            Reply::Result(_) => Ok(()),
            Reply::Error(error) => Err(SettingError::Refused(error)),
        }
    }

    /// Makes a handshake-era server log as verbosely as a call wants, unless it already does. In
    /// the stateless era the call itself says so.
    async fn raise_log_level(&self, caller: &CallerMeta) {
        let Some(level) = caller.log_level.as_deref() else { return };
        let Some(wanted) = LogLevel::parse(level) else { return };
        if self.greeting.client.is_some() || !self.greeting.offered.logging {
            return;
        }
        let current = *self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
        if current.is_some_and(|current| current <= wanted) {
            return;
        }
        let params = OutgoingParams { level: Some(level), ..OutgoingParams::default() };
        let set = timeout(LOG_LEVEL_DEADLINE, self.set(methods::SET_LOG_LEVEL, params)).await;
        match &set {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, level, "a level of the log was not set"),
            Err(_) => tracing::debug!(level, "a level of the log was not set in time"),
        }
        // A server that refused is not asked again, or every call would wait for it.
        let was_asked = !matches!(
            set,
            Ok(Err(SettingError::Wire(WireError::NotSent(_) | WireError::Forgotten)))
        );
        if was_asked {
            let mut current = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
            *current = Some(current.map_or(wanted, |current| current.min(wanted)));
        }
    }

    /// Asks to be told when a resource changes.
    pub(crate) async fn subscribe(&self, uri: &Arc<str>) -> Result<(), SettingError> {
        if let Some(listening) = &self.listening {
            let added = listening.add(std::slice::from_ref(uri)).await;
            return added.map_err(SettingError::Unheard);
        }
        let params = OutgoingParams { uri: Some(uri), ..OutgoingParams::default() };
        self.set(methods::RESOURCES_SUBSCRIBE, params).await
    }

    /// Subscribes to several resources. A refusal of one does not stop the others, and the last
    /// refusal is the error.
    pub(crate) async fn subscribe_all(&self, uris: &[Arc<str>]) -> Result<(), SettingError> {
        if let Some(listening) = &self.listening {
            return listening.add(uris).await.map_err(SettingError::Unheard);
        }
        let mut subscribed = Ok(());
        for uri in uris {
            match self.subscribe(uri).await {
                Ok(()) => {}
                Err(error @ SettingError::Wire(_)) => return Err(error),
                refused => subscribed = refused,
            }
        }
        subscribed
    }

    /// Ends a subscription to a resource.
    pub(crate) async fn unsubscribe(&self, uri: &Arc<str>) -> Result<(), SettingError> {
        if let Some(listening) = &self.listening {
            listening.remove(std::slice::from_ref(uri));
            return Ok(());
        }
        let params = OutgoingParams { uri: Some(uri), ..OutgoingParams::default() };
        self.set(methods::RESOURCES_UNSUBSCRIBE, params).await
    }

    /// Ends all subscriptions, then the connection.
    pub(crate) async fn close(&self) {
        self.ends.cancel();
        self.wire.close().await;
    }

    pub(crate) fn is_in_use(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }

    /// Waits until no call is under way.
    pub(crate) async fn drained(&self) {
        while self.is_in_use() {
            self.unused.notified().await;
        }
    }

    pub(crate) fn uses(&self) -> u64 {
        self.uses.load(Ordering::Acquire)
    }

    /// Keeps the session open for a task that it created: a local server's task ends with it. A
    /// task that names no lifetime gets the longest.
    pub(crate) fn keep_for(&self, lifetime: Option<Duration>) {
        let until = Instant::now() + lifetime.unwrap_or(LONGEST_TASK).min(LONGEST_TASK);
        let mut latest = self.tasks_until.lock().unwrap_or_else(PoisonError::into_inner);
        *latest = (*latest).max(Some(until));
    }

    /// Whether a task that it created may still be asked for.
    pub(crate) fn has_tasks(&self) -> bool {
        let until = self.tasks_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| until > Instant::now())
    }

    /// Whether this session has already delivered its list.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed.load(Ordering::Acquire)
    }

    pub(crate) fn set_listed(&self) {
        self.listed.store(true, Ordering::Release);
    }

    /// Whether the era may be doubted now. After it was, this is false for the length of `pause`.
    pub(crate) fn doubt(&self, pause: Duration) -> bool {
        let mut doubted = self.doubted.lock().unwrap_or_else(PoisonError::into_inner);
        if doubted.is_some_and(|last| last.elapsed() < pause) {
            return false;
        }
        *doubted = Some(Instant::now());
        true
    }

    fn using(&self) -> UseGuard<'_> {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        self.uses.fetch_add(1, Ordering::AcqRel);
        UseGuard(self)
    }
}

struct UseGuard<'a>(&'a UpstreamSession);

impl Drop for UseGuard<'_> {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.unused.notify_one();
        }
    }
}
