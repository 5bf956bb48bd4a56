//! Clients that can be asked something, each in its manner.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_dispatch::{Answer, AskError, Caller, ClientCapabilities, Manner, Peer, Question};

use crate::source::raw;

/// The capabilities of a client that can be asked for forms.
pub(crate) const FORMS: &str = r#"{"elicitation":{}}"#;

/// What a client does when it is asked something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Says {
    Answer(&'static str),
    Late(Duration, &'static str),
    Refusal,
    Gone,
    Nothing,
}

/// A client that is asked over its connection.
pub(crate) struct Client {
    capabilities: ClientCapabilities,
    says: Says,
    asked: Mutex<Vec<String>>,
}

impl Client {
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A caller with such a client, and the client.
pub(crate) fn live(capabilities: &str, says: Says) -> (Caller, Arc<Client>) {
    let capabilities = ClientCapabilities::read(&raw(capabilities));
    let client = Arc::new(Client { capabilities, says, asked: Mutex::default() });
    (Caller { peer: client.clone(), ..Caller::silent() }, client)
}

impl Peer for Client {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn manner(&self) -> Manner {
        Manner::Live
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        let Question { method, params } = question;
        self.asked.lock().unwrap().push(format!("{method} {params}"));
        Box::pin(async move {
            match self.says {
                Says::Answer(text) => Ok(Answer(raw(text))),
                Says::Late(after, text) => {
                    tokio::time::sleep(after).await;
                    Ok(Answer(raw(text)))
                }
                Says::Refusal => Err(AskError::Refused { code: -1, message: "not now".to_owned() }),
                Says::Gone => Err(AskError::Gone),
                Says::Nothing => std::future::pending().await,
            }
        })
    }
}
