use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_dispatch::Question;
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use super::{BackChannel, SharedQuestion, too_many, unsupported};
use crate::protocol::codes::INTERNAL_ERROR;
use crate::upstream::message::{ServerMessage, refused};

/// Finds the request that a question belongs to when the connection does not say.
///
/// With one request under way there is no doubt. Nor is there with many, if only one client behind
/// them can answer. With several such clients nobody is asked: an answer from the wrong person
/// would be worse than none.
pub(crate) struct QuestionRouter {
    /// Whether a question was refused because several clients might have been meant.
    pub(super) is_needed: AtomicBool,
    turns: ClientTurns,
    abandoned: Mutex<AbandonedRequests>,
}

/// Requests that were given up recently and are still unanswered.
#[derive(Default)]
pub(super) struct AbandonedRequests {
    /// At most [`ABANDONED_REQUESTS`].
    pub(super) by_id: HashMap<u64, AbandonedRequest>,
    /// When a request was given up that there was no room to remember. Until that expires,
    /// everything is in doubt.
    overflowed: Option<Instant>,
}

/// The most abandoned requests to remember.
pub(super) const ABANDONED_REQUESTS: usize = 256;

/// How long a server may go on working on an abandoned request: what it says in that time may be
/// about that one.
pub(super) const DOUBT: Duration = Duration::from_secs(2);

pub(super) struct AbandonedRequest {
    since: Instant,
    client: Option<u64>,
}

impl QuestionRouter {
    pub(crate) fn new() -> Self {
        let is_needed = AtomicBool::new(false);
        Self { is_needed, turns: ClientTurns::new(), abandoned: Mutex::default() }
    }

    /// Notes that nobody waits for the answer to a request any more.
    pub(crate) fn abandon(&self, id: u64, back_channel: &BackChannel) {
        let mut abandoned = self.abandoned();
        abandoned.forget_old();
        let since = Instant::now();
        if abandoned.by_id.len() < ABANDONED_REQUESTS {
            abandoned.by_id.insert(id, AbandonedRequest { since, client: back_channel.client() });
        } else {
            abandoned.overflowed = Some(since);
        }
    }

    /// Notes an answer, however late.
    pub(crate) fn answered(&self, id: u64) {
        self.abandoned().by_id.remove(&id);
    }

    /// Whether a message that names no request may be about one that another client gave up.
    pub(super) fn is_doubtful(&self, back_channel: &BackChannel) -> bool {
        let client = back_channel.client();
        let mut abandoned = self.abandoned();
        abandoned.forget_old();
        let is_other = |one: &AbandonedRequest| one.client.is_none() || one.client != client;
        abandoned.overflowed.is_some() || abandoned.by_id.values().any(is_other)
    }

    pub(super) fn abandoned(&self) -> MutexGuard<'_, AbandonedRequests> {
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no request of another client is under way that could be asked something, on a
    /// connection that has shown that it does not tell questions apart. The call's own deadline
    /// bounds the wait.
    pub(crate) async fn wait(&self, back_channel: &BackChannel) -> Option<TurnGuard<'_>> {
        if !self.is_needed.load(Ordering::Acquire) || !back_channel.answers_anything() {
            return None;
        }
        Some(self.turns.enter(back_channel.client()).await)
    }

    /// Hands a question to the request it must belong to. The error is the answer to send at once.
    pub(crate) fn put<'a>(
        &self,
        under_way: impl Iterator<Item = &'a Arc<BackChannel>>,
        id: &RawValue,
        question: Question,
    ) -> Result<(), String> {
        let askable: Vec<_> =
            under_way.filter(|back_channel| back_channel.peer.is_some()).collect();
        let offering: Vec<_> =
            askable.iter().copied().filter(|channel| channel.offers(&question)).collect();
        let meant = match (&askable[..], &offering[..]) {
            // Its client may not support this question: the call then learns why it fails.
            ([only], _) | (_, [only]) => *only,
            (_, []) => return Err(unsupported(id, &question.method)),
            (_, [one, ..]) if are_of_one_client(&offering) => *one,
            _ => {
                self.is_needed.store(true, Ordering::Release);
                let message = "several requests are under way, and nothing says which of them \
                               this question belongs to; make the call again";
                return Err(refused(id, INTERNAL_ERROR, message));
            }
        };
        if self.is_doubtful(meant) {
            let message = "a request was given up lately, and nothing says that this question \
                           does not belong to it; make the call again";
            return Err(refused(id, INTERNAL_ERROR, message));
        }
        if offering.len() > 1 {
            return put_to_all(&offering, id, question);
        }
        meant.put(id, question)
    }

    /// Passes on a message that names no request, if only one client has requests under way. Our
    /// own requests, such as those for lists, do not count.
    pub(crate) fn tell_only<'a>(
        &self,
        under_way: impl Iterator<Item = &'a Arc<BackChannel>>,
        message: &ServerMessage<'_>,
    ) {
        let callers: Vec<_> = under_way.filter(|channel| channel.has_caller).collect();
        if let Some(one) = callers.first()
            && (callers.len() == 1 || are_of_one_client(&callers))
            && !self.is_doubtful(one)
        {
            one.tell(message);
        } else {
            tracing::debug!(method = message.method.as_deref(), "dropped what may be any call's");
        }
    }
}

/// Whether the same client made all of these requests. False for a client that cannot be told from
/// others.
fn are_of_one_client(requests: &[&Arc<BackChannel>]) -> bool {
    let client = requests.first().and_then(|first| first.client());
    client.is_some() && requests.iter().all(|request| request.client() == client)
}

/// Hands a question to several requests of one client, which is asked only once.
fn put_to_all(
    requests: &[&Arc<BackChannel>],
    id: &RawValue,
    question: Question,
) -> Result<(), String> {
    let peers = requests.iter().filter_map(|request| request.peer.clone()).collect();
    let shared = SharedQuestion::new(id, question, peers);
    let taken = requests.iter().filter(|request| request.share(&shared)).count();
    if taken == 0 { Err(too_many(id)) } else { Ok(()) }
}

/// Lets clients take turns. The one whose turn it is may have any number of requests.
struct ClientTurns {
    /// Held while waiting for another client's requests to end. Later requests queue up behind it,
    /// so that nobody starves.
    gate: Semaphore,
    current: Mutex<CurrentTurn>,
    freed: Notify,
}

#[derive(Default)]
struct CurrentTurn {
    client: Option<u64>,
    requests: usize,
}

impl ClientTurns {
    fn new() -> Self {
        Self { gate: Semaphore::new(1), current: Mutex::default(), freed: Notify::new() }
    }

    async fn enter(&self, client: Option<u64>) -> TurnGuard<'_> {
        let _gate = self.gate.acquire().await;
        while !self.lock().admits(client) {
            self.freed.notified().await;
        }
        TurnGuard(self)
    }

    fn lock(&self) -> MutexGuard<'_, CurrentTurn> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CurrentTurn {
    fn admits(&mut self, client: Option<u64>) -> bool {
        let is_its_own = client.is_some() && self.client == client;
        if self.requests > 0 && !is_its_own {
            return false;
        }
        self.client = client;
        self.requests += 1;
        true
    }
}

/// One request of the client whose turn it is.
pub(crate) struct TurnGuard<'a>(&'a ClientTurns);

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().requests -= 1;
        self.0.freed.notify_one();
    }
}

impl AbandonedRequests {
    fn forget_old(&mut self) {
        self.by_id.retain(|_, one| one.since.elapsed() < DOUBT);
        self.overflowed = self.overflowed.filter(|since| since.elapsed() < DOUBT);
    }
}
