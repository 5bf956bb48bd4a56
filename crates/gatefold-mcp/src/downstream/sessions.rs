//! The sessions of handshake-era clients over HTTP.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{ClientName, Principal};
use gatefold_dispatch::{ClientCapabilities, SharedLabel};
use gatefold_exchange::{Audience, RegisteredTools};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::callers::{CallerKey, caller};
use super::message::RequestParams;
use super::peers::PendingQuestions;
use super::replays::Replays;
use super::subscriptions::ClientSubscriptions;
use crate::protocol::{LogLevel, RpcError, methods};

/// The most open sessions. One more closes a silent session of the client that has most.
pub const SESSIONS: usize = 10_000;

/// The most open sessions of one client, by principal, address and name. One more closes the
/// client's own session that was silent longest.
pub const SESSIONS_OF_CLIENT: usize = 2_500;

/// The most running requests of one client. One more is refused instead of waiting, because the
/// client may have forgotten the others.
pub const SESSION_REQUESTS: usize = 512;

/// The random bytes of a session's id.
const ID_BYTES: usize = 16;

/// A session: what `initialize` agreed on with one client, and its state since.
pub(super) struct ClientSession {
    pub(super) audience: Audience,
    pub(super) principal: Arc<Principal>,
    /// The name that its client gives itself.
    pub(super) client: Option<ClientName>,
    pub(super) capabilities: Arc<ClientCapabilities>,
    pub(super) version: &'static str,
    pub(super) questions: Arc<PendingQuestions>,
    pub(super) subscriptions: Arc<ClientSubscriptions>,
    pub(super) replays: Arc<Replays>,
    /// The label of everything its calls have read so far. Each call inherits it from those before.
    pub(super) label: SharedLabel,
    /// What its calls have found so far.
    pub(super) registered: Arc<RegisteredTools>,
    state: Mutex<SessionState>,
    /// Fires when the session is over.
    pub(super) closed: CancellationToken,
}

struct SessionState {
    log_level: Option<LogLevel>,
    /// What the model is asked to do, as the client last said it beside a request.
    request: Option<Arc<str>>,
    last_used: Instant,
    /// The stream of notices that the client holds open. A later one replaces it.
    stream: Option<CancellationToken>,
    streams: usize,
    /// Running requests, at most [`SESSION_REQUESTS`]. A client may use an id twice.
    requests: HashMap<u64, (String, CancellationToken)>,
    begun: u64,
}

impl ClientSession {
    pub(super) fn new(
        audience: Audience,
        principal: Arc<Principal>,
        client: Option<ClientName>,
        capabilities: ClientCapabilities,
        version: &'static str,
        subscriptions: Arc<ClientSubscriptions>,
    ) -> Arc<Self> {
        let state = SessionState {
            log_level: None,
            request: None,
            last_used: Instant::now(),
            stream: None,
            streams: 0,
            requests: HashMap::new(),
            begun: 0,
        };
        Arc::new(Self {
            audience,
            principal,
            client,
            capabilities: Arc::new(capabilities),
            version,
            questions: Arc::default(),
            subscriptions,
            replays: Arc::default(),
            label: SharedLabel::default(),
            registered: Arc::default(),
            state: Mutex::new(state),
            closed: CancellationToken::new(),
        })
    }

    /// The audience of its requests and notices, for which the one of its address is.
    pub(super) fn audience_of(&self, audience: Audience) -> Audience {
        let audience = audience.in_session(self.registered.clone());
        let audience = audience.of_client(self.capabilities.abilities());
        // What the address says holds for all of the session.
        let request = self.lock().request.clone();
        match request.filter(|_| audience.request().is_none()) {
            Some(request) => audience.for_request(&request),
            None => audience,
        }
    }

    /// Notes what the model is asked to do.
    pub(super) fn set_request(&self, request: &str) {
        let request = request.chars().take(Audience::REQUEST_CHARS).collect::<String>();
        self.lock().request = Some(request.into());
    }

    pub(super) fn log_level(&self) -> Option<LogLevel> {
        self.lock().log_level
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        self.lock().log_level = Some(level);
    }

