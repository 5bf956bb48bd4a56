use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use gatefold_dispatch::{AskError, Peer, Question};
use serde_json::value::RawValue;

use super::told;

/// A question that may belong to any of several requests of one client. It is asked once and all of
/// them follow it, so it stays open until the last one ends.
pub(super) struct SharedQuestion {
    pub(super) id: Box<RawValue>,
    text: Shared<BoxFuture<'static, Arc<str>>>,
    is_taken: AtomicBool,
}

impl SharedQuestion {
    /// Every peer must stand for the same client.
    pub(super) fn new(id: &RawValue, question: Question, peers: Vec<Arc<dyn Peer>>) -> Arc<Self> {
        let own = id.to_owned();
        let asking = async move {
            let mut answer = Err(AskError::Gone);
            for peer in peers {
                let Question { method, params } = &question;
                let asked = Question { method: method.clone(), params: params.clone() };
                answer = peer.ask(asked).await;
                // The request may have ended before its client was asked on its stream.
                if !matches!(answer, Err(AskError::Gone)) {
                    break;
                }
            }
            Arc::from(told(&own, answer.as_ref().map(|answer| &*answer.0)))
        };
        let text = asking.boxed().shared();
        Arc::new(Self { id: id.to_owned(), text, is_taken: AtomicBool::new(false) })
    }

    /// The text for the server. Only the first caller gets it.
    pub(super) async fn text(&self) -> Option<String> {
        let text = self.text.clone().await;
        (!self.is_taken.swap(true, Ordering::AcqRel)).then(|| text.to_string())
    }

    /// Stops following it. True if no other request follows it, so that the caller must refuse it.
    pub(super) fn give_up(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1 && !self.is_taken.swap(true, Ordering::AcqRel)
    }
}
