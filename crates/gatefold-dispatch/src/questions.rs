//! Questions of sources: how they are counted, put to a client, and kept open while it thinks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_catalog::object_fields;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

use crate::limits::bulkhead::BulkheadPlace;
use crate::limits::timer::Timer;
use crate::messages::{Answer, AskError, CallPause, QuestionMode};
use crate::ports::Peer;
use crate::{ClientCapabilities, Question};

/// The most open questions of one call. Further ones wait until another is answered.
pub(crate) const OPEN_QUESTIONS: usize = 16;

/// The most questions of one call, those of the calls that it makes included. Each costs its client
/// something: a person's attention or a model's tokens.
const QUESTIONS_OF_CALL: usize = 64;

/// How many questions a call and the calls that it makes have asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct QuestionCount(Arc<AtomicUsize>);

impl QuestionCount {
    fn add(&self) -> Result<(), AskError> {
        let limit = QUESTIONS_OF_CALL;
        if self.0.fetch_add(1, Ordering::Relaxed) >= limit {
            return Err(AskError::TooMany { limit });
        }
        Ok(())
    }
}

/// A caller's client as a source sees it. It is only asked what it declared, within a time limit,
/// and the call's deadline is paused in the meantime.
pub(crate) struct ClientQuestions {
    pub(crate) peer: Arc<dyn Peer>,
    pub(crate) timer: Arc<Timer>,
    /// Free while the client thinks.
    pub(crate) place: Arc<BulkheadPlace>,
    pub(crate) limit: Duration,
    pub(crate) failed: FailedQuestion,
    pub(crate) count: QuestionCount,
    /// Where questions wait for a client that answers by repeating its request.
    pub(crate) parked: Option<mpsc::Sender<PendingQuestion>>,
}

/// Why a question of a call stayed unanswered, if one did.
pub(crate) type FailedQuestion = Arc<OnceLock<(String, AskError)>>;

/// A question, and the channel for its answer.
#[derive(Debug)]
pub(crate) struct PendingQuestion {
    pub(crate) question: Question,
    pub(crate) answer: oneshot::Sender<Answer>,
}

impl ClientQuestions {
    async fn put(&self, question: Question) -> Result<Answer, AskError> {
        if let Some(needed) = self.peer.capabilities().lacks(&question) {
            return Err(AskError::Unsupported(needed.to_owned()));
        }
        self.count.add()?;
        let answer = async {
            let Some(parked) = &self.parked else {
                return self.peer.ask(question).await;
            };
            let (answer, answered) = oneshot::channel();
            let asked = PendingQuestion { question, answer };
            parked.send(asked).await.map_err(|_| AskError::Gone)?;
            answered.await.map_err(|_| AskError::Gone)
        };
        let answer = self.away(tokio::time::timeout(self.limit, answer)).await;
        answer.unwrap_or(Err(AskError::Deadline))
    }

    /// Waits for somebody. Meanwhile the clock of the call stands still, and its place is free.
    async fn away<T>(&self, somebody: impl Future<Output = T>) -> T {
        let paused = self.timer.pause();
        self.place.leave();
        let done = somebody.await;
        // From here on, waiting for a place uses the call's own time.
        drop(paused);
        self.place.come_back().await;
        done
    }
}

impl Peer for ClientQuestions {
    fn capabilities(&self) -> &ClientCapabilities {
        self.peer.capabilities()
    }

    fn question_mode(&self) -> QuestionMode {
        // The asker can wait for the answer, however it comes: a call nested in a parked one is not
        // parked itself.
        QuestionMode::Live
    }

    fn own_question_mode(&self) -> QuestionMode {
        self.peer.own_question_mode()
    }

    fn shows_whole_arguments(&self) -> bool {
        self.peer.shows_whole_arguments()
    }

    fn client(&self) -> Option<u64> {
        self.peer.client()
    }

    fn pause(&self) -> CallPause {
        CallPause::of(&self.timer)
    }

    fn wait_for_person<'a>(&'a self, person: BoxFuture<'a, bool>) -> BoxFuture<'a, bool> {
        Box::pin(self.away(person))
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move {
            let method = question.method.clone();
            let answer = self.put(question).await;
            answer.inspect_err(|error| {
                // The first one explains why the call failed.
                let _ = self.failed.set((method, error.clone()));
            })
        })
    }
}

/// A question as the protocol's stateless era writes it.
#[derive(Serialize)]
struct WireQuestion<'a> {
    method: &'a str,
    params: &'a RawValue,
}

/// Open questions, by the keys of their answers.
#[derive(Default)]
pub(crate) struct OpenQuestions {
    asked: BTreeMap<String, PendingQuestion>,
    count: usize,
}

impl OpenQuestions {
    pub(crate) fn take_up(&mut self, asked: PendingQuestion) {
        self.count += 1;
        self.asked.insert(format!("question-{}", self.count), asked);
    }

    /// Forgets the questions whose askers have given up.
    pub(crate) fn forget_abandoned(&mut self) {
        self.asked.retain(|_, asked| !asked.answer.is_closed());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    pub(crate) fn has_room(&self) -> bool {
        self.asked.len() < OPEN_QUESTIONS
    }

    /// All of them, in the form of `inputRequests`.
    pub(crate) fn written(&self) -> Box<RawValue> {
        let written: BTreeMap<_, _> = self
            .asked
            .iter()
            .map(|(key, PendingQuestion { question, .. })| {
                (key, WireQuestion { method: &question.method, params: &question.params })
            })
            .collect();
        to_raw_value(&written).expect("questions have only text keys")
    }

    /// Gives each question its answer, if there is one. Ignores answers to other questions.
    pub(crate) fn answer(&mut self, answers: &RawValue) {
        for (key, answer) in object_fields(answers.get()).unwrap_or_default() {
            let raw = RawValue::from_string(answer.to_owned());
            if let (Some(asked), Ok(raw)) = (self.asked.remove(&*key), raw) {
                // An asker that has given up needs no answer.
                let _ = asked.answer.send(Answer(raw));
            }
        }
    }
}

/// A source's questions as it wrote them: keys, methods and parameters.
pub(crate) fn read_questions(raw: &RawValue) -> Option<Vec<(String, Question)>> {
    #[derive(serde::Deserialize)]
    struct SourceQuestion<'a> {
        method: String,
        #[serde(borrow, default)]
        params: Option<&'a RawValue>,
    }
    let fields = object_fields(raw.get())?;
    let mut questions = Vec::with_capacity(fields.len());
    for (key, question) in fields {
        let SourceQuestion { method, params } = serde_json::from_str(question).ok()?;
        let params = params.map_or_else(empty_object, ToOwned::to_owned);
        questions.push((key.into_owned(), Question { method, params }));
    }
    Some(questions)
}

pub(crate) fn empty_object() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}
