//! The wire to a local server.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatefold_catalog::{LINE_LIMIT, one_line};
use gatefold_core::Domain;
use gatefold_dispatch::{Question, ResultRoom};
use gatefold_secrecy::KnownSecrets;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::back_channel::{
    BackChannel, OpenQuestions, QuestionRouter, QuestionStep, read_question, unsupported,
};
use super::last_words::LastWords;
use super::lines::id_of;
use super::log_budget::LogBudget;
use super::message::{FIRST_OWN_ID, NEITHER, Reply, ServerMessage, cancelled};
use super::notices::ServerNotices;
use super::process::{ChildProcess, SpawnedChild};
use super::request::{PENDING_REQUESTS, RequestKind, WireError, WireRequest};
use super::unreadable::UnreadableAnswer;
use crate::protocol::{methods, rpc};

mod outgoing;
mod reading;

use self::outgoing::{OutgoingLine, write};
use self::reading::{log_stderr, read};

/// The longest line of standard error that is logged, in bytes.
const STDERR_LINE_BYTES: usize = 8 * 1024;
/// The most messages waiting to be written.
const WRITE_QUEUE: usize = 64;
/// Why there is no connection any more when it was we who ended it.
const STOPPED: &str = "the server was stopped";

/// A running server and the requests that wait for its answers.
pub(crate) struct StdioWire {
    /// Ends the child when the wire is dropped. Declared before the writer so that it drops first:
    /// when the child's input closes, its end must already count as ours.
    _end: DropGuard,
    writer: Mutex<Option<mpsc::Sender<OutgoingLine>>>,
    next_id: AtomicU64,
    shared: Arc<StdioConnection>,
}

struct StdioConnection {
    domain: Domain,
    state: Mutex<StdioInner>,
    notices: ServerNotices,
    secrets: Arc<KnownSecrets>,
    log: Arc<LogBudget>,
    router: QuestionRouter,
    /// For answers to the server's requests, while the wire lives.
    answers: mpsc::WeakSender<OutgoingLine>,
    /// Fires to have the child ended.
    end: CancellationToken,
    /// Fires when the child has ended.
    ended: CancellationToken,
    /// Whether an answer waits for room. Until it has some, nothing of the server is read.
    waits_for_room: AtomicBool,
}

#[derive(Default)]
struct StdioInner {
    /// At most [`PENDING_REQUESTS`].
    waiting: HashMap<u64, PendingRequest>,
    /// What it wrote to its standard error.
    last_words: LastWords,
    /// The first line on standard output that was not the protocol.
    noise: Option<String>,
    /// Why the connection has ended.
    end: Option<String>,
}

struct PendingRequest {
    kind: RequestKind,
    answer: oneshot::Sender<Result<Reply, WireError>>,
    back_channel: Arc<BackChannel>,
    room: Option<ResultRoom>,
}

impl StdioWire {
    /// The task that ends the child, and so outlives the wire, is one of `children`.
    pub(crate) fn new(
        domain: Domain,
        spawned: SpawnedChild,
        notices: ServerNotices,
        secrets: Arc<KnownSecrets>,
        log: Arc<LogBudget>,
        children: &TaskTracker,
    ) -> Arc<Self> {
        let SpawnedChild { stdin, stdout, stderr, process } = spawned;
        let (writer, texts) = mpsc::channel(WRITE_QUEUE);
        let shared = Arc::new(StdioConnection {
            domain,
            state: Mutex::default(),
            notices,
            secrets,
            log,
            router: QuestionRouter::new(),
            answers: writer.downgrade(),
            end: CancellationToken::new(),
            ended: CancellationToken::new(),
            waits_for_room: AtomicBool::new(false),
        });
        let end = shared.end.clone();
        tokio::spawn(end.clone().run_until_cancelled_owned(write(stdin, texts)));
        let read = tokio::spawn(read(shared.clone(), stdout));
        let logged = tokio::spawn(log_stderr(shared.clone(), stderr));
        children.spawn(supervise(shared.clone(), process, [read, logged]));
        Arc::new(Self {
            _end: end.drop_guard(),
            writer: Mutex::new(Some(writer)),
            next_id: AtomicU64::new(FIRST_OWN_ID),
            shared,
        })
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) async fn notify(&self, text: String) -> Result<(), WireError> {
        let stopped = || WireError::NotSent(STOPPED.to_owned());
        let sent = self.writer().ok_or_else(stopped)?.send(OutgoingLine::of(text)).await;
        sent.map_err(|_| WireError::NotSent(self.reason()))
    }

