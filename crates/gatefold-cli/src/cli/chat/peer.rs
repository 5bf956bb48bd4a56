//! The person at the terminal, as a client that sources and policy may ask.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use gatefold_dispatch::{
    Answer, AskError, ClientCapabilities, NoPeer, Peer, Question, QuestionMode, WHOLE_ARGUMENTS,
};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{mpsc, oneshot};

/// The most questions that wait for the person. A source asks one after another, and an answer of the
/// model has few calls under way.
const WAITING: usize = 64;

/// What a terminal can be asked: forms, and to open an address.
const CAPABILITIES: &str = r#"{"elicitation":{"form":{},"url":{}}}"#;

/// A question, and the channel for its answer.
pub(super) struct OpenQuestion {
    pub(super) question: Question,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// Hands questions on to whoever reads the terminal.
pub(super) struct TerminalPeer {
    capabilities: ClientCapabilities,
    questions: mpsc::Sender<OpenQuestion>,
    has_left: AtomicBool,
}

impl OpenQuestion {
    /// Answers for a person who is gone: nothing is approved, and any other question stays without an answer.
    pub(super) fn leave(self) {
        let is_approval = self.question.params.get().contains(WHOLE_ARGUMENTS);
        if is_approval && let Ok(answer) = to_raw_value(&json!({ "action": "cancel" })) {
            // A call that has ended meanwhile needs no answer.
            let _ = self.answer.send(Answer(answer));
        }
    }
}

impl TerminalPeer {
    /// A peer, and the questions that are put to it.
    pub(super) fn new() -> (Arc<Self>, mpsc::Receiver<OpenQuestion>) {
        let (questions, asked) = mpsc::channel(WAITING);
        let declared = RawValue::from_string(CAPABILITIES.to_owned());
        let capabilities = ClientCapabilities::read(&declared.expect("this is JSON"));
        let has_left = AtomicBool::new(false);
        (Arc::new(Self { capabilities, questions, has_left }), asked)
    }

    /// Nobody is asked any more.
    pub(super) fn leave(&self) {
        self.has_left.store(true, Ordering::Release);
    }
}

impl Peer for TerminalPeer {
    fn capabilities(&self) -> &ClientCapabilities {
        if self.has_left.load(Ordering::Acquire) {
            NoPeer.capabilities()
        } else {
            &self.capabilities
        }
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn shows_whole_arguments(&self) -> bool {
        true
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let open = OpenQuestion { question, answer };
            self.questions.send(open).await.map_err(|_| AskError::Gone)?;
            answered.await.map_err(|_| AskError::Gone)
        })
    }
}
