//! Messages that clients POST, of both eras.

use std::sync::Arc;

use ::http::request::Parts;
use ::http::{HeaderMap, HeaderValue, Response, StatusCode};
use axum::body::Body;
use futures::stream::unfold;
use gatefold_dispatch::{MemoryShare, ResultPlace};
use gatefold_exchange::Audience;
use gatefold_http::BudgetShare;
use serde_json::value::RawValue;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::headers::{check_types, full, refused, session_id};
use super::{Access, EndpointState, resumable};
use crate::counted::counted;
use crate::downstream::client::{Client, ClientState, begin, begin_unasked};
use crate::downstream::era;
use crate::downstream::message::{
    self, ClientRequest, Message, MetaMembers, PostedMessages, UnreadableMessage,
};
use crate::downstream::replays::ReplayPiece;
use crate::downstream::request::{RequestGuard, RequestInProgress, RequestStep};
use crate::downstream::sessions::{ClientSession, SessionRequest, SessionsFull, TooManyRequests};
use crate::downstream::streams::{Event, REFUSALS, SOON, empty, json, stream};
use crate::downstream::{openings, params};
use crate::protocol::headers::SESSION_ID;
use crate::protocol::{Era, RESUMABLE_VERSION, methods, rpc};

impl EndpointState {
    pub(super) async fn post(
        self: &Arc<Self>,
        access: Access,
        parts: Parts,
        body: Body,
    ) -> Response<Body> {
        if let Err(refused) = check_types(&parts.headers) {
            return *refused;
        }
        let (body, share) = match self.bodies.read(body).await {
            Ok(read) => read,
            Err(unread) => return unread.response(REFUSALS),
        };
        match message::unpack(&body) {
            Ok(PostedMessages::One(text)) => {
                let message = message::read(text);
                // A call may take long, and its message is a copy.
                drop(body);
                match message {
                    Ok(message) => self.take(access, &parts.headers, message, share).await,
                    Err(UnreadableMessage { id, error }) => {
                        refused(id.as_deref(), &error, Era::Stateless)
                    }
                }
            }
            Ok(PostedMessages::Batch(batch)) => self.batch(&access, &parts.headers, &batch).await,
            Err(error) => refused(None, &error, Era::Stateless),
        }
    }

    async fn take(
        self: &Arc<Self>,
        access: Access,
        headers: &HeaderMap,
        message: Message,
        share: BudgetShare,
    ) -> Response<Body> {
        match message {
            Message::Request(request) => self.request(access, headers, request, share).await,
            Message::Notification { method, params } => {
                match session_id(headers).map(|_| self.session(&access, headers)) {
                    Some(Err(refused)) => return *refused,
                    Some(Ok(session)) => self.server.notified(&session, &method, &params),
                    // In the stateless era, a client cancels by closing the connection.
                    None => {}
                }
                empty(StatusCode::ACCEPTED)
            }
            Message::Response { id, answer } => match self.session(&access, headers) {
                Ok(session) => {
                    session.questions.answer(&id, answer);
                    empty(StatusCode::ACCEPTED)
                }
                Err(refused) => *refused,
            },
        }
    }

    async fn request(
        self: &Arc<Self>,
        access: Access,
        headers: &HeaderMap,
        mut request: ClientRequest,
        share: BudgetShare,
    ) -> Response<Body> {
        let id = request.id.clone();
        let meta = request.params.take_meta();
        let version = match era::version_header(headers) {
            Ok(version) => version,
            Err(error) => return refused(Some(&id), &error, Era::Handshake),
        };
        if era::of_request(&request, &meta, version) == Era::Handshake {
            if request.method == methods::INITIALIZE {
                return self.initialize(access, &request, &meta).await;
            }
            return match self.session(&access, headers) {
                Ok(session) => match era::check_session_headers(headers) {
                    Ok(()) => {
                        self.work(
                            access.audience.clone(),
                            of_session(session, &access),
                            request,
                            meta,
                            share,
                        )
                        .await
                    }
                    Err(error) => refused(Some(&id), &error, Era::Handshake),
                },
                Err(refused) => *refused,
            };
        }
        if let Err(error) = era::check_headers(headers, &request, &meta) {
            return refused(Some(&id), &error, Era::Stateless);
        }
        let Access { principal, audience, .. } = access;
        let client = openings::standing_alone(principal, &meta);
        if let Err(error) = params::check(&self.server, &audience, &client, &request, headers) {
            return refused(Some(&id), &error, Era::Stateless);
        }
        if request.method == methods::LISTEN {
            return self.listen(audience, &client, request).await;
        }
        self.work(audience, client, request, meta, share).await
    }

