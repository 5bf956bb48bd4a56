//! The way back from a server to the caller of a request that is under way: events, and questions.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use gatefold_dispatch::{AskError, Event, EventSink, Peer, Question};
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::message::{Reply, ServerMessage, refused};
use super::subscription_log::SubscriptionLog;
use crate::protocol::codes::{INTERNAL_ERROR, METHOD_NOT_FOUND};
use crate::protocol::{LogLevel, methods, rpc};

/// Questions of one request that are open at once. One more is refused.
const OPEN_QUESTIONS: usize = 16;

/// The way back to the caller of one request, as far as its server may use it.
#[derive(Default)]
pub(crate) struct BackChannel {
    events: EventSink,
    /// The client to ask. None for requests of our own, and in the stateless era, where servers ask
    /// by their results.
    peer: Option<Arc<dyn Peer>>,
    /// The least severe log messages that are wanted.
    least_severe: Option<LogLevel>,
    /// Whether anybody made the request but the gateway itself.
    has_caller: bool,
    /// What the server has said and nobody has taken yet, at most [`OPEN_QUESTIONS`].
    queue: Mutex<VecDeque<BackMessage>>,
    queued: Notify,
    was_asked: AtomicBool,
    /// What the server says of the subscription that the request is, if it is one.
    subscription: Option<Arc<SubscriptionLog>>,
}

enum BackMessage {
    Question(Box<RawValue>, Question),
    Withdrawal(Box<RawValue>),
    /// The request's own answer, which came elsewhere than where it was waited for.
    Answer(Reply),
}

/// What the questions of a request come to.
#[derive(Debug)]
pub(crate) enum QuestionStep {
    /// A client's answer to send to the server.
    Send(String),
    /// An answer to a question that nobody was asked.
    Refuse(String),
    /// The answer to the request itself.
    Answer(Reply),
}

impl BackChannel {
    fn client(&self) -> Option<u64> {
        self.peer.as_ref().and_then(|peer| peer.client())
    }

    /// Tells the caller that the server wants to be asked again after this time.
    pub(crate) fn pause(&self, retry: Duration) {
        self.events.send(Event::Pause { retry });
    }

    pub(crate) fn new(
        events: EventSink,
        peer: Option<Arc<dyn Peer>>,
        log_level: Option<&str>,
    ) -> Self {
        let least_severe = log_level.and_then(LogLevel::parse);
        Self { events, peer, least_severe, has_caller: true, ..Self::default() }
    }

    /// For a request that is a subscription.
    pub(crate) fn of_subscription(log: Arc<SubscriptionLog>) -> Self {
        Self { subscription: Some(log), ..Self::default() }
    }

    /// Notes a notification on a subscription, if the request is one.
    pub(crate) fn note(&self, message: &ServerMessage<'_>) {
        if let Some(log) = &self.subscription {
            log.note(message);
        }
    }

    /// Passes on what a server says in the course of the request.
    pub(crate) fn tell(&self, message: &ServerMessage<'_>) {
        if let Some((_, progress)) = message.own_progress() {
            self.events.send(Event::Progress(progress));
            return;
        }
        if let Some(id) = message.withdrawn() {
            self.withdraw(id);
            return;
        }
        let (Some(method), Some(params)) = (message.method.as_deref(), message.params) else {
            return;
        };
        match method {
            methods::LOG_MESSAGE if self.wants(params) => {
                self.events.send(Event::Log(params.to_owned()));
            }
            // Progress of somebody else's.
            methods::LOG_MESSAGE | methods::PROGRESS => {}
            _ => {
                let (method, params) = (method.to_owned(), params.to_owned());
                self.events.send(Event::Notice { method, params });
            }
        }
    }

    /// Whether a log message is severe enough.
    fn wants(&self, message: &RawValue) -> bool {
        self.least_severe.is_none_or(|least| least.admits(message))
    }

    fn offers(&self, question: &Question) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.capabilities().lacks(question).is_none())
    }

    /// Whether its client can be asked anything at all.
    fn answers_anything(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.capabilities().answers_anything())
    }

    /// Takes a question of the server's, or says why not with the answer to give.
    pub(crate) fn put(&self, id: &RawValue, question: Question) -> Result<(), String> {
        if self.peer.is_none() {
            return Err(unsupported(id, &question.method));
        }
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() == OPEN_QUESTIONS {
            return Err(too_many(id));
        }
        queue.push_back(BackMessage::Question(id.to_owned(), question));
        self.was_asked.store(true, Ordering::Release);
        self.queued.notify_one();
        Ok(())
    }

    /// Takes back a question, if it is one of this request's.
    pub(crate) fn withdraw(&self, id: &RawValue) {
        if self.was_asked.load(Ordering::Acquire) {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.len() < OPEN_QUESTIONS {
                queue.push_back(BackMessage::Withdrawal(id.to_owned()));
                self.queued.notify_one();
            }
        }
    }

    /// Takes the request's own answer from a stream that belongs to no request: some servers go on
    /// there with an answer that they ended early.
    pub(crate) fn answer(&self, reply: Reply) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // With the answer there, questions that still wait in the queue are moot.
        queue.clear();
        queue.push_back(BackMessage::Answer(reply));
        self.queued.notify_one();
    }

    async fn next_message(&self) -> BackMessage {
        loop {
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some(message) => return message,
                None => self.queued.notified().await,
            }
        }
    }
}

