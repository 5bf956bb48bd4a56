//! The person at the terminal, as a client that sources and policy may ask.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_dispatch::{Answer, AskError, ClientCapabilities, Peer, Question, QuestionMode};
use serde_json::value::RawValue;
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
}

impl TerminalPeer {
    /// A peer, and the questions that are put to it.
    pub(super) fn new() -> (Arc<Self>, mpsc::Receiver<OpenQuestion>) {
        let (questions, asked) = mpsc::channel(WAITING);
        let declared = RawValue::from_string(CAPABILITIES.to_owned());
        let capabilities = ClientCapabilities::read(&declared.expect("this is JSON"));
        (Arc::new(Self { capabilities, questions }), asked)
    }
}

impl Peer for TerminalPeer {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
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