    /// Registers a request, so that a notification can cancel it.
    pub(super) fn begin(self: &Arc<Self>, id: &str) -> Result<SessionRequest, TooManyRequests> {
        let cancel = CancellationToken::new();
        let mut state = self.lock();
        if state.requests.len() >= SESSION_REQUESTS {
            return Err(TooManyRequests);
        }
        state.begun += 1;
        let number = state.begun;
        state.requests.insert(number, (id.to_owned(), cancel.clone()));
        Ok(SessionRequest { session: self.clone(), number, cancel })
    }

    /// Handles a client's notification. Most are of no interest to the gateway.
    pub(super) fn notified(&self, method: &str, params: &RequestParams) {
        if let (methods::CANCELLED, Some(id)) = (method, &params.request_id) {
            self.cancel(id.get());
        }
    }

    /// Cancels the requests with this id.
    pub(super) fn cancel(&self, id: &str) {
        for (own, cancel) in self.lock().requests.values() {
            if own == id {
                cancel.cancel();
            }
        }
    }

    /// Registers a stream of notices, which ends the previous one.
    pub(super) fn listen(self: &Arc<Self>) -> NoticeStreamGuard {
        let replaced = CancellationToken::new();
        let mut state = self.lock();
        if let Some(before) = state.stream.replace(replaced.clone()) {
            before.cancel();
        }
        state.streams += 1;
        NoticeStreamGuard { session: self.clone(), replaced }
    }

    fn touch(&self) {
        self.lock().last_used = Instant::now();
    }

    fn is_quiet(&self) -> bool {
        let state = self.lock();
        state.streams == 0 && state.requests.is_empty()
    }

    fn last_used(&self) -> Instant {
        self.lock().last_used
    }

    /// Whether its client has asked for nothing since it opened it.
    fn is_unused(&self) -> bool {
        self.lock().begun == 0
    }

    /// Ends everything in the session.
    fn close(&self) {
        self.closed.cancel();
        for (_, cancel) in self.lock().requests.values() {
            cancel.cancel();
        }
        self.replays.clear();
        self.subscriptions.release();
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A client has as many running requests as it may.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooManyRequests;

impl From<TooManyRequests> for RpcError {
    fn from(_: TooManyRequests) -> Self {
        Self::internal(format!("{SESSION_REQUESTS} requests are under way, which is the limit"))
    }
}

/// One running request of a session.
pub(super) struct SessionRequest {
    session: Arc<ClientSession>,
    number: u64,
    pub(super) cancel: CancellationToken,
}

impl Drop for SessionRequest {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        state.requests.remove(&self.number);
        state.last_used = Instant::now();
    }
}

/// One stream that a client holds open in a session.
pub(super) struct NoticeStreamGuard {
    session: Arc<ClientSession>,
    /// Fires when the client has opened another.
    pub(super) replaced: CancellationToken,
}

impl Drop for NoticeStreamGuard {
    fn drop(&mut self) {
        let mut state = self.session.lock();
        state.streams -= 1;
        state.last_used = Instant::now();
    }
}

/// All sessions by their ids.
pub(super) struct Sessions {
    /// At most [`SESSIONS`].
    open: Mutex<HashMap<String, OpenSession>>,
    limits: SessionLimits,
}

#[derive(Clone, Copy)]
struct SessionLimits {
    in_all: usize,
    of_client: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        let limits = SessionLimits { in_all: SESSIONS, of_client: SESSIONS_OF_CLIENT };
        Self { open: Mutex::default(), limits }
    }
}

/// Where somebody connects from, and who they are.
type SessionOpener<'a> = (Option<IpAddr>, CallerKey<'a>);

struct OpenSession {
    session: Arc<ClientSession>,
    /// Where it was opened from.
    address: Option<IpAddr>,
}

impl OpenSession {
    /// Who opened it, by what a client cannot forge: the name that it gives itself is only claimed.
    fn opener(&self) -> SessionOpener<'_> {
        (self.address, caller(&self.session.principal))
    }

    fn has_same_opener(&self, other: &Self) -> bool {
        self.opener() == other.opener()
    }

    fn has_same_client(&self, other: &Self) -> bool {
        self.session.client == other.session.client && self.has_same_opener(other)
    }
}

/// All sessions are in use, and none can be closed for another.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SessionsFull;

