//! One running request: messages to its client in the meantime, and finally its answer.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use futures::future::BoxFuture;
use gatefold_dispatch::{Event, EventListener, MemoryShare, ResultPlace, ResultRoom};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::message_memory::{CallMemory, MessageShare, counted_line};
use crate::counted::counted;
use crate::protocol::{LogLevel, RpcError, methods, rpc};

/// Messages that wait for a slow client.
pub(super) const QUEUE: usize = 64;

/// A running request. Dropping it cancels it.
pub(super) struct RequestInProgress {
    answer: BoxFuture<'static, Result<String, RpcError>>,
    /// The answer, while messages before it are still to be sent.
    answered: Option<Result<String, RpcError>>,
    said: Outbox,
    /// The place of its result, if that is large.
    place: ResultPlace,
    cancel: CancellationToken,
    stopped: CancellationToken,
    /// Released when the request is done.
    _held: Box<dyn RequestGuard>,
}

/// What a request holds while it runs, such as its slot in a session.
pub(super) trait RequestGuard: Send + 'static {
    /// Fires when the client no longer wants the answer.
    fn cancel(&self) -> CancellationToken;

    /// Fires when the gateway waits no longer for the requests under way.
    fn stopped(&self) -> CancellationToken;

    /// What the request takes of the memory for all requests, if it is large.
    fn memory(&self) -> Option<Arc<dyn MemoryShare>> {
        None
    }
}

/// The next step of a request.
pub(super) enum RequestStep {
    /// To be sent before the answer, on one line.
    Message(Bytes),
    /// The source has ended its own stream, and continues after this time.
    Pause(Duration),
    Answer(RequestAnswer),
    /// The client has cancelled it and expects no answer.
    Cancelled,
}

impl RequestInProgress {
    /// A request whose answer is being prepared. `said` brings the messages in the meantime.
    pub(super) fn new(
        answer: BoxFuture<'static, Result<String, RpcError>>,
        said: Outbox,
        place: ResultPlace,
        held: impl RequestGuard,
    ) -> Self {
        let (cancel, stopped) = (held.cancel(), held.stopped());
        Self { answer, answered: None, said, place, cancel, stopped, _held: Box::new(held) }
    }

    pub(super) async fn next(&mut self) -> RequestStep {
        let answer = if let Some(answer) = self.answered.take() {
            answer
        } else {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    // The call ends and leaves its record; nobody reads its result.
                    let _ = (&mut self.answer).await;
                    return RequestStep::Cancelled;
                }
                // Polled first, because it also enforces the call's deadline.
                answer = &mut self.answer => answer,
                () = self.stopped.cancelled() => Err(cut_off()),
                Some(step) = self.said.next() => return step,
            }
        };
        // Messages that arrived together with the answer were sent before it.
        if let Some(text) = self.said.at_hand() {
            self.answered = Some(answer);
            return RequestStep::Message(text);
        }
        RequestStep::Answer(RequestAnswer::new(answer, &mut self.place))
    }

    /// Only the answer, for a client that cannot receive anything before it.
    pub(super) async fn answered(mut self) -> Option<RequestAnswer> {
        loop {
            match self.next().await {
                RequestStep::Answer(answer) => return Some(answer),
                RequestStep::Cancelled => return None,
                RequestStep::Message(_) | RequestStep::Pause(_) => {}
            }
        }
    }
}

/// The answer to a request. A large one keeps the place of its result until it is written.
pub(super) struct RequestAnswer {
    pub(super) result: Result<String, RpcError>,
    pub(super) place: ResultPlace,
}

impl RequestAnswer {
    fn new(result: Result<String, RpcError>, place: &mut ResultPlace) -> Self {
        let place = std::mem::take(place);
        let is_large = result.as_ref().is_ok_and(|text| text.len() > ResultRoom::SMALL);
        Self { result, place: if is_large { place } else { ResultPlace::default() } }
    }

    /// The whole message, letter for letter.
    pub(super) fn text(self, id: &RawValue) -> Bytes {
        counted(rpc::answer(id, &self.result), self.place)
    }

    /// The whole message on one line.
    pub(super) fn line(self, id: &RawValue) -> Bytes {
        counted_line(rpc::answer(id, &self.result), self.place)
    }
}

/// Takes what a source says during a call until its client can be told.
pub(super) struct EventQueue {
    pub(super) events: mpsc::Sender<QueuedEvent>,
    pub(super) memory: Arc<CallMemory>,
}

/// An event, and what it takes of the memory for those that wait.
pub(super) struct QueuedEvent {
    event: Event,
    share: MessageShare,
}

