//! Which client's roots a server of the handshake era gets.
//!
//! A server may keep the roots that it was given for as long as its session lives, and many do. So
//! once a server was given one client's roots, its session serves only that client, and is replaced
//! when another client calls. If there is only one client, its roots are the gateway's own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gatefold_dispatch::{AskError, ClientCapabilities, Peer, Question, QuestionMode};
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use super::back_channel::{BackChannel, code_of, question, unsupported};
use super::message::refused;
use crate::protocol::codes::INTERNAL_ERROR;
use crate::protocol::{methods, rpc};

/// How long the only client may take to give its roots. No person is asked.
const ROOTS_DEADLINE: Duration = Duration::from_secs(10);
/// The most requests for the only client's roots that are open at once in a session. Further ones
/// are refused.
const OPEN_ROOTS: usize = 4;
/// How long the first call of a session waits for a server that asks for roots right after the
/// greeting. Without the roots, its first answer could differ.
const FIRST_ROOTS: Duration = Duration::from_millis(100);
/// How many of the clients that lost a session to another client are remembered.
const FORMER_OWNERS: usize = 64;

/// The only client that a gateway has, once it is known.
#[derive(Default)]
pub(crate) struct SoleClient(OnceLock<Arc<dyn Peer>>);

impl SoleClient {
    /// Later clients are ignored.
    pub(crate) fn meet(&self, client: &Arc<dyn Peer>) {
        let _ = self.0.set(client.clone());
    }

    pub(crate) fn get(&self) -> Option<&dyn Peer> {
        self.0.get().map(AsRef::as_ref)
    }

    /// Whether it is known and of the handshake era.
    pub(crate) fn has_session(&self) -> bool {
        self.get().is_some_and(has_session)
    }

    /// Whether it has roots to give. None while the client is not known.
    pub(crate) fn has_roots(&self) -> Option<bool> {
        let question = question(methods::ROOTS_LIST, None);
        self.get().map(|client| client.capabilities().lacks(&question).is_none())
    }

    fn is(&self, client: u64) -> bool {
        self.get().is_some_and(|own| own.client() == Some(client))
    }
}

/// Whether a client is of the handshake era.
pub(crate) fn has_session(client: &dyn Peer) -> bool {
    client.client().is_some() && client.own_question_mode() == QuestionMode::Live
}

/// Whether the next session of a source is offered roots.
#[derive(Default)]
pub(crate) struct RootsOffer {
    /// At most [`FORMER_OWNERS`].
    former_owners: VecDeque<u64>,
    is_withheld: bool,
}

impl RootsOffer {
    /// Notes that a client takes over a session whose server has another client's roots.
    ///
    /// If two clients took turns, every turn would cost a session. So when a client that lost its
    /// session comes back, the next session is not offered roots.
    pub(crate) fn taken_over(&mut self, session: &SessionRoots, client: Option<u64>) {
        self.is_withheld = client.is_some_and(|client| self.former_owners.contains(&client));
        if self.former_owners.len() == FORMER_OWNERS {
            self.former_owners.pop_front();
        }
        self.former_owners.extend(session.owner());
    }

    /// Call it once per session.
    pub(crate) fn for_next(&mut self) -> bool {
        !std::mem::take(&mut self.is_withheld)
    }
}

/// Whose roots the server of one session has, or may get.
pub(crate) struct SessionRoots {
    sole: Arc<SoleClient>,
    is_offered: bool,
    /// The client that the session belongs to, once its server was given that client's roots.
    owner: OnceLock<u64>,
    open: Semaphore,
    /// Notified when a request for roots was answered.
    answered: Notify,
    /// Whether a task is about to tell the server of a change.
    is_telling: AtomicBool,
}

impl SessionRoots {
    pub(crate) fn new(sole: Arc<SoleClient>, is_offered: bool) -> Arc<Self> {
        Arc::new(Self {
            sole,
            is_offered,
            owner: OnceLock::new(),
            open: Semaphore::new(OPEN_ROOTS),
            answered: Notify::new(),
            is_telling: AtomicBool::new(false),
        })
    }

    /// Whether the server is told that it may ask for roots at all.
    pub(crate) fn are_offered(&self) -> bool {
        self.is_offered && self.sole.has_roots().unwrap_or(true)
    }

