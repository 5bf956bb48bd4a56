//! Clients, as sources may ask them questions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use futures::future::BoxFuture;
use gatefold_catalog::object_fields;
use gatefold_dispatch::{Answer, AskError, ClientCapabilities, Peer, Question, QuestionMode};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::message::ClientError;
use super::message_memory::{CallMemory, counted_line};
use crate::protocol::{codes, methods, rpc};

/// The most open questions of one client. A source that asks more is told that the client does not
/// answer.
const QUESTIONS: usize = 256;

/// The random bytes in the id of a page to open.
const ELICITATION_ID_BYTES: usize = 16;

/// A client that gets questions as the answer to its request, and answers with another request.
pub(super) struct StatelessPeer {
    pub(super) capabilities: Arc<ClientCapabilities>,
    /// Tells it from other clients, as far as possible.
    pub(super) client: Option<u64>,
}

impl Peer for StatelessPeer {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::ByRetry
    }

    fn client(&self) -> Option<u64> {
        self.client
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move { Err(AskError::Unsupported(question.method)) })
    }
}

/// A client with a session. It answers on its own, not by another request.
pub(super) struct SessionPeer {
    pub(super) capabilities: Arc<ClientCapabilities>,
    pub(super) questions: Arc<PendingQuestions>,
    pub(super) stream: QuestionStream,
}

/// Where a client with a session is asked.
pub(super) enum QuestionStream {
    /// On the stream of the request that caused the question, before its answer, with what its call
    /// may take of the memory for messages.
    Request(mpsc::Sender<Bytes>, Arc<CallMemory>),
    /// On the only client's connection, outside of its requests. Weak, so as not to keep it open.
    Connection(mpsc::WeakSender<Bytes>),
}

impl QuestionStream {
    fn sender(&self) -> Option<mpsc::Sender<Bytes>> {
        match self {
            Self::Request(stream, _) => Some(stream.clone()),
            Self::Connection(stream) => stream.upgrade(),
        }
    }

    /// A question's text, with its share of the memory for messages.
    fn counted(&self, text: String) -> Result<Bytes, AskError> {
        match self {
            Self::Request(_, memory) => {
                let share = memory.share(text.len()).ok_or_else(too_much)?;
                Ok(counted_line(text, share))
            }
            Self::Connection(_) => Ok(counted_line(text, ())),
        }
    }
}

impl Peer for SessionPeer {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn client(&self) -> Option<u64> {
        Some(self.questions.client)
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move {
            let stream = self.stream.sender().ok_or(AskError::Gone)?;
            let open = self.questions.open(stream.clone())?;
            let identified = with_elicitation_id(&question);
            let params = identified.as_deref().unwrap_or(&question.params);
            let text = rpc::question(&open.id, &question.method, params);
            let text = self.stream.counted(text)?;
            // The client may think for minutes.
            drop((identified, question));
            stream.send(text).await.map_err(|_| AskError::Gone)?;
            open.answered().await
        })
    }
}

fn too_much() -> AskError {
    let message = "too much waits for the client to read it".to_owned();
    AskError::Refused { code: codes::INTERNAL_ERROR, message }
}