impl EventListener for EventQueue {
    fn hear(&self, event: Event) {
        if let Some(share) = self.memory.share(event.bytes()) {
            let _ = self.events.try_send(QueuedEvent { event, share });
        }
    }

    fn is_gone(&self) -> bool {
        self.events.is_closed()
    }
}

/// The answer to a request that was under way when the gateway stopped.
fn cut_off() -> RpcError {
    RpcError::internal("Gatefold was stopped before this ended; a call may have taken effect")
}

/// The messages of a request while it runs.
pub(super) struct Outbox {
    pub(super) events: mpsc::Receiver<QueuedEvent>,
    pub(super) texts: mpsc::Receiver<Bytes>,
    pub(super) progress_token: Option<Box<RawValue>>,
    pub(super) log_level: Option<LogLevel>,
}

impl Outbox {
    /// The next message for the client; nothing when there can be no more.
    async fn next(&mut self) -> Option<RequestStep> {
        loop {
            tokio::select! {
                biased;
                Some(queued) = self.events.recv() => {
                    if let Some(step) = self.step(queued) {
                        return Some(step);
                    }
                }
                Some(text) = self.texts.recv() => return Some(RequestStep::Message(text)),
                else => return None,
            }
        }
    }

    /// The next message that is already there. A pause no longer matters.
    fn at_hand(&mut self) -> Option<Bytes> {
        while let Ok(queued) = self.events.try_recv() {
            if let Some(RequestStep::Message(text)) = self.step(queued) {
                return Some(text);
            }
        }
        self.texts.try_recv().ok()
    }

    fn step(&self, QueuedEvent { event, share }: QueuedEvent) -> Option<RequestStep> {
        let text = match event {
            Event::Pause { retry } => return Some(RequestStep::Pause(retry)),
            Event::Progress(params) => progress(self.progress_token.as_deref()?, &params),
            Event::Log(params) => {
                let is_wanted = self.log_level.is_some_and(|level| level.admits(&params));
                is_wanted.then(|| rpc::notice(methods::LOG_MESSAGE, params.get()))
            }
            Event::Notice { method, params } => Some(rpc::notice(&method, params.get())),
        };
        text.map(|text| RequestStep::Message(counted_line(text, share)))
    }
}

/// A progress notification in the source's words, under the client's own token.
fn progress(token: &RawValue, params: &RawValue) -> Option<String> {
    let fields = gatefold_catalog::object_fields(params.get())?;
    let own = fields.iter().filter(|(key, _)| key != "progressToken");
    let own = own.map(|(key, value)| format!(",{}:{value}", rpc::to_text(key)));
    let params = format!(r#"{{"progressToken":{token}{}}}"#, own.collect::<String>());
    Some(rpc::notice(methods::PROGRESS, &params))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::downstream::message_memory::MessageMemory;

    impl RequestGuard for () {
        fn cancel(&self) -> CancellationToken {
            CancellationToken::new()
        }

        fn stopped(&self) -> CancellationToken {
            CancellationToken::new()
        }
    }

    #[tokio::test]
    async fn what_comes_in_one_piece_with_the_answer_is_said_before_it() {
        let (sender, events) = mpsc::channel(QUEUE);
        let queue = EventQueue { events: sender, memory: MessageMemory::default().of_call() };
        let answer = async move {
            for method in ["first", "second"] {
                let params = RawValue::from_string("{}".to_owned()).unwrap();
                queue.hear(Event::Notice { method: method.to_owned(), params });
            }
            Ok("answer".to_owned())
        };
        let texts = mpsc::channel(QUEUE).1;
        let said = Outbox { events, texts, progress_token: None, log_level: None };
        let answer = answer.boxed();
        let mut working = RequestInProgress::new(answer, said, ResultPlace::default(), ());
        for method in ["first", "second"] {
            let RequestStep::Message(text) = working.next().await else {
                panic!("{method} was not said")
            };
            let text = std::str::from_utf8(&text).unwrap();
            assert!(text.contains(method), "{text}");
        }
        let RequestStep::Answer(answer) = working.next().await else { panic!("no answer") };
        assert_eq!(answer.result.unwrap(), "answer");
    }

    #[test]
    fn progress_comes_under_the_clients_own_token() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let params = raw(r#"{"progressToken":100000001,"progress":1.50,"message":"half"}"#);
        assert_eq!(
            progress(&raw("\"mine\""), &params).unwrap(),
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1.50,"message":"half"}}"#
        );
    }
}