pub(crate) fn unsupported(id: &RawValue, method: &str) -> String {
    refused(id, METHOD_NOT_FOUND, &format!("the client does not offer `{method}`"))
}

fn too_many(id: &RawValue) -> String {
    let message = format!("{OPEN_QUESTIONS} questions of one request are open, which is the limit");
    refused(id, INTERNAL_ERROR, &message)
}

/// The questions that a server has put in the course of one request. Dropping this withdraws them all.
pub(crate) struct OpenQuestions {
    back_channel: Arc<BackChannel>,
    /// Made for the first one: most requests have none.
    open: Option<FuturesUnordered<BoxFuture<'static, QuestionAnswer>>>,
    /// One for each open question.
    withdrawals: Vec<Withdrawal>,
    /// Questions put so far: a server may use the same id twice.
    put: u64,
}

/// The end of one question.
struct QuestionAnswer {
    number: u64,
    /// The text for the server. None for a question that it took back.
    text: Option<String>,
}

/// How the server takes a question back.
struct Withdrawal {
    number: u64,
    /// The question's id, as the server wrote it.
    id: String,
    token: CancellationToken,
}

impl OpenQuestions {
    pub(crate) fn of(back_channel: Arc<BackChannel>) -> Self {
        Self { back_channel, open: None, withdrawals: Vec::new(), put: 0 }
    }

    /// Waits for the answer to one of them.
    pub(crate) async fn next(&mut self) -> QuestionStep {
        loop {
            let message = match &mut self.open {
                Some(open) if !open.is_empty() => tokio::select! {
                    message = self.back_channel.next_message() => message,
                    answered = open.next() => {
                        let Some(QuestionAnswer { number, text }) = answered else { continue };
                        self.withdrawals.retain(|own| own.number != number);
                        match text {
                            Some(text) => return QuestionStep::Send(text),
                            None => continue,
                        }
                    }
                },
                _ => self.back_channel.next_message().await,
            };
            match message {
                BackMessage::Question(id, question) => {
                    if let Some(refusal) = self.begin(id, question) {
                        return QuestionStep::Refuse(refusal);
                    }
                }
                BackMessage::Answer(reply) => return QuestionStep::Answer(reply),
                BackMessage::Withdrawal(id) => {
                    for own in self.withdrawals.iter().filter(|own| own.id == id.get()) {
                        own.token.cancel();
                    }
                }
            }
        }
    }

    fn begin(&mut self, id: Box<RawValue>, question: Question) -> Option<String> {
        let open = self.open.get_or_insert_default();
        if open.len() == OPEN_QUESTIONS {
            return Some(too_many(&id));
        }
        let Some(peer) = self.back_channel.peer.clone() else {
            return Some(unsupported(&id, &question.method));
        };
        self.put += 1;
        let (number, token) = (self.put, CancellationToken::new());
        self.withdrawals.push(Withdrawal { number, id: id.get().to_owned(), token: token.clone() });
        open.push(Box::pin(async move {
            let answer = token.run_until_cancelled(peer.ask(question)).await;
            let text = answer.map(|answer| match answer {
                Ok(answer) => rpc::answer_with(&id, answer.0.get()),
                Err(error) => refused(&id, code_of(&error), &error.to_string()),
            });
            QuestionAnswer { number, text }
        }));
        None
    }
}

fn code_of(error: &AskError) -> i64 {
    match error {
        AskError::Unsupported(_) => METHOD_NOT_FOUND,
        AskError::Refused { code, .. } => *code,
        AskError::Gone | AskError::Deadline => INTERNAL_ERROR,
    }
}

/// Finds the request that a question belongs to when the connection does not say.
///
/// With one request under way there is no doubt, nor with one whose client offers what is asked.
/// With several, nobody is asked: the wrong person's answer would be worse than none.
pub(crate) struct QuestionRouter {
    /// Whether a question was refused because several requests might have been meant.
    is_needed: AtomicBool,
    turn: Semaphore,
    abandoned: Mutex<AbandonedRequests>,
}