    async fn initialize(
        self: &Arc<Self>,
        access: Access,
        request: &ClientRequest,
        meta: &MetaMembers,
    ) -> Response<Body> {
        let Access { principal, audience, address } = access;
        let opened = openings::opened(&self.server, audience, principal, &request.params, meta);
        let (session, result) = match opened.await {
            Ok(opened) => opened,
            Err(error) => return refused(Some(&request.id), &error, Era::Handshake),
        };
        let id = match self.sessions.open(session, address) {
            Ok(id) => id,
            Err(SessionsFull) => return full(),
        };
        let mut response = json(StatusCode::OK, rpc::answer(&request.id, &Ok(result)));
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION_ID, id);
        }
        response
    }

    /// Works on a request. An answer that comes first and soon is plain JSON. Everything else is an
    /// event stream, which a session of the latest version can resume where it broke off.
    async fn work(
        self: &Arc<Self>,
        audience: Audience,
        client: Client,
        request: ClientRequest,
        meta: MetaMembers,
        share: BudgetShare,
    ) -> Response<Body> {
        let (id, era) = (request.id.clone(), client.era());
        let held = match self.held(&client, &id, share) {
            Ok(held) => held,
            Err(full) => return refused(Some(&id), &full.into(), era),
        };
        let replays = client.session().filter(|session| session.version == RESUMABLE_VERSION);
        let replays = replays.map(|session| session.replays.clone());
        let mut working = begin(self.server.clone(), audience, client, request, meta, held);
        let first = match timeout(SOON, working.next()).await {
            Ok(RequestStep::Answer(answer)) => {
                let result = answer.result.as_ref();
                let status = result.map_or_else(|error| error.status(era), |_| StatusCode::OK);
                return json(status, answer.text(&id));
            }
            Ok(RequestStep::Cancelled) => return stream(futures::stream::empty()),
            Ok(RequestStep::Message(text)) => Some(ReplayPiece::Message(text)),
            Ok(RequestStep::Pause(retry)) => Some(ReplayPiece::Pause(retry)),
            Err(_) => None,
        };
        if let Some(replays) = replays {
            match replays.begin(first.clone(), working, id.clone(), &self.retention) {
                Ok(reader) => return resumable(reader),
                Err(crowded) => working = *crowded,
            }
        }
        unresumable(first, working, id)
    }

    fn held(
        &self,
        client: &Client,
        id: &RawValue,
        share: BudgetShare,
    ) -> Result<HttpRequestGuard, TooManyRequests> {
        let noted = client.session().map(|session| session.begin(id.get())).transpose()?;
        let stopped = self.stopped.clone();
        Ok(HttpRequestGuard { noted, share, stopped, _counted: self.requests.token() })
    }

    /// Answers several messages together, which clients of one version may send.
    async fn batch(
        self: &Arc<Self>,
        access: &Access,
        headers: &HeaderMap,
        batch: &[&RawValue],
    ) -> Response<Body> {
        let session = match self.session(access, headers) {
            Ok(session) => session,
            Err(refused) => return *refused,
        };
        if let Err(error) = message::check_batch(Some(session.version), batch.len()) {
            return refused(None, &error, Era::Handshake);
        }
        let answers = batch.iter().map(async |text| self.of_batch(access, &session, text).await);
        let answers = futures::future::join_all(answers).await.into_iter().flatten();
        let (answers, places): (Vec<String>, Vec<ResultPlace>) = answers.unzip();
        if answers.is_empty() {
            return empty(StatusCode::ACCEPTED);
        }
        json(StatusCode::OK, counted(format!("[{}]", answers.join(",")), places))
    }

    async fn of_batch(
        self: &Arc<Self>,
        access: &Access,
        session: &Arc<ClientSession>,
        text: &RawValue,
    ) -> Option<(String, ResultPlace)> {
        let told = |text: String| Some((text, ResultPlace::default()));
        match message::read(text.get().as_bytes()) {
            Err(UnreadableMessage { id, error }) => told(rpc::refusal(id.as_deref(), &error)),
            Ok(Message::Notification { method, params }) => {
                self.server.notified(session, &method, &params);
                None
            }
            Ok(Message::Response { id, answer }) => {
                session.questions.answer(&id, answer);
                None
            }
            Ok(Message::Request(mut request)) => {
                let (id, meta) = (request.id.clone(), request.params.take_meta());
                let (audience, client) =
                    (access.audience.clone(), of_session(session.clone(), access));
                // Whoever reads the answers keeps the share of the whole batch.
                let held = match self.held(&client, &id, BudgetShare::none()) {
                    Ok(held) => held,
                    Err(full) => return told(rpc::refusal(Some(&id), &full.into())),
                };
                let server = self.server.clone();
                // Clients cannot be asked anything in between, because all answers come together.
                let working = begin_unasked(server, audience, client, request, meta, held);
                let answer = working.answered().await?;
                Some((rpc::answer(&id, &answer.result), answer.place))
            }
        }
    }
}

