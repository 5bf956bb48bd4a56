//! The sessions of handshake-era clients over HTTP.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{AgentId, ClientName, OrganisationId, Principal, UserId};
use gatefold_dispatch::{ClientCapabilities, SharedLabel};
use gatefold_exchange::Audience;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::message::RequestParams;
use super::peers::PendingQuestions;
use super::replays::Replays;
use super::request::RequestGuard;
use super::subscriptions::ClientSubscriptions;
use crate::protocol::{LogLevel, RpcError, methods};

/// The most open sessions. One more closes a silent one of whoever has most.
const SESSIONS: usize = 10_000;

/// The most open sessions of one client: the same principal, address and name. One more closes its own
/// that was silent longest.
const SESSIONS_OF_CLIENT: usize = 2_500;

/// The most running requests of one client. One more is refused instead of waiting, because the
/// client may have forgotten the others.
pub(super) const SESSION_REQUESTS: usize = 512;

/// The random bytes of a session's id.
const ID_BYTES: usize = 16;

/// A session: what `initialize` settled with one client, and its state since.
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
    /// The label of everything its calls have read so far. It rides forward from each to the next.
    pub(super) label: SharedLabel,
    state: Mutex<SessionState>,
    /// Fires when the session is over.
    pub(super) closed: CancellationToken,
}

struct SessionState {
    log_level: Option<LogLevel>,
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
            state: Mutex::new(state),
            closed: CancellationToken::new(),
        })
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