/// Requests that were given up lately and not answered.
#[derive(Default)]
struct AbandonedRequests {
    /// At most [`ABANDONED_REQUESTS`].
    by_id: HashMap<u64, AbandonedRequest>,
    /// When one was given up that there was no place for. Until that is forgotten too, everything is
    /// in doubt.
    overflowed: Option<Instant>,
}

/// Requests that were given up and are remembered at once.
const ABANDONED_REQUESTS: usize = 256;

/// How long a server may still be at work on a request that was given up: what it says meanwhile may
/// be about that one.
const DOUBT: Duration = Duration::from_secs(2);

struct AbandonedRequest {
    since: Instant,
    client: Option<u64>,
}

impl QuestionRouter {
    pub(crate) fn new() -> Self {
        let is_needed = AtomicBool::new(false);
        Self { is_needed, turn: Semaphore::new(1), abandoned: Mutex::default() }
    }

    /// Notes that nobody waits for the answer to a request any more.
    pub(crate) fn abandon(&self, id: u64, back_channel: &BackChannel) {
        let mut abandoned = self.abandoned();
        abandoned.forget_old();
        let since = Instant::now();
        if abandoned.by_id.len() < ABANDONED_REQUESTS {
            abandoned.by_id.insert(id, AbandonedRequest { since, client: back_channel.client() });
        } else {
            abandoned.overflowed = Some(since);
        }
    }

    /// Notes an answer, however late.
    pub(crate) fn answered(&self, id: u64) {
        self.abandoned().by_id.remove(&id);
    }

    /// Whether what belongs to no request may be about one that another client gave up.
    fn is_doubtful(&self, back_channel: &BackChannel) -> bool {
        let client = back_channel.client();
        let mut abandoned = self.abandoned();
        abandoned.forget_old();
        let is_other = |one: &AbandonedRequest| one.client.is_none() || one.client != client;
        abandoned.overflowed.is_some() || abandoned.by_id.values().any(is_other)
    }

    fn abandoned(&self) -> MutexGuard<'_, AbandonedRequests> {
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other request may be asked something, on a connection where that is not told
    /// apart. The call's own deadline ends the wait.
    pub(crate) async fn wait(&self, back_channel: &BackChannel) -> Option<SemaphorePermit<'_>> {
        if !self.is_needed.load(Ordering::Acquire) || !back_channel.answers_anything() {
            return None;
        }
        self.turn.acquire().await.ok()
    }

    /// Puts a question to the request it must belong to, or gives the answer to send at once.
    pub(crate) fn put<'a>(
        &self,
        under_way: impl Iterator<Item = &'a Arc<BackChannel>>,
        id: &RawValue,
        question: Question,
    ) -> Result<(), String> {
        let askable: Vec<_> =
            under_way.filter(|back_channel| back_channel.peer.is_some()).collect();
        let mut offering = askable.iter().filter(|back_channel| back_channel.offers(&question));
        match (&askable[..], offering.next(), offering.next()) {
            // Its client may not offer it: then the call learns why it comes to nothing.
            ([only], _, _) | (_, Some(only), None) if self.is_doubtful(only) => {
                let message = "a request was given up lately, and nothing says that this question \
                               does not belong to it; make the call again";
                Err(refused(id, INTERNAL_ERROR, message))
            }
            ([only], _, _) | (_, Some(only), None) => only.put(id, question),
            (_, Some(_), Some(_)) => {
                self.is_needed.store(true, Ordering::Release);
                let message = "several requests are under way, and nothing says which of them \
                               this question belongs to; make the call again";
                Err(refused(id, INTERNAL_ERROR, message))
            }
            (_, None, _) => Err(unsupported(id, &question.method)),
        }
    }

    /// Passes on what a server says of no request in particular, if only one is under way that somebody
    /// made. Requests of our own, such as for lists, may be under way beside it.
    pub(crate) fn tell_only<'a>(
        &self,
        under_way: impl Iterator<Item = &'a Arc<BackChannel>>,
        message: &ServerMessage<'_>,
    ) {
        let mut callers = under_way.filter(|back_channel| back_channel.has_caller);
        if let (Some(only), None) = (callers.next(), callers.next())
            && !self.is_doubtful(only)
        {
            only.tell(message);
        } else {
            tracing::debug!(method = message.method.as_deref(), "dropped what may be any call's");
        }
    }
}

impl AbandonedRequests {
    fn forget_old(&mut self) {
        self.by_id.retain(|_, one| one.since.elapsed() < DOUBT);
        self.overflowed = self.overflowed.filter(|since| since.elapsed() < DOUBT);
    }
}

/// A server's request as a question to a client.
pub(crate) fn question(method: &str, params: Option<&RawValue>) -> Question {
    let none = || RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
    let params = params.map_or_else(none, ToOwned::to_owned);
    Question { method: method.to_owned(), params }
}

#[cfg(test)]
mod tests;
