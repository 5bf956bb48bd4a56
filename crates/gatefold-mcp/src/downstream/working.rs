//! One request being worked on: what is said to its client meanwhile, and its answer at last.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::{ClientName, Principal};
use gatefold_dispatch::{Caller, ClientCapabilities, Event, EventSink, NoPeer, Peer, RequestMeta};
use gatefold_exchange::Audience;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::message::{Meta, Request};
use super::peers::{Connected, Retrying};
use super::server::Server;
use super::sessions::{InRequest, Session};
use crate::protocol::{Era, LogLevel, RpcError, methods, rpc};

/// Messages that wait for a client that reads slowly.
const QUEUE: usize = 64;

/// Whoever sent a request.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) principal: Arc<Principal>,
    /// What it calls itself. Nothing but a claim.
    pub(super) name: Option<ClientName>,
    pub(super) standing: Standing,
    /// What tells a client without a session from others: its connection, if that belongs to it alone,
    /// else who it is and what it calls itself.
    pub(super) connection: Option<u64>,
}

/// What is known of a client beside the request.
#[derive(Clone)]
pub(super) enum Standing {
    /// It began with `initialize`.
    Session(Arc<Session>),
    /// It says with every request what it can do.
    Alone(Arc<ClientCapabilities>),
}

impl Client {
    pub(super) fn era(&self) -> Era {
        match self.standing {
            Standing::Session(_) => Era::Handshake,
            Standing::Alone(_) => Era::Stateless,
        }
    }

    pub(super) fn session(&self) -> Option<&Arc<Session>> {
        match &self.standing {
            Standing::Session(session) => Some(session),
            Standing::Alone(_) => None,
        }
    }

    fn peer(&self, stream: mpsc::Sender<String>) -> Arc<dyn Peer> {
        match &self.standing {
            Standing::Session(session) => Arc::new(Connected {
                capabilities: session.capabilities.clone(),
                questions: session.questions.clone(),
                stream,
            }),
            Standing::Alone(capabilities) => {
                Arc::new(Retrying { capabilities: capabilities.clone(), client: self.connection })
            }
        }
    }

    /// The least severe log messages it wants. A session that never said gets them all, a request
    /// that stands alone and does not say none.
    fn log_level(&self, meta: &Meta) -> Option<LogLevel> {
        match &self.standing {
            Standing::Session(session) => Some(session.log_level().unwrap_or(LogLevel::Debug)),
            Standing::Alone(_) => meta.log_level.as_deref().and_then(LogLevel::parse),
        }
    }
}

/// A request under way. Dropped, it is cancelled.
pub(super) struct Working {
    answer: BoxFuture<'static, Result<String, RpcError>>,
    /// The answer, while something said before it is still to be sent.
    answered: Option<Result<String, RpcError>>,
    said: Said,
    cancel: CancellationToken,
    /// What is let go of when the request is done with.
    _held: Box<dyn Held>,
}

/// What a request holds while it is worked on, such as its place in a session.
pub(super) trait Held: Send + 'static {
    /// Fires when the client does not want the answer any more.
    fn cancel(&self) -> CancellationToken;
}

impl Held for InRequest {
    fn cancel(&self) -> CancellationToken {
        self.cancel.clone()
    }
}

/// The next thing about a request.
pub(super) enum Step {
    /// To be sent before the answer.
    Said(String),
    /// The source has ended its own stream, and goes on after this time.
    Pause(Duration),
    Answered(Result<String, RpcError>),
    /// The client has taken it back: it expects no answer.
    Cancelled,
}

impl Working {
    pub(super) fn begin(
        server: Arc<Server>,
        audience: Audience,
        client: Client,
        request: Request,
        meta: Meta,
        held: impl Held,
    ) -> Self {
        let (stream, texts) = mpsc::channel(QUEUE);
        let peer = client.peer(stream);
        Self::with(server, audience, client, (request, meta), (peer, texts), held)
    }

    /// A request on whose way its client can be asked nothing.
    pub(super) fn unasked(
        server: Arc<Server>,
        audience: Audience,
        client: Client,
        request: Request,
        meta: Meta,
        held: impl Held,
    ) -> Self {
        let (_, texts) = mpsc::channel(1);
        Self::with(server, audience, client, (request, meta), (Arc::new(NoPeer), texts), held)
    }

