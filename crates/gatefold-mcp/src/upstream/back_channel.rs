//! Carries events and questions from a server back to the caller of a request that is under way.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use gatefold_dispatch::{AskError, Event, EventSink, Peer, Question};
use serde_json::value::RawValue;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::message::{Reply, ServerMessage, refused, whole};
use super::subscription_log::SubscriptionLog;
use crate::protocol::codes::{INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::protocol::{LogLevel, methods, rpc};

mod question_params;
mod router;
mod shared_question;

pub(crate) use self::router::QuestionRouter;
use self::shared_question::SharedQuestion;

/// The most questions that one request can have open. Further ones are refused.
const OPEN_QUESTIONS: usize = 16;

/// The way back to the caller of one request, limited to what its server may send.
#[derive(Default)]
pub(crate) struct BackChannel {
    events: EventSink,
    /// The client to ask. None for our own requests, and in the stateless era, where a server asks
    /// through its result.
    peer: Option<Arc<dyn Peer>>,
    /// The client behind the request, if it can be told from others.
    client: Option<u64>,
    /// The least severe log messages that are wanted.
    least_severe: Option<LogLevel>,
    /// Whether somebody other than the gateway made the request.
    has_caller: bool,
    /// What the server sent and nobody has picked up yet, at most [`OPEN_QUESTIONS`].
    queue: Mutex<VecDeque<BackMessage>>,
    queued: Notify,
    was_asked: AtomicBool,
    /// Records what the server says on the subscription, if the request is one.
    subscription: Option<Arc<SubscriptionLog>>,
}

enum BackMessage {
    Question(Box<RawValue>, Question),
    /// A question that may belong to any of several requests of the same client.
    Shared(Arc<SharedQuestion>),
    Withdrawal(Box<RawValue>),
    /// The request's own answer, if it arrived on another stream.
    Answer(Reply),
}

/// What to do next about a request's questions.
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
    pub(crate) fn client(&self) -> Option<u64> {
        self.client
    }

    /// The same for a request of this client, which its server cannot ask anything meanwhile.
    pub(crate) fn of(self, client: Option<u64>) -> Self {
        Self { client, ..self }
    }

    /// Tells the caller that the server asked us to come back after this time.
    pub(crate) fn pause(&self, retry: Duration) {
        self.events.send(Event::Pause { retry });
    }

    pub(crate) fn new(
        events: EventSink,
        peer: Option<Arc<dyn Peer>>,
        log_level: Option<&str>,
    ) -> Self {
        let least_severe = log_level.and_then(LogLevel::parse);
        let client = peer.as_ref().and_then(|peer| peer.client());
        Self { events, peer, client, least_severe, has_caller: true, ..Self::default() }
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

    /// Passes on what a server says while the request runs.
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
                self.events.send(Event::Log(whole(params)));
            }
            // Log messages below the wanted level, and progress of other requests.
            methods::LOG_MESSAGE | methods::PROGRESS => {}
            _ => {
                let (method, params) = (method.to_owned(), whole(params));
                self.events.send(Event::Notice { method, params });
            }
        }
    }

    /// Whether a log message is severe enough.
    fn wants(&self, message: &RawValue) -> bool {
        self.least_severe.is_none_or(|least| least.admits(message))
    }

    pub(crate) fn has_caller(&self) -> bool {
        self.has_caller
    }

    pub(crate) fn offers(&self, question: &Question) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.capabilities().lacks(question).is_none())
    }

    /// Whether its client can be asked anything at all.
    fn answers_anything(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.capabilities().answers_anything())
    }

    /// Queues a server's question. The error is the answer to send instead.
    pub(crate) fn put(&self, id: &RawValue, question: Question) -> Result<(), String> {
        if self.peer.is_none() {
            return Err(unsupported(id, &question.method));
        }
        let taken = self.take(BackMessage::Question(id.to_owned(), question));
        if taken { Ok(()) } else { Err(too_many(id)) }
    }

    /// Queues a shared question. False if the queue is full.
    fn share(&self, question: &Arc<SharedQuestion>) -> bool {
        self.take(BackMessage::Shared(question.clone()))
    }

    fn take(&self, asked: BackMessage) -> bool {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.len() == OPEN_QUESTIONS {
            return false;
        }
        queue.push_back(asked);
        self.was_asked.store(true, Ordering::Release);
        self.queued.notify_one();
        true
    }

    /// Withdraws a question, if it belongs to this request.
    pub(crate) fn withdraw(&self, id: &RawValue) {
        if self.was_asked.load(Ordering::Acquire) {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.len() < OPEN_QUESTIONS {
                queue.push_back(BackMessage::Withdrawal(id.to_owned()));
                self.queued.notify_one();
            }
        }
    }

    /// Takes the request's own answer from the stream that belongs to no request: some servers end
    /// a request's own stream early and continue there.
    pub(crate) fn answer(&self, reply: Reply) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // Now that the answer is here, questions still in the queue are moot.
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