/// The parameters of a request to open a page, with an id. None where they need none.
///
/// Version 2025-11-25 requires `elicitationId` there, and clients refuse a request without one; in
/// 2026-07-28 it is gone, so servers of that era send none. Nothing refers to ours later.
fn with_elicitation_id(question: &Question) -> Option<Box<RawValue>> {
    if question.method != methods::ELICIT {
        return None;
    }
    let own = question.params.get();
    let fields = object_fields(own)?;
    let is_page = fields.iter().any(|(key, value)| key == "mode" && *value == r#""url""#);
    if !is_page || fields.iter().any(|(key, _)| key == "elicitationId") {
        return None;
    }
    let mut random = [0; ELICITATION_ID_BYTES];
    getrandom::fill(&mut random).ok()?;
    let id = u128::from_ne_bytes(random);
    let rest = own.trim_start().strip_prefix('{')?;
    RawValue::from_string(format!(r#"{{"elicitationId":"{id:032x}",{rest}"#)).ok()
}

/// What the ids of our questions begin with.
const QUESTION_ID: &str = "gatefold-";

/// Whether an id, as JSON, is one of our questions.
pub(super) fn is_of_question(id: &str) -> bool {
    id.strip_prefix('"').is_some_and(|id| id.starts_with(QUESTION_ID))
}

type ClientAnswer = Result<Box<RawValue>, ClientError>;

/// The questions that a client has not answered yet.
pub(super) struct PendingQuestions {
    /// Unique among the clients of this process.
    pub(super) client: u64,
    /// At most [`QUESTIONS`]; `None` once the client is gone.
    open: Mutex<Option<HashMap<String, oneshot::Sender<ClientAnswer>>>>,
    asked: AtomicU64,
}

impl Default for PendingQuestions {
    fn default() -> Self {
        static CLIENTS: AtomicU64 = AtomicU64::new(0);
        let client = CLIENTS.fetch_add(1, Ordering::Relaxed);
        Self { client, open: Mutex::new(Some(HashMap::new())), asked: AtomicU64::new(0) }
    }
}

impl PendingQuestions {
    fn open(self: &Arc<Self>, stream: mpsc::Sender<Bytes>) -> Result<PendingQuestion, AskError> {
        let id = format!("{QUESTION_ID}{}", self.asked.fetch_add(1, Ordering::Relaxed));
        let (sender, answer) = oneshot::channel();
        {
            let mut questions = self.lock();
            let open = questions.as_mut().ok_or(AskError::Gone)?;
            if open.len() >= QUESTIONS {
                let message = format!("it has {QUESTIONS} questions open, which is the limit");
                return Err(AskError::Refused { code: codes::INTERNAL_ERROR, message });
            }
            open.insert(id.clone(), sender);
        }
        Ok(PendingQuestion { id, questions: self.clone(), answer: Some(answer), stream })
    }

    /// Gives up on every answer, because the client is gone.
    pub(super) fn hang_up(&self) {
        self.lock().take();
    }

    /// Takes a client's answer; false if nobody waits for it.
    pub(super) fn answer(&self, id: &str, answer: ClientAnswer) -> bool {
        let asker = self.lock().as_mut().and_then(|open| open.remove(id));
        asker.is_some_and(|asker| asker.send(answer).is_ok())
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.lock().as_ref().map_or(0, HashMap::len)
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<String, oneshot::Sender<ClientAnswer>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question to a client. If it is dropped unanswered, the client is told.
struct PendingQuestion {
    id: String,
    questions: Arc<PendingQuestions>,
    answer: Option<oneshot::Receiver<ClientAnswer>>,
    stream: mpsc::Sender<Bytes>,
}

impl PendingQuestion {
    async fn answered(mut self) -> Result<Answer, AskError> {
        let answer = self.answer.as_mut().ok_or(AskError::Gone)?;
        let answer = answer.await.map_err(|_| AskError::Gone)?;
        self.answer = None;
        match answer {
            Ok(result) => Ok(Answer(result)),
            Err(ClientError { code, message }) => Err(AskError::Refused { code, message }),
        }
    }
}

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        if self.answer.is_none() {
            return;
        }
        if let Some(open) = self.questions.lock().as_mut() {
            open.remove(&self.id);
        }
        let id = rpc::to_text(&self.id);
        let params =
            format!(r#"{{"requestId":{id},"reason":"the answer is not needed any more"}}"#);
        // A client that is gone or does not read need not be told.
        let _ = self.stream.try_send(rpc::notice(methods::CANCELLED, &params).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::downstream::message_memory::MessageMemory;

    fn peer() -> (Arc<PendingQuestions>, SessionPeer, mpsc::Receiver<Bytes>) {
        let (questions, (stream, sent)) = (Arc::<PendingQuestions>::default(), mpsc::channel(4));
        let (capabilities, stream) =
            (Arc::default(), QuestionStream::Request(stream, MessageMemory::default().of_call()));
        (questions.clone(), SessionPeer { capabilities, questions, stream }, sent)
    }

    fn asked() -> Question {
        Question { method: "roots/list".to_owned(), params: RawValue::NULL.to_owned() }
    }

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[tokio::test]
    async fn an_answer_finds_its_question() {
        let (questions, peer, mut sent) = peer();
        let asking = tokio::spawn(async move { peer.ask(asked()).await });
        let question = sent.recv().await.unwrap();
        assert_eq!(
            question,
            r#"{"jsonrpc":"2.0","id":"gatefold-0","method":"roots/list","params":null}"#
        );
        assert!(!questions.answer("gatefold-1", Ok(raw("1"))), "nobody asked this");
        assert!(questions.answer("gatefold-0", Ok(raw(r#"{"roots":[]}"#))));
        assert_eq!(asking.await.unwrap().unwrap().0.get(), r#"{"roots":[]}"#);
        assert_eq!(questions.count(), 0);
        assert!(sent.recv().await.is_none(), "nothing else was said");
    }

    #[test]
    fn only_a_page_without_an_id_gets_one() {
        let check = |method: &str, params: &str, expected: bool| {
            let question = Question { method: method.to_owned(), params: raw(params) };
            let identified = with_elicitation_id(&question);
            assert_eq!(identified.is_some(), expected, "{method} {params}");
            let Some(identified) = identified else { return };
            let (_, rest) = identified.get().split_once(',').unwrap();
            assert_eq!(format!("{{{rest}"), params, "the rest stays as it was");
        };
        check(methods::ELICIT, r#"{"mode": "url","url":"https://a.example","n":1.0}"#, true);
        check(methods::ELICIT, r#"{"mode":"url","elicitationId":"own"}"#, false);
        check(methods::ELICIT, r#"{"mode":"form","message":"Who?"}"#, false);
        check(methods::ELICIT, "null", false);
        check(methods::SAMPLE, r#"{"mode":"url"}"#, false);
    }

    #[tokio::test]
    async fn a_client_that_is_gone_is_not_waited_for() {
        let (questions, peer, mut sent) = peer();
        let asking = tokio::spawn(async move { (peer.ask(asked()).await, peer) });
        sent.recv().await.unwrap();
        questions.hang_up();
        let (answer, peer) = asking.await.unwrap();
        assert!(matches!(answer, Err(AskError::Gone)), "{answer:?}");
        assert!(matches!(peer.ask(asked()).await, Err(AskError::Gone)));
        assert!(!questions.answer("gatefold-0", Ok(raw("1"))));
    }

    #[tokio::test]
    async fn a_client_has_so_many_questions_open_and_no_more() {
        let (questions, peer, _sent) = peer();
        let open: Vec<_> = (0..QUESTIONS)
            .map(|_| questions.open(peer.stream.sender().unwrap()).unwrap())
            .collect();
        let refused = peer.ask(asked()).await;
        assert!(matches!(refused, Err(AskError::Refused { .. })), "{refused:?}");
        drop(open);
        assert!(questions.open(peer.stream.sender().unwrap()).is_ok());
    }

    #[tokio::test]
    async fn a_question_given_up_is_taken_back() {
        let (questions, peer, mut sent) = peer();
        {
            let mut asking = std::pin::pin!(peer.ask(asked()));
            assert!(futures::poll!(&mut asking).is_pending());
        }
        sent.recv().await.unwrap();
        let cancelled = sent.recv().await.unwrap();
        let cancelled = std::str::from_utf8(&cancelled).unwrap();
        assert!(cancelled.contains("notifications/cancelled") && cancelled.contains("gatefold-0"));
        assert_eq!(questions.count(), 0);
    }

    #[tokio::test]
    async fn a_refusal_keeps_its_code_and_a_closed_stream_is_noticed() {
        let (questions, peer, sent) = peer();
        let asking = async {
            while !questions
                .answer("gatefold-0", Err(ClientError { code: -1, message: "no".into() }))
            {
                tokio::task::yield_now().await;
            }
        };
        let (answer, ()) = tokio::join!(peer.ask(asked()), asking);
        assert!(matches!(answer, Err(AskError::Refused { code: -1, .. })), "{answer:?}");
        drop(sent);
        assert!(matches!(peer.ask(asked()).await, Err(AskError::Gone)));
        assert_eq!(questions.count(), 0);
    }
}