/// What a request holds while it runs: its place in its session, if it has one, its share of the
/// memory budget, and its place among the requests that a shutdown waits for.
struct HttpRequestGuard {
    noted: Option<SessionRequest>,
    share: BudgetShare,
    stopped: CancellationToken,
    _counted: TaskTrackerToken,
}

impl RequestGuard for HttpRequestGuard {
    fn cancel(&self) -> CancellationToken {
        self.noted.as_ref().map_or_else(CancellationToken::new, |noted| noted.cancel.clone())
    }

    fn stopped(&self) -> CancellationToken {
        self.stopped.clone()
    }

    fn memory(&self) -> Option<Arc<dyn MemoryShare>> {
        let is_large = self.share.is_large();
        is_large.then(|| Arc::new(RequestMemory(self.share.clone())) as Arc<dyn MemoryShare>)
    }
}

/// The share of a large request, as its call keeps it.
struct RequestMemory(BudgetShare);

impl MemoryShare for RequestMemory {
    fn may_wait(&self) -> bool {
        self.0.may_wait()
    }
}

/// A session's request is judged by the rights of its own sender, whatever they were when the
/// session began.
fn of_session(session: Arc<ClientSession>, access: &Access) -> Client {
    let (principal, name) = (access.principal.clone(), session.client.clone());
    Client { principal, name, standing: ClientState::Session(session), connection: None }
}

/// A stream whose request is cancelled when it breaks off.
fn unresumable(
    first: Option<ReplayPiece>,
    working: RequestInProgress,
    id: Box<RawValue>,
) -> Response<Body> {
    stream(unfold(Some((first, working, id)), async |state| {
        let (first, mut working, id) = state?;
        if let Some(ReplayPiece::Message(text)) = first {
            return Some((Event::once(text), Some((None, working, id))));
        }
        loop {
            match working.next().await {
                RequestStep::Pause(_) => {}
                RequestStep::Cancelled => return None,
                RequestStep::Message(text) => {
                    return Some((Event::once(text), Some((None, working, id))));
                }
                RequestStep::Answer(answer) => {
                    return Some((Event::once(answer.line(&id)), None));
                }
            }
        }
    }))
}