impl RequestGuard for SessionRequest {
    fn cancel(&self) -> CancellationToken {
        self.cancel.clone()
    }
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
type SessionOpener<'a> =
    (Option<IpAddr>, &'a UserId, Option<&'a OrganisationId>, Option<&'a AgentId>);

struct OpenSession {
    session: Arc<ClientSession>,
    /// Where it was opened from.
    address: Option<IpAddr>,
}

impl OpenSession {
    /// Who opened it, as far as they cannot pass for somebody else: what a client calls itself is only
    /// claimed.
    fn opener(&self) -> SessionOpener<'_> {
        let Principal { user, organisation, agent, .. } = &*self.session.principal;
        (self.address, user, organisation.as_ref(), agent.as_ref())
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

/// Removes a session whose place a new one may take, if the limits are reached. Whoever opens sessions
/// without end closes their own: those of a client with fewer stay.
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

/// The session that was silent longest of those that may go. One that was never used goes first: a
/// client that only opens sessions must not outlast those that work in theirs.
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

/// A session of whoever has most of them, which is whoever opens one when nobody has more.
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
mod tests {
    use gatefold_core::Label;
    use gatefold_disclose::{Disclosure, Gateway};
    use gatefold_exchange::{Disclosures, Scope};

    use super::*;
    use crate::downstream::client::{Client, ClientState};

    const IDLE: Duration = Duration::from_secs(60);

    fn session() -> Arc<ClientSession> {
        let principal = Arc::new(Principal::local());
        let subscriptions = ClientSubscriptions::detached();
        let capabilities = ClientCapabilities::default();
        let gateway: Arc<dyn Disclosure> = Arc::new(Gateway::default());
        let audience = Disclosures::standard(&gateway).audience(Scope::Everything, None).unwrap();
        ClientSession::new(audience, principal, None, capabilities, "2025-11-25", subscriptions)
    }

    const FEW: SessionLimits = SessionLimits { in_all: 40, of_client: 10 };

    fn few() -> Sessions {
        Sessions { open: Mutex::default(), limits: FEW }
    }

    fn open(sessions: &Sessions) -> (String, Arc<ClientSession>) {
        let session = session();
        (sessions.open(session.clone(), None).unwrap(), session)
    }

    /// A session of a client that calls itself so, from an address.
    fn opened(sessions: &Sessions, name: &str, address: [u8; 4]) -> Arc<ClientSession> {
        let mut own = Arc::into_inner(session()).unwrap();
        own.client = Some(ClientName::new(name));
        let own = Arc::new(own);
        sessions.open(own.clone(), Some(address.into())).unwrap();
        own
    }

    #[test]
    fn what_one_request_of_a_session_has_read_the_next_one_knows() {
        let label = |session: &Arc<ClientSession>| {
            let (principal, standing) =
                (session.principal.clone(), ClientState::Session(session.clone()));
            Client { principal, name: None, standing, connection: None }.label()
        };
        let (read_on, other) = (session(), session());
        label(&read_on).raise(Label::OpenWorld);
        assert_eq!(label(&read_on).get(), Label::OpenWorld);
        assert_eq!(label(&other).get(), Label::Clean, "another session has read nothing");
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_silent_and_not_while_something_goes_on() {
        let sessions = Sessions::default();
        let ((silent, ended), (_, calling), (_, listening)) =
            (open(&sessions), open(&sessions), open(&sessions));
        let going_on = (calling.begin("1").unwrap(), listening.listen());
        tokio::time::advance(IDLE).await;
        sessions.expire(IDLE);
        assert!(sessions.get(&silent, |_| true).is_none() && ended.closed.is_cancelled());
        assert_eq!(sessions.count(), 2);
        drop(going_on);
        sessions.expire(IDLE);
        assert_eq!(sessions.count(), 2, "silence begins with the end of what went on");
        tokio::time::advance(IDLE).await;
        sessions.expire(IDLE);
        assert_eq!(sessions.count(), 0);
    }

    #[test]
    fn the_end_of_a_request_leaves_another_of_the_same_id_alone() {
        let (session, other) = (session(), session());
        let (first, second) = (session.begin("7").unwrap(), session.begin("7").unwrap());
        drop(first);
        other.cancel("7");
        assert!(!second.cancel.is_cancelled(), "another session's request is its own");
        session.cancel("7");
        assert!(second.cancel.is_cancelled());
    }

    #[test]
    fn a_client_has_so_many_requests_under_way_and_no_more() {
        let (session, other) = (session(), session());
        let mut requests: Vec<_> =
            (0..SESSION_REQUESTS).map(|_| session.begin("1").unwrap()).collect();
        assert_eq!(session.begin("1").err(), Some(TooManyRequests));
        assert!(other.begin("1").is_ok(), "another session has places of its own");
        requests.pop();
        assert!(session.begin("1").is_ok(), "a place is free again");
    }

    #[test]
    fn a_later_stream_takes_the_place_of_the_one_before() {
        let session = session();
        let first = session.listen();
        let second = session.listen();
        assert!(first.replaced.is_cancelled() && !second.replaced.is_cancelled());
    }

    #[test]
    fn a_closed_session_cancels_what_goes_on_in_it() {
        let sessions = Sessions::default();
        let (id, session) = open(&sessions);
        let request = session.begin("1").unwrap();
        assert!(sessions.close(&id) && !sessions.close(&id));
        assert!(request.cancel.is_cancelled() && session.closed.is_cancelled());
    }

    #[test]
    fn a_session_too_many_takes_the_place_of_a_silent_one_or_is_refused() {
        let sessions = few();
        let mut busy: Vec<_> = (0..FEW.of_client)
            .map(|_| {
                let session = open(&sessions).1;
                (session.begin("1").unwrap(), session)
            })
            .collect();
        assert_eq!(sessions.open(session(), None).unwrap_err(), SessionsFull);
        let (request, silent) = busy.pop().unwrap();
        drop(request);
        open(&sessions);
        assert!(silent.closed.is_cancelled());
        assert_eq!(sessions.count(), FEW.of_client);
    }

    const HERE: [u8; 4] = [127, 0, 0, 1];
    const THERE: [u8; 4] = [10, 0, 0, 9];

    #[test]
    fn a_client_that_opens_sessions_without_end_closes_its_own() {
        let sessions = few();
        let editor = opened(&sessions, "editor", HERE);
        let first = opened(&sessions, "runaway", HERE);
        for _ in 0..FEW.of_client {
            opened(&sessions, "runaway", HERE);
        }
        assert!(first.closed.is_cancelled() && !editor.closed.is_cancelled());
        assert_eq!(sessions.count(), 1 + FEW.of_client);
        let other = opened(&sessions, "runaway", THERE);
        assert!(!other.closed.is_cancelled() && !editor.closed.is_cancelled());
        assert_eq!(sessions.count(), 2 + FEW.of_client, "from elsewhere it is another");
    }

    #[test]
    fn names_without_end_push_out_nobody_elsewhere_and_no_session_in_use() {
        let sessions = few();
        let (editor, other) =
            (opened(&sessions, "editor", HERE), opened(&sessions, "editor", THERE));
        drop(editor.begin("1").unwrap());
        for number in 0..FEW.in_all + 50 {
            opened(&sessions, &format!("runaway {number}"), HERE);
        }
        assert_eq!(sessions.count(), FEW.in_all);
        assert!(!other.closed.is_cancelled(), "it connects from elsewhere");
        assert!(!editor.closed.is_cancelled(), "it was used, and theirs never were");
        // A newcomer takes the place of one of those who have most.
        let newcomer = opened(&sessions, "late", THERE);
        assert!(!newcomer.closed.is_cancelled() && !other.closed.is_cancelled());
        assert_eq!(sessions.count(), FEW.in_all);
    }
}