    fn with(
        server: Arc<Server>,
        audience: Audience,
        client: Client,
        (request, meta): (Request, Meta),
        (peer, texts): (Arc<dyn Peer>, mpsc::Receiver<String>),
        held: impl Held,
    ) -> Self {
        let cancel = held.cancel();
        let taken_back = cancel.clone();
        let (sender, events) = mpsc::channel(QUEUE);
        let log_level = client.log_level(&meta);
        let progress_token = meta.progress_token;
        let events_wanted = match (&progress_token, log_level) {
            (Some(_), _) => EventSink::new(sender),
            (None, Some(_)) => EventSink::without_progress(sender),
            (None, None) => EventSink::none(),
        };
        let said_level = match &client.standing {
            Standing::Session(session) => session.log_level(),
            Standing::Alone(_) => log_level,
        };
        let caller = Caller {
            events: events_wanted,
            peer,
            cancel,
            meta: Arc::new(RequestMeta {
                client: client.name.clone(),
                traceparent: meta.traceparent,
                tracestate: meta.tracestate,
                log_level: said_level.map(|level| level.as_str().to_owned()),
                others: meta.others,
            }),
            ..Caller::silent()
        };
        let answer =
            server.answer(audience, client, request.method, request.params, caller).boxed();
        let said = Said { events, texts, progress_token, log_level };
        Self { answer, answered: None, said, cancel: taken_back, _held: Box::new(held) }
    }

    pub(super) async fn next(&mut self) -> Step {
        let answer = if let Some(answer) = self.answered.take() {
            answer
        } else {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    // The call ends and leaves its record; nobody reads what it came to.
                    let _ = (&mut self.answer).await;
                    return Step::Cancelled;
                }
                // First, for it holds the call's deadline as well.
                answer = &mut self.answer => answer,
                Some(step) = self.said.next() => return step,
            }
        };
        // What came in one piece with the answer was said before it.
        if let Some(text) = self.said.at_hand() {
            self.answered = Some(answer);
            return Step::Said(text);
        }
        Step::Answered(answer)
    }

    /// The answer alone, for a client that can be told nothing before it.
    pub(super) async fn answered(mut self) -> Option<Result<String, RpcError>> {
        loop {
            match self.next().await {
                Step::Answered(answer) => return Some(answer),
                Step::Cancelled => return None,
                Step::Said(_) | Step::Pause(_) => {}
            }
        }
    }
}

/// What is said while a request is worked on.
struct Said {
    events: mpsc::Receiver<Event>,
    texts: mpsc::Receiver<String>,
    progress_token: Option<Box<RawValue>>,
    log_level: Option<LogLevel>,
}

impl Said {
    /// The next message for the client; nothing when nobody can say anything any more.
    async fn next(&mut self) -> Option<Step> {
        loop {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => {
                    if let Some(step) = self.step(event) {
                        return Some(step);
                    }
                }
                Some(text) = self.texts.recv() => return Some(Step::Said(text)),
                else => return None,
            }
        }
    }

    /// The next message that is there already. There is no use any more in a pause.
    fn at_hand(&mut self) -> Option<String> {
        while let Ok(event) = self.events.try_recv() {
            if let Some(Step::Said(text)) = self.step(event) {
                return Some(text);
            }
        }
        self.texts.try_recv().ok()
    }

    fn step(&self, event: Event) -> Option<Step> {
        let text = match event {
            Event::Pause { retry } => return Some(Step::Pause(retry)),
            Event::Progress(params) => progress(self.progress_token.as_deref()?, &params),
            Event::Log(params) => {
                let is_wanted = self.log_level.is_some_and(|level| level.admits(&params));
                is_wanted.then(|| rpc::notice(methods::LOG_MESSAGE, params.get()))
            }
            Event::Notice { method, params } => Some(rpc::notice(&method, params.get())),
        };
        text.map(Step::Said)
    }
}

/// A progress notification as the source worded it, under the client's own token.
fn progress(token: &RawValue, params: &RawValue) -> Option<String> {
    let fields = gatefold_catalog::object_fields(params.get())?;
    let own = fields.iter().filter(|(key, _)| key != "progressToken");
    let own = own.map(|(key, value)| format!(",{}:{value}", rpc::to_text(key)));
    let params = format!(r#"{{"progressToken":{token}{}}}"#, own.collect::<String>());
    Some(rpc::notice(methods::PROGRESS, &params))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Held for () {
        fn cancel(&self) -> CancellationToken {
            CancellationToken::new()
        }
    }

    #[tokio::test]
    async fn what_comes_in_one_piece_with_the_answer_is_said_before_it() {
        let (sender, events) = mpsc::channel(QUEUE);
        let answer = async move {
            for method in ["first", "second"] {
                let params = RawValue::from_string("{}".to_owned()).unwrap();
                sender.try_send(Event::Notice { method: method.to_owned(), params }).unwrap();
            }
            Ok("answer".to_owned())
        };
        let texts = mpsc::channel(QUEUE).1;
        let said = Said { events, texts, progress_token: None, log_level: None };
        let answer = answer.boxed();
        let cancel = CancellationToken::new();
        let mut working = Working { answer, answered: None, said, cancel, _held: Box::new(()) };
        for method in ["first", "second"] {
            let Step::Said(text) = working.next().await else { panic!("{method} was not said") };
            assert!(text.contains(method), "{text}");
        }
        let Step::Answered(Ok(answer)) = working.next().await else { panic!("no answer") };
        assert_eq!(answer, "answer");
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