impl Sessions {
    /// Adds a session under an unguessable id.
    pub(super) fn open(
        &self,
        session: Arc<ClientSession>,
        address: Option<IpAddr>,
    ) -> Result<String, SessionsFull> {
        let mut random = [0; ID_BYTES];
        getrandom::fill(&mut random).map_err(|_| SessionsFull)?;
        let id = u128::from_ne_bytes(random);
        let id = format!("{id:032x}");
        let opened = OpenSession { session, address };
        let crowded = {
            let mut sessions = self.lock();
            let crowded = make_room(&mut sessions, &opened, self.limits)?;
            sessions.insert(id.clone(), opened);
            crowded
        };
        if let Some(crowded) = crowded {
            crowded.session.close();
        }
        Ok(id)
    }

    /// Ends a session; false if there is none with this id.
    pub(super) fn close(&self, id: &str) -> bool {
        let session = self.lock().remove(id);
        session.inspect(|open| open.session.close()).is_some()
    }

    /// An open session, if it belongs to the caller. This counts as a use; nobody else can keep it
    /// alive.
    pub(super) fn get(
        &self,
        id: &str,
        is_own: impl FnOnce(&ClientSession) -> bool,
    ) -> Option<Arc<ClientSession>> {
        let session = self.lock().get(id).map(|open| open.session.clone())?;
        if !is_own(&session) {
            return None;
        }
        session.touch();
        Some(session)
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Ends the sessions that were silent for this long.
    pub(super) fn expire(&self, idle: Duration) {
        let is_over =
            |session: &ClientSession| session.is_quiet() && session.last_used().elapsed() >= idle;
        let over: Vec<_> = self.lock().extract_if(|_, open| is_over(&open.session)).collect();
        for (_, open) in over {
            open.session.close();
        }
    }

    /// Ends the sessions of some principals, with everything that runs in them.
    pub(super) fn end(&self, of: impl Fn(&Principal) -> bool) {
        let over = self.lock().extract_if(|_, open| of(&open.session.principal)).collect();
        let over: Vec<(String, OpenSession)> = over;
        for (_, open) in over {
            open.session.close();
        }
    }

    /// Ends all of them.
    pub(super) fn clear(&self) {
        let all: Vec<_> = self.lock().drain().collect();
        for (_, open) in all {
            open.session.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OpenSession>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a session to make room for a new one, if the limits are reached. A client that opens
/// sessions without end loses its own; those of clients with fewer stay.
fn make_room(
    sessions: &mut HashMap<String, OpenSession>,
    opened: &OpenSession,
    limits: SessionLimits,
) -> Result<Option<OpenSession>, SessionsFull> {
    if sessions.len() < limits.of_client {
        return Ok(None);
    }
    let own = sessions.values().filter(|open| open.has_same_client(opened)).count();
    let crowded = if own >= limits.of_client {
        silent(sessions, |open| open.has_same_client(opened))
    } else if sessions.len() < limits.in_all {
        return Ok(None);
    } else {
        let most = greediest(sessions, opened);
        silent(sessions, |open| open.has_same_opener(most))
            .or_else(|| silent(sessions, |open| open.has_same_opener(opened)))
    };
    let id = crowded.ok_or(SessionsFull)?;
    Ok(sessions.remove(&id))
}

/// The removable session that was silent longest. One that was never used goes first: a client that
/// only opens sessions must not outlast those that work in theirs.
fn silent(
    sessions: &HashMap<String, OpenSession>,
    may_go: impl Fn(&OpenSession) -> bool,
) -> Option<String> {
    let quiet = sessions.iter().filter(|(_, open)| may_go(open) && open.session.is_quiet());
    let silent = quiet.min_by_key(|(_, open)| {
        let session = &open.session;
        (!session.is_unused(), session.last_used())
    });
    silent.map(|(id, _)| id.clone())
}

/// A session of the opener with the most of them, or the new one if no other opener has more.
fn greediest<'a>(
    sessions: &'a HashMap<String, OpenSession>,
    opened: &'a OpenSession,
) -> &'a OpenSession {
    let mut openers: HashMap<SessionOpener<'_>, (usize, &OpenSession)> = HashMap::new();
    for open in sessions.values() {
        openers.entry(open.opener()).or_insert((0, open)).0 += 1;
    }
    let count = |open: &OpenSession| openers.get(&open.opener()).map_or(0, |(count, _)| *count);
    let most = openers.values().max_by_key(|(count, _)| *count);
    most.filter(|(most, _)| *most > count(opened)).map_or(opened, |(_, open)| *open)
}

#[cfg(test)]
mod tests;