    pub(crate) async fn request(&self, request: WireRequest) -> Result<Reply, WireError> {
        let WireRequest { id, kind, back_channel, text, memory, limit, room, .. } = request;
        let _turn = self.shared.router.wait(&back_channel).await;
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            if let Some(end) = &state.end {
                return Err(WireError::NotSent(end.clone()));
            }
            if !self.shared.notices.roots.admits(&back_channel) {
                return Err(WireError::Taken);
            }
            if state.waiting.len() >= PENDING_REQUESTS {
                return Err(WireError::Full);
            }
            let back_channel = back_channel.clone();
            state.waiting.insert(id, PendingRequest { kind, answer, back_channel, room });
        }
        let line = OutgoingLine::counted(text, memory);
        let mut guard = StdioRequestGuard { wire: self, id, line: line.clone(), is_sent: false };
        let Some(writer) = self.writer() else {
            return Err(WireError::NotSent("the server is being stopped".to_owned()));
        };
        if writer.send(line).await.is_err() {
            return Err(WireError::NotSent(self.reason()));
        }
        guard.is_sent = true;
        let answer = self.answer_to(answered, back_channel, &writer).await;
        guard.is_sent = false;
        match answer {
            Ok(Reply::Result(result)) if result.get().len() as u64 > limit => {
                Err(WireError::TooLarge(result.get().len() as u64))
            }
            answer => answer,
        }
    }

    /// Waits for the answer, and answers what the server asks in the meantime.
    async fn answer_to(
        &self,
        mut answered: oneshot::Receiver<Result<Reply, WireError>>,
        back_channel: Arc<BackChannel>,
        writer: &mpsc::Sender<OutgoingLine>,
    ) -> Result<Reply, WireError> {
        let mut questions = OpenQuestions::of(back_channel);
        loop {
            tokio::select! {
                biased;
                answer = &mut answered => {
                    return answer.unwrap_or_else(|_| Err(WireError::Lost(self.reason())));
                }
                next = questions.next() => match next {
                    // A server whose input is closed will not answer, which ends this wait soon.
                    QuestionStep::Send(answer) | QuestionStep::Refuse(answer) => {
                        drop(writer.send(OutgoingLine::of(answer)).await);
                    }
                    QuestionStep::Answer(reply) => return Ok(reply),
                },
            }
        }
    }

    pub(crate) fn ended(&self) -> Option<String> {
        self.shared.lock().end.clone()
    }

    /// The last lines that the server wrote to its standard error.
    pub(crate) fn last_lines(&self) -> Vec<String> {
        self.shared.lock().last_words.shown()
    }

    /// The first line that the server wrote where only the protocol belongs, shortened.
    pub(crate) fn noise(&self) -> Option<String> {
        self.shared.lock().noise.clone()
    }

    /// Whether it is we who do not read.
    pub(crate) fn waits_for_room(&self) -> bool {
        self.shared.waits_for_room.load(Ordering::Relaxed)
    }

    pub(crate) async fn when_ended(&self) {
        self.shared.ended.cancelled().await;
    }

    /// Closes the child's input and waits until it is gone.
    pub(crate) async fn close(&self) {
        self.shared.lock().end.get_or_insert_with(|| STOPPED.to_owned());
        self.shared.end.cancel();
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.shared.ended.cancelled().await;
    }

    fn writer(&self) -> Option<mpsc::Sender<OutgoingLine>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reason(&self) -> String {
        self.ended().unwrap_or_else(|| "the server closed its input".to_owned())
    }
}

impl StdioConnection {
    fn lock(&self) -> MutexGuard<'_, StdioInner> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the end of the connection and tells everybody who waits.
    fn ended(&self, reason: &str) {
        let waiting = {
            let mut state = self.lock();
            state.end.get_or_insert_with(|| reason.to_owned());
            std::mem::take(&mut state.waiting)
        };
        for (_, waiting) in waiting {
            let _ = waiting.answer.send(Err(WireError::Lost(reason.to_owned())));
        }
    }