/// The questions that a server has asked during one request. Dropping this withdraws them all.
pub(crate) struct OpenQuestions {
    back_channel: Arc<BackChannel>,
    /// Created for the first one, because most requests have none.
    open: Option<FuturesUnordered<BoxFuture<'static, QuestionAnswer>>>,
    /// One for each open question.
    withdrawals: Vec<Withdrawal>,
    /// Questions so far, to tell them apart: a server may use the same id twice.
    put: u64,
}

/// The end of one question.
struct QuestionAnswer {
    number: u64,
    /// The text for the server. None for a question that it withdrew, or that another request
    /// answers.
    text: Option<String>,
}

/// Cancels a question that the server withdraws.
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
                BackMessage::Shared(question) => {
                    if let Some(refusal) = self.join(question) {
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
        if self.is_full() {
            return Some(too_many(&id));
        }
        let Some(peer) = self.back_channel.peer.clone() else {
            return Some(unsupported(&id, &question.method));
        };
        self.follow(&id.clone(), async move {
            let answer = peer.ask(question).await;
            Some(told(&id, answer.as_ref().map(|answer| &*answer.0)))
        });
        None
    }

    /// Follows a question that several requests of the same client share. Whichever gets the answer
    /// first sends it to the server.
    fn join(&mut self, question: Arc<SharedQuestion>) -> Option<String> {
        if self.is_full() {
            return question.give_up().then(|| too_many(&question.id));
        }
        let peer = self.back_channel.peer.clone();
        self.follow(&question.id.clone(), async move {
            // Any of them may be the request that waits for the answer, so all their deadlines
            // pause.
            let _pause = peer.as_ref().map(|peer| peer.pause());
            question.text().await
        });
        None
    }

    fn is_full(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.len() == OPEN_QUESTIONS)
    }

    /// Follows a question until there is a text for the server, or the server withdraws it.
    fn follow(
        &mut self,
        id: &RawValue,
        text: impl Future<Output = Option<String>> + Send + 'static,
    ) {
        self.put += 1;
        let (number, token) = (self.put, CancellationToken::new());
        self.withdrawals.push(Withdrawal { number, id: id.get().to_owned(), token: token.clone() });
        self.open.get_or_insert_default().push(Box::pin(async move {
            let text = token.run_until_cancelled(text).await.flatten();
            QuestionAnswer { number, text }
        }));
    }
}

/// What the server is told: a client's answer, or why there is none.
fn told(id: &RawValue, answer: Result<&RawValue, &AskError>) -> String {
    match answer {
        Ok(answer) => rpc::answer_with(id, answer.get()),
        Err(error) => refused(id, code_of(error), &error.to_string()),
    }
}

pub(crate) fn code_of(error: &AskError) -> i64 {
    match error {
        AskError::Unsupported(_) => METHOD_NOT_FOUND,
        AskError::Refused { code, .. } => *code,
        AskError::Gone | AskError::Deadline | AskError::TooMany { .. } => INTERNAL_ERROR,
    }
}

/// Reads a server's request as a question to a client. The error is the answer to send instead: a
/// client would refuse what is malformed too, or could not read it and leave the server waiting.
pub(crate) fn read_question(
    id: &RawValue,
    method: &str,
    params: Option<&RawValue>,
) -> Result<Question, String> {
    let question = question(method, params);
    match question_params::check(&question) {
        Ok(()) => Ok(question),
        Err(fault) => Err(refused(id, INVALID_PARAMS, &format!("malformed `{method}`: {fault}"))),
    }
}

/// A question to a client.
pub(crate) fn question(method: &str, params: Option<&RawValue>) -> Question {
    let none = || RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
    let params = params.map_or_else(none, whole);
    Question::of_source(method.to_owned(), params)
}

#[cfg(test)]
mod tests;
