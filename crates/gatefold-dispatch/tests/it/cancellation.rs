use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::future::BoxFuture;
use gatefold_core::CallError;
use gatefold_dispatch::{
    Answer, AskError, Caller, ClientCapabilities, Limits, Peer, Question, QuestionMode,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::source::{FakeSource, raw};
use crate::world::{World, done, until};

/// A client that never answers.
struct SilentClient {
    asked: Notify,
    capabilities: ClientCapabilities,
}

impl Default for SilentClient {
    fn default() -> Self {
        let capabilities = ClientCapabilities::read(&raw(r#"{"elicitation":{}}"#));
        Self { asked: Notify::new(), capabilities }
    }
}

impl Peer for SilentClient {
    fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    fn question_mode(&self) -> QuestionMode {
        QuestionMode::Live
    }

    fn ask(&self, _: Question) -> BoxFuture<'_, Result<Answer, AskError>> {
        self.asked.notify_one();
        Box::pin(std::future::pending())
    }
}

/// Where a call is when it is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CancelledAt {
    Invoked,
    Asking,
    Queued,
}

/// How it is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CancelledBy {
    ByToken,
    ByDrop,
}

#[tokio::test(start_paused = true)]
async fn a_call_given_up_anywhere_ends_cancelled_and_frees_its_place() {
    for parked in [CancelledAt::Invoked, CancelledAt::Asking, CancelledAt::Queued] {
        for given_up in [CancelledBy::ByToken, CancelledBy::ByDrop] {
            check(parked, given_up).await;
        }
    }
}

async fn check(parked: CancelledAt, given_up: CancelledBy) {
    let mail = FakeSource::new("mail");
    let limits = Limits { calls_in_flight: 1, ..Limits::default() };
    let world = World::with_limits(&[&mail], limits);
    let peer = Arc::new(SilentClient::default());
    let cancel = CancellationToken::new();
    let caller = Caller { peer: peer.clone(), cancel: cancel.clone(), ..Caller::silent() };
    let mut ahead = None;
    let call = match parked {
        CancelledAt::Invoked => {
            let call = world.start("mail__hang", caller);
            mail.reached(1).await;
            call
        }
        CancelledAt::Asking => {
            let call = world.start("mail__ask", caller);
            peer.asked.notified().await;
            call
        }
        CancelledAt::Queued => {
            ahead = Some(world.start("mail__hang", Caller::silent()));
            mail.reached(1).await;
            let call = world.start("mail__echo", caller);
            until("a waiting call", || world.report("mail").calls_waiting == 1).await;
            call
        }
    };
    match given_up {
        CancelledBy::ByToken => {
            cancel.cancel();
            assert!(matches!(call.await, Ok(Err(CallError::Cancelled))));
        }
        CancelledBy::ByDrop => {
            call.abort();
            assert!(call.await.is_err_and(|error| error.is_cancelled()));
        }
    }
    let what = format!("{parked:?} {given_up:?}");
    assert_eq!(world.log.last().ended(), "cancelled", "{what}");
    assert_eq!(world.counted("cancelled"), 1, "{what}");
    assert_eq!(world.report("mail").calls_waiting, 0, "{what}");
    if let Some(ahead) = ahead {
        assert_eq!(mail.calls(), 1, "a queued call was not sent");
        ahead.abort();
        assert!(ahead.await.is_err());
    } else if given_up == CancelledBy::ByToken {
        assert!(mail.heard_cancel(), "{what}");
    }
    assert_eq!(mail.running(), 0, "{what}");
    assert_eq!(world.report("mail").calls_in_flight, 0, "{what}");
    done(world.call("mail__echo", "{}").await);
}

#[tokio::test(start_paused = true)]
async fn a_call_cancelled_before_it_began_is_recorded_and_not_sent() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    let caller = Caller::silent();
    caller.cancel.cancel();
    let result = world.start("mail__echo", caller).await.unwrap();
    assert!(matches!(result, Err(CallError::Cancelled)));
    assert_eq!((mail.calls(), world.log.ended()), (0, vec!["cancelled".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_given_up_while_its_record_opens() {
    let mail = FakeSource::new("mail");
    let world = World::new(&[&mail]);
    world.log.hangs.store(true, Ordering::SeqCst);
    let caller = Caller::silent();
    let cancel = caller.cancel.clone();
    let call = world.start("mail__echo", caller);
    tokio::task::yield_now().await;
    cancel.cancel();
    assert!(matches!(call.await, Ok(Err(CallError::Cancelled))));
    assert_eq!((mail.calls(), world.counted("cancelled")), (0, 1));
}