    /// Waits for room for a line that turns out to be large: as the call that it answers, or as any
    /// that waits while the line has not said which.
    fn admitted(self: &Arc<Self>, begun: &[u8]) -> impl Future<Output = ()> + use<> {
        let room = {
            let waiting = &self.lock().waiting;
            match id_of(begun).and_then(|id| waiting.get(&id)) {
                Some(own) => own.room.clone(),
                None => waiting.values().find_map(|other| other.room.clone()),
            }
        };
        let (connection, bytes) = (self.clone(), begun.len());
        async move {
            let Some(room) = room else { return };
            connection.waits_for_room.store(true, Ordering::Relaxed);
            connection.end.run_until_cancelled(room.admit(bytes)).await;
            connection.waits_for_room.store(false, Ordering::Relaxed);
        }
    }

    /// What a line was to us.
    fn take_line(self: &Arc<Self>, line: &[u8]) -> LineKind {
        if line.iter().all(u8::is_ascii_whitespace) {
            return LineKind::Noise;
        }
        let Some(message) = ServerMessage::read(line) else {
            self.take_unreadable(line);
            return LineKind::Noise;
        };
        self.take_message(&message);
        if message.own_id().is_some() { LineKind::Answer } else { LineKind::Message }
    }

    fn take_message(self: &Arc<Self>, message: &ServerMessage<'_>) {
        if let Some(id) = message.own_id() {
            self.router.answered(id);
            let waiting = self.lock().waiting.remove(&id);
            if let Some(waiting) = waiting {
                let broken = || WireError::Broken(NEITHER.to_owned());
                let _ = waiting.answer.send(message.reply().ok_or_else(broken));
            }
            return;
        }
        match (message.id, message.method.as_deref()) {
            (Some(id), Some(method)) => self.take_question(id, method, message),
            (None, Some(_)) => self.take_notice(message),
            _ if message.is_error_of_none() => self.take_error(message),
            _ => {}
        }
    }

    /// Handles a line that is not a message. The calls that it answers fail now rather than at
    /// their deadlines.
    fn take_unreadable(&self, line: &[u8]) {
        tracing::debug!(domain = %self.domain, bytes = line.len(), "ignored a line that is not JSON-RPC");
        let UnreadableAnswer { ids, fault } = UnreadableAnswer::of(line);
        let mut state = self.lock();
        if ids.is_empty() {
            state.noise.get_or_insert_with(|| shown(line));
        }
        for id in ids {
            if let Some(waiting) = state.waiting.remove(&id) {
                self.router.answered(id);
                let _ = waiting.answer.send(Err(WireError::Broken(fault.clone())));
            }
        }
    }

    /// Handles an error that names no request. During the greeting it can be about nothing else.
    fn take_error(&self, message: &ServerMessage<'_>) {
        let mut state = self.lock();
        let greeting = state.waiting.iter().find(|(_, own)| own.kind == RequestKind::Greeting);
        let Some(id) = greeting.map(|(id, _)| *id) else { return };
        if let (Some(greeting), Some(reply)) = (state.waiting.remove(&id), message.reply()) {
            let _ = greeting.answer.send(Ok(reply));
        }
    }

    /// Handles a request from the server. Nothing on the line says which of ours it belongs to.
    fn take_question(self: &Arc<Self>, id: &RawValue, method: &str, message: &ServerMessage<'_>) {
        let asked = match method {
            methods::PING => Err(rpc::answer_with(id, "{}")),
            methods::ELICIT | methods::SAMPLE | methods::ROOTS_LIST => {
                let question = read_question(id, method, message.params);
                question.and_then(|question| self.put_question(id, question))
            }
            _ => Err(unsupported(id, method)),
        };
        if let (Err(answer), Some(writer)) = (asked, self.answers.upgrade()) {
            // With a full queue the server is not reading; it would not read this either.
            let _ = writer.try_send(OutgoingLine::of(answer));
        }
    }

    /// Passes on a question. The error is the answer to send at once.
    fn put_question(self: &Arc<Self>, id: &RawValue, question: Question) -> Result<(), String> {
        let roots = &self.notices.roots;
        let is_for_roots = question.method == methods::ROOTS_LIST;
        if is_for_roots && roots.has_sole_client() {
            self.ask_for_roots(id, question);
            return Ok(());
        }
        let state = self.lock();
        let under_way = || state.waiting.values().map(|waiting| &waiting.back_channel);
        if is_for_roots {
            roots.claim(under_way(), id)?;
        }
        self.router.put(under_way(), id, question)
    }

    /// Asks the only client for its roots, while other requests may be under way.
    fn ask_for_roots(self: &Arc<Self>, id: &RawValue, question: Question) {
        let (connection, id) = (self.clone(), id.to_owned());
        let asking = async move {
            let roots = &connection.notices.roots;
            let answer = roots.ask(&id, question).await;
            if let Some(writer) = connection.answers.upgrade() {
                drop(writer.send(OutgoingLine::of(answer)).await);
            }
            roots.note_answered();
        };
        tokio::spawn(self.end.clone().run_until_cancelled_owned(asking));
    }

