//! One client over standard input and output, of either era.

use std::io;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Bytes;
use futures::future::{BoxFuture, join_all};
use gatefold_core::{BoxError, Principal};
use gatefold_dispatch::ClientCapabilities;
use gatefold_exchange::Audience;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::{self, Client, ClientState};
use super::era;
use super::listening::ListenStream;
use super::message::{
    self, ClientRequest, Message, MetaMembers, PostedMessages, UnreadableMessage,
};
use super::message_memory::counted_line;
use super::notices::{NoticeFeed, WantedLists};
use super::openings;
use super::peers::{QuestionStream, SessionPeer, is_of_question};
use super::request::{RequestAnswer, RequestGuard, RequestInProgress, RequestStep};
use super::server::Server;
use super::sessions::{ClientSession, SESSION_REQUESTS, SessionRequest, TooManyRequests};
use crate::protocol::{Era, RpcError, STATELESS_VERSION, methods, rpc};
use crate::upstream::{Line, Lines};

/// The longest message that is read, in bytes.
const MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// The most messages waiting to be written.
const WRITE_QUEUE: usize = 64;

/// How long running calls may take to finish once a client has both closed its input and signalled
/// us to stop. Some clients send SIGKILL a second later, which cannot be caught.
const LEAVING: Duration = Duration::from_millis(250);

