//! The wire to a remote server: one POST a request, answered as JSON or as a stream of events
//! (MCP specification, "Streamable HTTP").

use std::collections::HashMap;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use ::http::Method;
use ::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use gatefold_core::Domain;
use gatefold_dispatch::{CredentialSet, Question};
use gatefold_egress::{HttpClient, SendError};
use gatefold_secrecy::KnownSecrets;
use reqwest::{Response, Url};
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::back_channel::{
    BackChannel, OpenQuestions, QuestionRouter, QuestionStep, read_question, unsupported,
};
use super::credentials::CredentialHeaders;
use super::message::{FIRST_OWN_ID, Reply, ServerMessage, cancelled};
use super::notices::ServerNotices;
use super::reading_pace::{ReadingPace, SharedPace};
use super::request::{PENDING_REQUESTS, RequestKind, WireError, WireRequest};
use crate::counted::counted;
use crate::path::GatewayPath;
use crate::protocol::headers::{JSON, METHOD, NAME, PROTOCOL_VERSION, SESSION_ID, encoded};
use crate::protocol::{Era, STATELESS_VERSION, methods, rpc};

mod admission;
mod body;
mod events;
mod exchange;
mod stream;

use self::body::{RefusedAnswer, checked, with_cause};
pub(crate) use self::stream::STREAM_EVENT_BYTES;

/// Room for the envelope around a result, and for events before the answer, in bytes.
const ENVELOPE_BYTES: u64 = 256 * 1024;
/// The most messages that are not requests, such as cancellations, in flight at a time. Further ones are
/// dropped.
const ASIDES: usize = 32;
/// The most answers of our own, such as to pings, in flight at a time. Further ones are dropped.
const REPLIES: usize = 32;
/// How long a server may take to accept such a message.
const ASIDE_DEADLINE: Duration = Duration::from_secs(10);
/// How long a server may take to end a session.
const CLOSE_DEADLINE: Duration = Duration::from_secs(2);

/// A connection to one server under one identity.
pub(crate) struct HttpWire {
    domain: Domain,
    client: HttpClient,
    path: Arc<GatewayPath>,
    url: Url,
    credentials: CredentialHeaders,
    era: Era,
    next_id: AtomicU64,
    /// The session that the answer to `initialize` named, if it did.
    session: OnceLock<Box<str>>,
    /// The negotiated version, which every later request names.
    version: OnceLock<Box<str>>,
    /// The first method of a list that was answered with one.
    listed: OnceLock<&'static str>,
    asides: Arc<Semaphore>,
    replies: Arc<Semaphore>,
    notices: ServerNotices,
    /// The requests under way by their ids, at most [`PENDING_REQUESTS`].
    under_way: Mutex<HashMap<u64, Arc<BackChannel>>>,
    router: QuestionRouter,
    /// How fast the streams that stand open are read.
    pace: SharedPace,
    /// Fires when the server says that it has forgotten the session.
    forgotten: CancellationToken,
    /// Fires when the connection is ended, or dropped.
    end: CancellationToken,
    _end: DropGuard,
}

impl HttpWire {
    pub(crate) fn new(
        domain: Domain,
        (client, path): (HttpClient, Arc<GatewayPath>),
        url: Url,
        credentials: CredentialHeaders,
        notices: ServerNotices,
        era: Era,
    ) -> Arc<Self> {
        let end = CancellationToken::new();
        let version = match era {
            Era::Stateless => OnceLock::from(Box::from(STATELESS_VERSION)),
            Era::Handshake => OnceLock::new(),
        };
        Arc::new(Self {
            domain,
            client,
            path,
            url,
            credentials,
            era,
            next_id: AtomicU64::new(FIRST_OWN_ID),
            session: OnceLock::new(),
            version,
            listed: OnceLock::new(),
            asides: Arc::new(Semaphore::new(ASIDES)),
            replies: Arc::new(Semaphore::new(REPLIES)),
            notices,
            under_way: Mutex::default(),
            router: QuestionRouter::new(),
            pace: SharedPace::new(ReadingPace::new().into()),
            forgotten: CancellationToken::new(),
            _end: end.clone().drop_guard(),
            end,
        })
    }

    /// Why the session is over, if the server has forgotten it.
    pub(crate) fn ended(&self) -> Option<String> {
        self.forgotten.is_cancelled().then(|| WireError::Forgotten.to_string())
    }

    pub(crate) async fn when_ended(&self) {
        self.forgotten.cancelled().await;
    }

    /// Notes that the server has forgotten the session.
    fn forget(&self) {
        self.forgotten.cancel();
    }

    /// What is masked in everything that the server says.
    fn secrets(&self) -> Arc<KnownSecrets> {
        self.credentials.secrets()
    }

    /// Requests of the stateless era say their method and name in headers, and need no session.
    fn is_stateless(&self) -> bool {
        self.era == Era::Stateless
    }

