//! The sender of a request, and how work on a request begins.

use std::sync::Arc;

use axum::body::Bytes;
use futures::FutureExt as _;
use gatefold_core::{ClientName, Principal};
use gatefold_dispatch::{
    Caller, ClientCapabilities, EventSink, NoPeer, Peer, RequestMeta, ResultPlace, SharedLabel,
};
use gatefold_exchange::Audience;
use tokio::sync::mpsc;

use super::message::{ClientRequest, MetaMembers};
use super::message_memory::CallMemory;
use super::peers::{QuestionStream, SessionPeer, StatelessPeer};
use super::request::{EventQueue, Outbox, QUEUE, RequestGuard, RequestInProgress};
use super::server::Server;
use super::sessions::ClientSession;
use crate::protocol::{Era, LogLevel};

/// The sender of a request.
#[derive(Clone)]
pub(super) struct Client {
    pub(super) principal: Arc<Principal>,
    /// The name it gives itself. It is only a claim.
    pub(super) name: Option<ClientName>,
    pub(super) standing: ClientState,
    /// Tells clients without a session apart: by the connection if it belongs to one client,
    /// otherwise by principal and claimed name.
    pub(super) connection: Option<u64>,
}

/// What is known of a client beyond the request.
#[derive(Clone)]
pub(super) enum ClientState {
    /// It began with `initialize`.
    Session(Arc<ClientSession>),
    /// It declares its capabilities with every request.
    Stateless(Arc<ClientCapabilities>),
}

impl Client {
    pub(super) fn era(&self) -> Era {
        match self.standing {
            ClientState::Session(_) => Era::Handshake,
            ClientState::Stateless(_) => Era::Stateless,
        }
    }

    pub(super) fn session(&self) -> Option<&Arc<ClientSession>> {
        match &self.standing {
            ClientState::Session(session) => Some(session),
            ClientState::Stateless(_) => None,
        }
    }

    /// The audience of its requests and notices, for which the one of its address is.
    pub(super) fn audience_of(&self, audience: Audience) -> Audience {
        match &self.standing {
            ClientState::Session(session) => session.audience_of(audience),
            ClientState::Stateless(capabilities) => audience.of_client(capabilities.abilities()),
        }
    }

    /// The audience for what the model is asked to do, if the client says it. A session goes on with
    /// it.
    fn asks(&self, audience: Audience, asked: Option<&str>) -> Audience {
        match (&self.standing, asked) {
            (ClientState::Session(session), Some(asked)) => {
                session.set_request(asked);
                audience
            }
            (ClientState::Stateless(_), Some(asked)) => audience.for_request(asked),
            (_, None) => audience,
        }
    }

    fn peer(&self, stream: mpsc::Sender<Bytes>, memory: &Arc<CallMemory>) -> Arc<dyn Peer> {
        match &self.standing {
            ClientState::Session(session) => Arc::new(SessionPeer {
                capabilities: session.capabilities.clone(),
                questions: session.questions.clone(),
                stream: QuestionStream::Request(stream, memory.clone()),
            }),
            ClientState::Stateless(capabilities) => Arc::new(StatelessPeer {
                capabilities: capabilities.clone(),
                client: self.connection,
            }),
        }
    }

    /// The label of everything its session has read so far. Stateless requests have no session to
    /// carry one.
    pub(super) fn label(&self) -> SharedLabel {
        self.session().map_or_else(SharedLabel::default, |session| session.label.clone())
    }

    /// The least severe log messages it wants. A session that never set a level gets all of them, a
    /// stateless request without a level none.
    fn log_level(&self, meta: &MetaMembers) -> Option<LogLevel> {
        match &self.standing {
            ClientState::Session(session) => Some(session.log_level().unwrap_or(LogLevel::Debug)),
            ClientState::Stateless(_) => meta.log_level.as_deref().and_then(LogLevel::parse),
        }
    }
}

/// Begins to work on a request.
pub(super) fn begin(
    server: Arc<Server>,
    audience: Audience,
    client: Client,
    request: ClientRequest,
    meta: MetaMembers,
    held: impl RequestGuard,
) -> RequestInProgress {
    let (stream, texts) = mpsc::channel(QUEUE);
    let memory = server.messages.of_call();
    let peer = client.peer(stream, &memory);
    begin_with(server, audience, client, (request, meta), (peer, texts, memory), held)
}

/// Begins a request during which its client cannot be asked anything.
pub(super) fn begin_unasked(
    server: Arc<Server>,
    audience: Audience,
    client: Client,
    request: ClientRequest,
    meta: MetaMembers,
    held: impl RequestGuard,
) -> RequestInProgress {
    let (_, texts) = mpsc::channel(1);
    let (peer, memory) = (Arc::new(NoPeer), server.messages.of_call());
    begin_with(server, audience, client, (request, meta), (peer, texts, memory), held)
}

fn begin_with(
    server: Arc<Server>,
    audience: Audience,
    client: Client,
    (request, meta): (ClientRequest, MetaMembers),
    (peer, texts, messages): (Arc<dyn Peer>, mpsc::Receiver<Bytes>, Arc<CallMemory>),
    held: impl RequestGuard,
) -> RequestInProgress {
    let (cancel, memory) = (held.cancel(), held.memory());
    let (sender, events) = mpsc::channel(QUEUE);
    let queue = EventQueue { events: sender, memory: messages };
    let log_level = client.log_level(&meta);
    let progress_token = meta.progress_token;
    let events_wanted = match (&progress_token, log_level) {
        (Some(_), _) => EventSink::new(queue),
        (None, Some(_)) => EventSink::without_progress(queue),
        (None, None) => EventSink::none(),
    };
    let audience = client.asks(audience, meta.asked.as_deref());
    let said_level = match &client.standing {
        ClientState::Session(session) => session.log_level(),
        ClientState::Stateless(_) => log_level,
    };
    let place = ResultPlace::default();
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
        label: client.label(),
        memory,
        result_place: place.clone(),
        ..Caller::silent()
    };
    let answer = server.answer(audience, client, request.method, request.params, caller).boxed();
    let said = Outbox { events, texts, progress_token, log_level };
    RequestInProgress::new(answer, said, place, held)
}