    fn take_notice(&self, message: &ServerMessage<'_>) {
        let mut state = self.lock();
        if let Some(subscription) = message.subscription() {
            // Late messages on an abandoned subscription are ignored: its successor reports the
            // same.
            if let Some(waiting) = state.waiting.get(&subscription) {
                waiting.back_channel.note(message);
                self.notices.take(message);
            }
        } else if let Some(id) = message.withdrawn_own() {
            let is_subscription = |own: &PendingRequest| own.kind == RequestKind::Subscription;
            if state.waiting.get(&id).is_some_and(is_subscription)
                && let Some(waiting) = state.waiting.remove(&id)
            {
                let ended = "the server ended it".to_owned();
                let _ = waiting.answer.send(Err(WireError::Lost(ended)));
            }
        } else if let Some((token, _)) = message.own_progress() {
            if let Some(waiting) = state.waiting.get(&token) {
                waiting.back_channel.tell(message);
            }
        } else if let Some(id) = message.withdrawn() {
            for waiting in state.waiting.values() {
                waiting.back_channel.withdraw(id);
            }
        } else if !self.notices.take(message) {
            self.router
                .tell_only(state.waiting.values().map(|waiting| &waiting.back_channel), message);
        }
    }
}

/// What a server wrote.
enum LineKind {
    /// The answer to a request of ours.
    Answer,
    /// A message that it says by itself.
    Message,
    /// Nothing of the protocol.
    Noise,
}

fn shown(line: &[u8]) -> String {
    let start = &line[..line.len().min(STDERR_LINE_BYTES)];
    one_line(&String::from_utf8_lossy(start), LINE_LIMIT)
}

/// One request's place among those that wait. Dropping it before the answer arrives cancels it at
/// the server.
struct StdioRequestGuard<'a> {
    wire: &'a StdioWire,
    id: u64,
    line: OutgoingLine,
    /// Whether the server has the request and has not answered yet.
    is_sent: bool,
}

impl Drop for StdioRequestGuard<'_> {
    fn drop(&mut self) {
        let waiting = self.wire.shared.lock().waiting.remove(&self.id);
        // A message that is not written yet is taken back.
        let is_unwritten = self.line.take().is_some();
        let is_sent = self.is_sent && !is_unwritten;
        let Some(waiting) = waiting.filter(|_| is_sent) else { return };
        match waiting.kind {
            RequestKind::Greeting => return,
            RequestKind::Ordinary => {
                self.wire.shared.router.abandon(self.id, &waiting.back_channel);
            }
            RequestKind::Subscription => {}
        }
        if let Some(writer) = self.wire.writer() {
            // With a full queue the server is not reading; it would not read this either.
            let _ = writer.try_send(OutgoingLine::of(cancelled(self.id)));
        }
    }
}

/// Waits for the child to end, or ends it, and fails all requests that wait.
async fn supervise(
    shared: Arc<StdioConnection>,
    mut process: ChildProcess,
    pipes: [tokio::task::JoinHandle<()>; 2],
) {
    // Both may be ready. A child that we are ending counts as ended by us.
    let status = tokio::select! {
        biased;
        () = shared.end.cancelled() => None,
        status = process.exited() => Some(status),
    };
    if let Some(status) = status {
        // The pipes may still hold the server's last output, including answers.
        for pipe in pipes {
            let _ = tokio::time::timeout(LAST_WORDS, pipe).await;
        }
        let reason = exit_reason(&shared, status);
        tracing::warn!(domain = %shared.domain, reason, "a server ended");
        shared.ended(&reason);
    } else {
        process.end().await;
        shared.ended(STOPPED);
    }
    shared.log.settle();
    shared.ended.cancel();
    process.settle().await;
}

/// How long to read the pipes of a child that has ended: a grandchild may keep them open.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_millis(500);

fn exit_reason(shared: &StdioConnection, status: io::Result<std::process::ExitStatus>) -> String {
    let how = match status {
        Ok(status) => match status.code() {
            Some(code) => format!("the server exited with code {code}"),
            None => format!("the server was ended by {status}"),
        },
        Err(error) => format!("the server ended: {error}"),
    };
    shared.lock().last_words.reason(&how)
}

#[cfg(test)]
mod tests;
