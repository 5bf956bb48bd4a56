//! Clients that can be asked something, each in its own way.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_dispatch::{
    Answer, AskError, Caller, ClientCapabilities, Peer, Question, QuestionMode,
};

use crate::source::raw;

/// The capabilities of a client that can be asked for forms.
pub(crate) const FORMS: &str = r#"{"elicitation":{}}"#;

/// What a client does when it is asked something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ClientReaction {
    Answer(&'static str),
    Late(Duration, &'static str),
    Refusal,
    Gone,
    Nothing,
}

/// A client that is asked over its connection.
pub(crate) struct Client {
    capabilities: ClientCapabilities,
    says: ClientReaction,
    asked: Mutex<Vec<String>>,
}

impl Client {
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A caller with such a client, and the client.
pub(crate) fn live(capabilities: &str, says: ClientReaction) -> (Caller, Arc<Client>) {
    let capabilities = ClientCapabilities::read(&raw(capabilities));
    let client = Arc::new(Client { capabilities, says, asked: Mutex::default() });
    (Caller { peer: client.clone(), ..Caller::silent() }, client)
}

impl Peer for Client {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        let Question { method, params } = question;
        self.asked.lock().unwrap().push(format!("{method} {params}"));
        Box::pin(async move {
            match self.says {
                ClientReaction::Answer(text) => Ok(Answer(raw(text))),
                ClientReaction::Late(after, text) => {
                    tokio::time::sleep(after).await;
                    Ok(Answer(raw(text)))
                }
                ClientReaction::Refusal => {
                    Err(AskError::Refused { code: -1, message: "not now".to_owned() })
                }
                ClientReaction::Gone => Err(AskError::Gone),
                ClientReaction::Nothing => std::future::pending().await,
            }
        })
    }
}