/// Serves one client over standard input and output, whose requests are this principal's, until the
/// client closes them or `shutdown` fires. Then nothing new begins, and running calls may take up
/// to `drain` to finish, or only a moment if both happened.
pub async fn serve_stdio(
    server: Arc<Server>,
    principal: Arc<Principal>,
    audience: Audience,
    drain: Duration,
    shutdown: CancellationToken,
) -> Result<(), BoxError> {
    let (input, output) = (BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    let connection = |out| StdioClient::new(server, principal, audience, out);
    Box::pin(serve(connection, input, output, drain, shutdown)).await.map_err(Into::into)
}

async fn serve(
    connection: impl FnOnce(mpsc::Sender<Bytes>) -> StdioClient,
    input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    drain: Duration,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let (sender, texts) = mpsc::channel(WRITE_QUEUE);
    let writing = tokio::spawn(write(output, texts));
    let connection = Arc::new(connection(sender));
    {
        let mut read = pin!(connection.clone().read(Lines::new(input, MESSAGE_BYTES)));
        let has_left = shutdown.run_until_cancelled(&mut read).await.is_some();
        connection.tasks.close();
        connection.end.cancel();
        let leaving = async {
            if !has_left {
                read.await;
            }
            shutdown.cancelled().await;
            sleep(LEAVING).await;
        };
        let have_ended = tokio::select! {
            ended = timeout(drain, connection.tasks.wait()) => ended.is_ok(),
            () = leaving => false,
        };
        if !have_ended {
            tracing::warn!("calls that took too long to finish were cancelled");
            connection.stopped.cancel();
            let _ = timeout(LEAVING, connection.tasks.wait()).await;
        }
    }
    connection.close();
    drop(connection);
    // Do not wait for a client that does not read its last answers.
    let limit = if shutdown.is_cancelled() { LEAVING } else { drain };
    timeout(limit, writing).await.unwrap_or(Ok(Ok(()))).unwrap_or(Ok(()))
}

/// Writes each text as a line.
async fn write(
    output: impl AsyncWrite + Unpin,
    mut texts: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    let mut output = BufWriter::new(output);
    while let Some(text) = texts.recv().await {
        output.write_all(&text).await?;
        output.write_all(b"\n").await?;
        output.flush().await?;
    }
    Ok(())
}

/// The one client, and everything that runs for it.
struct StdioClient {
    server: Arc<Server>,
    audience: Audience,
    out: mpsc::Sender<Bytes>,
    /// The session that `initialize` began, for a client of the handshake era.
    session: OnceLock<Arc<ClientSession>>,
    /// Where stateless requests are registered, so that they can be cancelled.
    alone: Arc<ClientSession>,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
    /// Fires when streams of notices must end.
    end: CancellationToken,
    /// Fires when requests had time to finish.
    stopped: CancellationToken,
    /// Fires when everything else must end.
    closed: CancellationToken,
}

impl StdioClient {
    fn new(
        server: Arc<Server>,
        principal: Arc<Principal>,
        audience: Audience,
        out: mpsc::Sender<Bytes>,
    ) -> Self {
        let subscriptions = server.subscriptions(principal.clone());
        let capabilities = ClientCapabilities::default();
        let version = STATELESS_VERSION;
        let alone = ClientSession::new(
            audience.clone(),
            principal,
            None,
            capabilities,
            version,
            subscriptions,
        );
        Self {
            server,
            audience,
            out,
            session: OnceLock::new(),
            alone,
            places: Arc::new(Semaphore::new(SESSION_REQUESTS)),
            tasks: TaskTracker::new(),
            end: CancellationToken::new(),
            stopped: CancellationToken::new(),
            closed: CancellationToken::new(),
        }
    }

    /// Reads messages until the client sends no more. After that it answers nothing.
    async fn read(self: Arc<Self>, mut lines: Lines<impl AsyncBufRead + Unpin>) {
        while let Some(line) = lines.next().await {
            match line {
                Line::Whole(line) if line.trim_ascii().is_empty() => {}
                Line::Whole(line) => match message::unpack(&line) {
                    Ok(PostedMessages::One(text)) => match message::read(text) {
                        Ok(message) => self.take(message).await,
                        Err(UnreadableMessage { id, error }) => {
                            self.refuse(id.as_deref(), &error).await;
                        }
                    },
                    Ok(PostedMessages::Batch(batch)) => self.batch(&batch).await,
                    Err(error) => self.refuse(None, &error).await,
                },
                Line::TooLong { bytes, id } => self.refuse_long(bytes, id).await,
            }
        }
        if let Some(session) = self.session.get() {
            session.questions.hang_up();
        }
    }

    /// Refuses a message under its own id, unless it answers one of our questions.
    async fn refuse_long(&self, bytes: u64, id: Option<String>) {
        let id = id.filter(|id| !is_of_question(id)).and_then(|id| RawValue::from_string(id).ok());
        let text = format!("the message has {bytes} bytes, more than {MESSAGE_BYTES}");
        self.refuse(id.as_deref(), &RpcError::invalid_request(text)).await;
    }

    /// Handles several messages together, which clients of one version may send. The answers are
    /// sent as one message; messages and questions from servers are sent as they come.
    async fn batch(self: &Arc<Self>, batch: &[&RawValue]) {
        let session = self.session.get();
        let version = session.map(|session| session.version);
        if let Err(error) = message::check_batch(version, batch.len()) {
            return self.refuse(None, &error).await;
        }
        let Some(session) = session else { return };
        let (mut answers, mut working) = (Vec::new(), Vec::new());
        for text in batch {
            match message::read(text.get().as_bytes()) {
                Err(UnreadableMessage { id, error }) => {
                    answers.push(rpc::refusal(id.as_deref(), &error));
                }
                Ok(Message::Request(request)) => match self.of_batch(session, request) {
                    Ok(work) => working.push(work),
                    Err(refusal) => answers.push(refusal),
                },
                Ok(message) => self.take(message).await,
            }
        }
        if working.is_empty() {
            if !answers.is_empty() {
                self.send(as_one(&answers)).await;
            }
            return;
        }
        let out = self.out.clone();
        self.spawn(Box::pin(async move {
            let answered = working.iter_mut().map(async |work| {
                let answer = work.answered(&out).await?;
                Some((rpc::answer(&work.id, &answer.result), answer.place))
            });
            let (texts, places): (Vec<_>, Vec<_>) =
                join_all(answered).await.into_iter().flatten().unzip();
            answers.extend(texts);
            if !answers.is_empty() {
                drop(out.send(counted_line(as_one(&answers), places)).await);
            }
        }));
    }

    /// Starts one request of a batch, or refuses it.
    fn of_batch(
        &self,
        session: &Arc<ClientSession>,
        mut request: ClientRequest,
    ) -> Result<StdioRequest, String> {
        let refusal = |error: RpcError| rpc::refusal(Some(&request.id), &error);
        if self.end.is_cancelled() {
            return Err(refusal(stopping()));
        }
        let place = self.places.clone().try_acquire_owned();
        let place = place.map_err(|_| refusal(TooManyRequests.into()))?;
        let meta = request.params.take_meta();
        Ok(self.begin(of_session(session), request, meta, place))
    }

    async fn take(self: &Arc<Self>, message: Message) {
        match message {
            Message::Request(request) if self.end.is_cancelled() => {
                self.refuse(Some(&request.id), &stopping()).await;
            }
            Message::Request(request) => {
                // Waiting here would stop the reading that makes room.
                let Ok(place) = self.places.clone().try_acquire_owned() else {
                    return self.refuse(Some(&request.id), &TooManyRequests.into()).await;
                };
                self.request(request, place).await;
            }
            Message::Notification { method, params } => {
                for session in self.session.get().into_iter().chain([&self.alone]) {
                    self.server.notified(session, &method, &params);
                }
                if let (methods::INITIALIZED, Some(session)) = (&*method, self.session.get()) {
                    self.server.meet(Arc::new(SessionPeer {
                        capabilities: session.capabilities.clone(),
                        questions: session.questions.clone(),
                        stream: QuestionStream::Connection(self.out.downgrade()),
                    }));
                }
            }
            Message::Response { id, answer } => {
                if let Some(session) = self.session.get() {
                    session.questions.answer(&id, answer);
                }
            }
        }
    }

    async fn request(self: &Arc<Self>, mut request: ClientRequest, place: OwnedSemaphorePermit) {
        let meta = request.params.take_meta();
        if era::of_request(&request, &meta, None) == Era::Stateless {
            if let Err(error) = era::check_meta(&meta) {
                return self.refuse(Some(&request.id), &error).await;
            }
            let connection = Some(self.alone.questions.client);
            let client = Client {
                connection,
                ..openings::standing_alone(self.alone.principal.clone(), &meta)
            };
            if request.method == methods::LISTEN {
                return self.listen(client, request, place);
            }
            return self.work(client, request, meta, place);
        }
        if request.method == methods::INITIALIZE {
            return self.initialize(&request, &meta).await;
        }
        match self.session.get() {
            Some(session) => self.work(of_session(session), request, meta, place),
            None if request.method == methods::PING => {
                self.send(rpc::answer(&request.id, &Ok("{}".to_owned()))).await;
            }
            None => {
                let text = "begin with `initialize`, or send `_meta` of version 2026-07-28";
                self.refuse(Some(&request.id), &RpcError::invalid_request(text)).await;
            }
        }
    }

    async fn initialize(self: &Arc<Self>, request: &ClientRequest, meta: &MetaMembers) {
        let (audience, principal) = (self.audience.clone(), self.alone.principal.clone());
        let opened = openings::opened(&self.server, audience, principal, &request.params, meta);
        match opened.await {
            Ok((session, result)) => {
                let is_first = self.session.set(session.clone()).is_ok();
                if !is_first {
                    let error = RpcError::invalid_request("the session is initialized already");
                    return self.refuse(Some(&request.id), &error).await;
                }
                self.send(rpc::answer(&request.id, &Ok(result))).await;
                self.tell_changes(&session);
            }
            Err(error) => self.refuse(Some(&request.id), &error).await,
        }
    }

    /// Handles a request without blocking the reading of others.
    fn work(
        self: &Arc<Self>,
        client: Client,
        request: ClientRequest,
        meta: MetaMembers,
        place: OwnedSemaphorePermit,
    ) {
        let mut work = self.begin(client, request, meta, place);
        let out = self.out.clone();
        self.spawn(Box::pin(async move {
            if let Some(answer) = work.answered(&out).await {
                drop(out.send(answer.line(&work.id)).await);
            }
        }));
    }

    fn begin(
        &self,
        client: Client,
        request: ClientRequest,
        meta: MetaMembers,
        place: OwnedSemaphorePermit,
    ) -> StdioRequest {
        let id = request.id.clone();
        let session = client.session().unwrap_or(&self.alone);
        let noted = session.begin(id.get()).expect("it has a place among as many");
        let held = StdioGuard { noted, stopped: self.stopped.clone() };
        let (server, audience) = (self.server.clone(), self.audience.clone());
        let working = client::begin(server, audience, client, request, meta, held);
        StdioRequest { id, working, _place: place }
    }

    fn listen(
        self: &Arc<Self>,
        client: Client,
        request: ClientRequest,
        place: OwnedSemaphorePermit,
    ) {
        let ClientRequest { id, params, .. } = request;
        let noted = self.alone.begin(id.get()).expect("it has a place among as many");
        let (server, audience) = (self.server.clone(), self.audience.clone());
        let out = self.out.clone();
        let (filter, end) = (params.notifications.unwrap_or_default(), self.end.clone());
        self.spawn(Box::pin(async move {
            let _place = place;
            let opened =
                ListenStream::open(server, audience, &client, id.clone(), filter, end).await;
            let mut listening = match opened {
                Ok(listening) => listening,
                Err(error) => {
                    drop(out.send(line(rpc::refusal(Some(&id), &error))).await);
                    return;
                }
            };
            let relayed = async {
                while let Some(text) = listening.next().await {
                    if out.send(line(text)).await.is_err() {
                        return;
                    }
                }
            };
            noted.cancel.run_until_cancelled(relayed).await;
        }));
    }

    /// Tells a client of the handshake era about changes.
    fn tell_changes(self: &Arc<Self>, session: &Arc<ClientSession>) {
        let server = self.server.clone();
        let audience = server.for_client(&self.audience, session.client.as_ref());
        let audience = session.audience_of(audience);
        let (principal, subscriptions) = (session.principal.clone(), session.subscriptions.clone());
        let mut notices =
            NoticeFeed::new(server, audience, principal, WantedLists::ALL, subscriptions, None);
        let (out, end) = (self.out.clone(), self.end.clone());
        self.spawn(Box::pin(async move {
            let relayed = async {
                while let Some(text) = notices.next().await {
                    if out.send(line(text)).await.is_err() {
                        return;
                    }
                }
            };
            end.run_until_cancelled(relayed).await;
        }));
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        let closed = self.closed.clone();
        self.tasks.spawn(async move {
            closed.run_until_cancelled(task).await;
        });
    }

    async fn refuse(&self, id: Option<&RawValue>, error: &RpcError) {
        self.send(rpc::refusal(id, error)).await;
    }

    async fn send(&self, text: String) {
        // If the client is gone, its input ends, which is noticed elsewhere.
        drop(self.out.send(line(text)).await);
    }

    /// Ends everything that still runs.
    fn close(&self) {
        self.closed.cancel();
        for session in self.session.get().into_iter().chain([&self.alone]) {
            session.subscriptions.release();
        }
    }
}

/// What a request holds while it runs.
struct StdioGuard {
    noted: SessionRequest,
    stopped: CancellationToken,
}

impl RequestGuard for StdioGuard {
    fn cancel(&self) -> CancellationToken {
        self.noted.cancel.clone()
    }

    fn stopped(&self) -> CancellationToken {
        self.stopped.clone()
    }
}

/// A running request. It keeps its place among the client's requests until its answer was sent.
struct StdioRequest {
    id: Box<RawValue>,
    working: RequestInProgress,
    _place: OwnedSemaphorePermit,
}

impl StdioRequest {
    /// The answer, once everything before it was sent. None if the request was cancelled or the
    /// client is gone.
    async fn answered(&mut self, out: &mpsc::Sender<Bytes>) -> Option<RequestAnswer> {
        loop {
            match self.working.next().await {
                RequestStep::Pause(_) => {}
                RequestStep::Cancelled => return None,
                RequestStep::Message(text) => out.send(text).await.ok()?,
                RequestStep::Answer(answer) => return Some(answer),
            }
        }
    }
}

fn line(text: String) -> Bytes {
    counted_line(text, ())
}

fn of_session(session: &Arc<ClientSession>) -> Client {
    let standing = ClientState::Session(session.clone());
    let (principal, name) = (session.principal.clone(), session.client.clone());
    Client { principal, name, standing, connection: None }
}

/// The answers to a batch as one message.
fn as_one(answers: &[String]) -> String {
    format!("[{}]", answers.join(","))
}

fn stopping() -> RpcError {
    RpcError::internal("Gatefold is being stopped")
}