    /// What the only client declared that it can do, if there is one.
    pub(crate) fn sole_capabilities(&self) -> Option<&ClientCapabilities> {
        self.sole.get().map(Peer::capabilities)
    }

    fn owner(&self) -> Option<u64> {
        self.owner.get().copied()
    }

    /// Whether the session can serve this client.
    pub(crate) fn serve(&self, client: Option<u64>) -> bool {
        let owner = self.owner();
        owner.is_none() || owner == client
    }

    /// Whether a request may be sent in this session: the roots that its server has may affect
    /// every answer. Call it with the requests under way locked.
    pub(crate) fn admits(&self, back_channel: &BackChannel) -> bool {
        !back_channel.has_caller() || self.serve(back_channel.client())
    }

    /// Makes the session belong to its only client, before the server gets that client's roots. The
    /// error is the answer for the server. Call it with the requests under way locked.
    pub(crate) fn claim<'a>(
        &self,
        under_way: impl Iterator<Item = &'a Arc<BackChannel>>,
        id: &RawValue,
    ) -> Result<(), String> {
        if !self.is_offered {
            return Err(unsupported(id, methods::ROOTS_LIST));
        }
        let mut callers = under_way.filter(|back_channel| back_channel.has_caller());
        // With no calls under way, the router refuses it.
        let Some(first) = callers.next() else { return Ok(()) };
        let client = first.client();
        let (Some(client), true) = (client, callers.all(|other| other.client() == client)) else {
            let message = "several clients share this session, and roots are their own; make the \
                           call again";
            return Err(refused(id, INTERNAL_ERROR, message));
        };
        if !first.offers(&question(methods::ROOTS_LIST, None)) {
            return Ok(());
        }
        let owner = self.owner.get_or_init(|| client);
        debug_assert_eq!(*owner, client, "others are not admitted");
        Ok(())
    }

    /// Whether the only client is asked, whatever is under way.
    pub(crate) fn has_sole_client(&self) -> bool {
        self.sole.has_roots().is_some()
    }

    /// Asks the only client for its roots. The text is for the server.
    pub(crate) async fn ask(&self, id: &RawValue, asked: Question) -> String {
        let Some(client) = self.sole.get() else { return unsupported(id, &asked.method) };
        let Ok(_place) = self.open.try_acquire() else {
            let message = format!("{OPEN_ROOTS} requests for roots are open, which is the limit");
            return refused(id, INTERNAL_ERROR, &message);
        };
        let answer = Self::answer(client, asked).await;
        answer.map_or_else(
            |error| refused(id, code_of(&error), &error.to_string()),
            |roots| rpc::answer_with(id, roots.get()),
        )
    }

    async fn answer(client: &dyn Peer, asked: Question) -> Result<Box<RawValue>, AskError> {
        if let Some(needed) = client.capabilities().lacks(&asked) {
            return Err(AskError::Unsupported(needed.to_owned()));
        }
        let answer = timeout(ROOTS_DEADLINE, client.ask(asked)).await;
        answer.unwrap_or(Err(AskError::Deadline)).map(|answer| answer.0)
    }

    /// Notes that an answer is on its way to the server.
    pub(crate) fn note_answered(&self) {
        self.answered.notify_one();
    }

    /// Gives a server that asks right away time to get the roots of the only client.
    pub(crate) async fn await_first(&self) {
        if self.sole.has_roots() == Some(true) {
            // A server that has not asked by then is not waited for.
            let _ = timeout(FIRST_ROOTS, self.answered.notified()).await;
        }
    }

    /// Whether the server must be told that this client's roots have changed.
    pub(crate) fn are_of(&self, client: u64) -> bool {
        self.owner() == Some(client) || self.sole.is(client)
    }

    /// Claims the task of telling the server of a change. False if another task is about to tell
    /// it.
    pub(crate) fn begin_telling(&self) -> bool {
        !self.is_telling.swap(true, Ordering::AcqRel)
    }

    /// Call it right before telling. A later change is told separately.
    pub(crate) fn tell(&self) {
        self.is_telling.store(false, Ordering::Release);
    }
}