    pub(crate) fn has_session(&self) -> bool {
        self.session.get().is_some()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<BackChannel>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn settle(&self, version: &str) {
        // A wire has one handshake; a second one gets a wire of its own.
        let _ = self.version.set(version.into());
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) async fn notify(&self, text: String) -> Result<(), WireError> {
        let response = self.post(text, None).await?;
        if response.status().is_success() {
            return Ok(());
        }
        // A notification has no answer, so a protocol error means nothing here.
        RefusedAnswer::read(response, &self.url, &self.secrets()).await.reply.map(drop)
    }

    /// Ends the stream that belongs to no request, and the session at the server.
    pub(crate) async fn close(&self) {
        let is_over = self.end.is_cancelled() || self.forgotten.is_cancelled();
        self.end.cancel();
        if is_over || self.session.get().is_none() {
            return;
        }
        let ending = async {
            let headers = self.session_headers().await.ok()?;
            let request = self.client.request(Method::DELETE, self.url.clone()).headers(headers);
            self.client.send_once(request).await.ok()
        };
        if !matches!(timeout(CLOSE_DEADLINE, ending).await, Ok(Some(_))) {
            tracing::debug!(domain = %self.domain, "a session ended badly");
        }
    }

    pub(crate) async fn request(
        self: &Arc<Self>,
        mut request: WireRequest,
    ) -> Result<Reply, WireError> {
        // It counts for as long as the HTTP client keeps it.
        let body = counted(take(&mut request.text), request.memory.take());
        let _turn = self.router.wait(&request.back_channel).await;
        {
            let mut under_way = self.lock();
            if !self.notices.roots.admits(&request.back_channel) {
                return Err(WireError::Taken);
            }
            if under_way.len() >= PENDING_REQUESTS {
                return Err(WireError::Full);
            }
            under_way.insert(request.id, request.back_channel.clone());
        }
        let (id, kind) = (request.id, request.kind);
        let mut guard = UnansweredRequest { wire: self, id, kind, is_sent: true };
        let mut questions = OpenQuestions::of(request.back_channel.clone());
        let mut exchange = std::pin::pin!(self.exchange(&request, body));
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut exchange => break answer,
                next = questions.next() => match next {
                    QuestionStep::Send(answer) => self.post_answer(answer),
                    QuestionStep::Refuse(answer) => self.post_reply(answer),
                    QuestionStep::Answer(reply) => break checked(Some(reply), request.limit),
                },
            }
        };
        guard.is_sent = false;
        answer
    }

    async fn post(
        &self,
        body: impl Into<reqwest::Body>,
        request: Option<&WireRequest>,
    ) -> Result<Response, WireError> {
        Ok(self.post_carrying(body, request).await?.0)
    }

    /// Posts a message, and says with which credentials.
    async fn post_carrying(
        &self,
        body: impl Into<reqwest::Body>,
        request: Option<&WireRequest>,
    ) -> Result<(Response, CredentialSet), WireError> {
        let (mut headers, carried) = self.carried_headers().await?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let (true, Some(request)) = (self.is_stateless(), request) {
            insert(&mut headers, METHOD, request.method);
            if let Some(name) = &request.name {
                insert(&mut headers, NAME, &encoded(name));
            }
            headers.extend(request.headers.iter().cloned());
        }
        let request =
            self.client.request(Method::POST, self.url.clone()).headers(headers).body(body);
        let sent = self.client.send_once(request).await;
        sent.map(|response| (response, carried)).map_err(|error| unsent_or_lost(&error))
    }

    /// The headers of every message: credentials, session and version.
    async fn session_headers(&self) -> Result<HeaderMap, WireError> {
        Ok(self.carried_headers().await?.0)
    }

    /// The same, and the credentials among them.
    async fn carried_headers(&self) -> Result<(HeaderMap, CredentialSet), WireError> {
        let (mut headers, carried) = self.credentials.headers().await?;
        self.path.name_in(&mut headers);
        if let Some(session) = self.session.get() {
            insert(&mut headers, SESSION_ID, session);
        }
        if let Some(version) = self.version.get() {
            insert(&mut headers, PROTOCOL_VERSION, version);
        }
        Ok((headers, carried))
    }

    /// Sends a message that nobody waits for.
    fn post_aside(self: &Arc<Self>, text: String) {
        self.post_in(&self.asides, text);
    }

    /// Sends an answer of our own. A server that floods us with pings or refused requests does not
    /// get all of them.
    fn post_reply(self: &Arc<Self>, text: String) {
        self.post_in(&self.replies, text);
    }

    fn post_in(self: &Arc<Self>, places: &Arc<Semaphore>, text: String) {
        let Ok(place) = places.clone().try_acquire_owned() else {
            tracing::debug!(domain = %self.domain, "dropped a message, as too many are under way");
            return;
        };
        let wire = self.clone();
        tokio::spawn(async move {
            let _place = place;
            drop(timeout(ASIDE_DEADLINE, wire.post(text, None)).await);
        });
    }

    /// Sends a client's answer to a question, which the server waits for. Each question has one
    /// answer, so the limit on questions also bounds these.
    fn post_answer(self: &Arc<Self>, text: String) {
        let wire = self.clone();
        tokio::spawn(async move {
            let posted = timeout(ASIDE_DEADLINE, async {
                let _place = wire.asides.acquire().await;
                wire.post(text, None).await
            });
            if posted.await.is_err() {
                tracing::debug!(domain = %wire.domain, "an answer was not taken in time");
            }
        });
    }

    /// Handles a message that is not an answer. `back_channel` is that of the request whose stream
    /// it came on, or None for the stream that belongs to no request.
    fn take_aside(
        self: &Arc<Self>,
        message: &ServerMessage<'_>,
        back_channel: Option<&Arc<BackChannel>>,
    ) {
        match (message.id, message.method.as_deref()) {
            (Some(id), Some(method)) => {
                if let Err(answer) = self.take_question(id, method, message, back_channel) {
                    self.post_reply(answer);
                }
            }
            (None, Some(_)) => {
                if let Some(back_channel) = back_channel {
                    back_channel.note(message);
                }
                if !self.notices.take(message) {
                    match back_channel {
                        Some(back_channel) => back_channel.tell(message),
                        None => self.take_notice(message),
                    }
                }
            }
            _ => {}
        }
    }

    /// Handles an answer that came on the stream that belongs to no request.
    fn take_answer(&self, message: &ServerMessage<'_>) {
        let Some(id) = message.own_id() else { return };
        if let (Some(back_channel), Some(reply)) = (self.lock().get(&id), message.reply()) {
            back_channel.answer(reply);
        }
    }

    /// Passes on a server's request. The error is the answer to send at once.
    fn take_question(
        self: &Arc<Self>,
        id: &RawValue,
        method: &str,
        message: &ServerMessage<'_>,
        back_channel: Option<&Arc<BackChannel>>,
    ) -> Result<(), String> {
        match method {
            methods::PING => Err(rpc::answer_with(id, "{}")),
            methods::ELICIT | methods::SAMPLE | methods::ROOTS_LIST => {
                let question = read_question(id, method, message.params)?;
                if method == methods::ROOTS_LIST && self.notices.roots.has_sole_client() {
                    self.ask_for_roots(id, question);
                    return Ok(());
                }
                if method == methods::ROOTS_LIST {
                    self.notices.roots.claim(self.lock().values(), id)?;
                }
                match back_channel {
                    Some(back_channel) => back_channel.put(id, question),
                    None => self.router.put(self.lock().values(), id, question),
                }
            }
            _ => Err(unsupported(id, method)),
        }
    }

    /// Asks the only client for its roots, while other requests may be under way.
    fn ask_for_roots(self: &Arc<Self>, id: &RawValue, question: Question) {
        let (wire, id, end) = (self.clone(), id.to_owned(), self.end.clone());
        tokio::spawn(end.run_until_cancelled_owned(async move {
            let answer = wire.notices.roots.ask(&id, question).await;
            wire.post_answer(answer);
            wire.notices.roots.note_answered();
        }));
    }

    /// Handles a notification on the stream that belongs to no request.
    fn take_notice(&self, message: &ServerMessage<'_>) {
        let under_way = self.lock();
        if let Some((token, _)) = message.own_progress() {
            if let Some(back_channel) = under_way.get(&token) {
                back_channel.tell(message);
            }
        } else if let Some(id) = message.withdrawn() {
            for back_channel in under_way.values() {
                back_channel.withdraw(id);
            }
        } else {
            self.router.tell_only(under_way.values(), message);
        }
    }
}

/// Only a connection that was never made proves that nothing was sent.
fn unsent_or_lost(error: &SendError) -> WireError {
    let text = with_cause(error.to_string(), error);
    match error {
        SendError::Unreachable(_) => WireError::NotSent(text),
        SendError::Failed(_) => WireError::Lost(text),
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// One request under way. Dropping it before the answer arrives cancels it at the server.
struct UnansweredRequest<'a> {
    wire: &'a Arc<HttpWire>,
    id: u64,
    kind: RequestKind,
    is_sent: bool,
}

impl Drop for UnansweredRequest<'_> {
    fn drop(&mut self) {
        let back_channel = self.wire.lock().remove(&self.id);
        let Some(back_channel) =
            back_channel.filter(|_| self.is_sent && self.kind == RequestKind::Ordinary)
        else {
            return;
        };
        self.wire.router.abandon(self.id, &back_channel);
        // In the stateless era, closing the response is what cancels.
        if !self.wire.is_stateless() {
            self.wire.post_aside(cancelled(self.id));
        }
    }
}
