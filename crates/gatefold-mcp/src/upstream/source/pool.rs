//! The sessions of one source: a limited number, one or two for each identity.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, Shared};
use gatefold_core::UpstreamIdentity;

use super::super::ladder::ConnectError;
use super::super::session::UpstreamSession;
use super::super::session_places::{SESSIONS_OF_USERS, SessionPlace};
use super::super::settings::Transport;
use super::super::starts::StartTicket;

/// The most sessions of one local source at once. Each is a process.
const LOCAL_SESSIONS: usize = 64;

/// The most sessions of one remote source at once: those of all users, and those that are shared.
pub(super) const REMOTE_SESSIONS: usize = SESSIONS_OF_USERS + SHARED_SESSIONS;

/// The sessions of a source that everybody shares: one for each [`SessionPurpose`].
const SHARED_SESSIONS: usize = 2;

/// A session that is being opened. Everybody waiting for it gets the same one.
pub(super) type PendingSession =
    Shared<BoxFuture<'static, Result<Arc<UpstreamSession>, Arc<ConnectError>>>>;

/// What a session is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SessionKey {
    pub(super) identity: UpstreamIdentity,
    pub(super) purpose: SessionPurpose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SessionPurpose {
    /// Lists, subscriptions, and the calls of everybody who needs no separate session.
    Main,
    /// The calls of clients of the handshake era, at a remote server that speaks both eras. At a local
    /// one it becomes the main session as soon as it is open.
    HandshakeCalls,
}

impl SessionKey {
    pub(super) fn main(identity: &UpstreamIdentity) -> Self {
        Self { identity: identity.clone(), purpose: SessionPurpose::Main }
    }

    pub(super) fn handshake_calls(identity: &UpstreamIdentity) -> Self {
        Self { identity: identity.clone(), purpose: SessionPurpose::HandshakeCalls }
    }
}

#[derive(Clone)]
pub(super) enum SessionSlot {
    Connecting { session: PendingSession, ticket: Arc<StartTicket> },
    Open(Arc<UpstreamSession>),
}

impl SessionSlot {
    pub(super) async fn close(self) {
        match self {
            Self::Open(session) => session.close().await,
            Self::Connecting { session, .. } => {
                if let Ok(session) = session.await {
                    session.close().await;
                }
            }
        }
    }
}

/// All sessions are in use, so there is no place for another identity.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PoolFull;

/// The sessions of a source. When there are too many, the one idle longest goes first.
pub(super) struct SessionPool {
    limit: usize,
    /// At most [`REMOTE_SESSIONS`], or [`LOCAL_SESSIONS`].
    slots: HashMap<SessionKey, UsedSlot>,
    /// Counts uses, to tell which slot was used earlier.
    clock: u64,
}

struct UsedSlot {
    slot: SessionSlot,
    last_used: u64,
    /// Its place among the sessions of users, if it is one of them.
    place: Option<SessionPlace>,
}

impl SessionPool {
    pub(super) fn of(transport: &Transport) -> Self {
        let limit = match transport {
            Transport::Http(_) => REMOTE_SESSIONS,
            _ => LOCAL_SESSIONS,
        };
        Self { limit, slots: HashMap::new(), clock: 0 }
    }

    /// The slot of this key, now counted as used.
    pub(super) fn used(&mut self, key: &SessionKey) -> Option<SessionSlot> {
        self.clock += 1;
        let used = self.slots.get_mut(key)?;
        used.last_used = self.clock;
        if let Some(place) = &used.place {
            place.touch();
        }
        Some(used.slot.clone())
    }

    pub(super) fn get(&self, key: &SessionKey) -> Option<&SessionSlot> {
        self.slots.get(key).map(|own| &own.slot)
    }

    /// Makes room for another identity if there is none, by taking out the session that has been
    /// idle longest. The caller closes it.
    pub(super) fn make_room(
        &mut self,
        key: &SessionKey,
        is_idle: impl Fn(&UpstreamIdentity, &UpstreamSession) -> bool,
    ) -> Result<Option<Arc<UpstreamSession>>, PoolFull> {
        if self.slots.len() < self.limit || self.slots.contains_key(key) {
            return Ok(None);
        }
        let idle = self.slots.iter().filter_map(|(key, own)| match &own.slot {
            SessionSlot::Open(session) if is_idle(&key.identity, session) => {
                Some((own.last_used, key, session))
            }
            _ => None,
        });
        let (_, key, session) = idle.min_by_key(|(used, ..)| *used).ok_or(PoolFull)?;
        let (key, session) = (key.clone(), session.clone());
        self.slots.remove(&key);
        Ok(Some(session))
    }

    pub(super) fn begin(
        &mut self,
        key: SessionKey,
        slot: SessionSlot,
        place: Option<SessionPlace>,
    ) {
        self.clock += 1;
        self.slots.insert(key, UsedSlot { slot, last_used: self.clock, place });
    }

    /// Puts a session in the slot in which it was being opened.
    pub(super) fn opened(&mut self, key: SessionKey, session: Arc<UpstreamSession>) {
        let place = self.slots.remove(&key).and_then(|own| own.place);
        self.begin(key, SessionSlot::Open(session), place);
    }

    /// Puts the session that is being opened in the place of the main one, which is returned.
    pub(super) fn take_over(&mut self, key: &SessionKey) -> Option<SessionSlot> {
        let own = self.slots.remove(key)?;
        self.slots.insert(SessionKey::main(&key.identity), own).map(|former| former.slot)
    }

    /// The open session that has a place among those of users, and whose it is.
    pub(super) fn at_place(&self, number: u64) -> Option<(&SessionKey, &Arc<UpstreamSession>)> {
        let has = |own: &UsedSlot| own.place.as_ref().is_some_and(|own| own.number() == number);
        self.slots.iter().find_map(|(key, own)| match &own.slot {
            SessionSlot::Open(session) if has(own) => Some((key, session)),
            _ => None,
        })
    }

    pub(super) fn remove(&mut self, key: &SessionKey) {
        self.slots.remove(key);
    }

    /// Takes a session out of use. False if it was already out of use.
    pub(super) fn take_out(&mut self, session: &Arc<UpstreamSession>) -> bool {
        let before = self.slots.len();
        self.slots.retain(|_, own| !is(&own.slot, session));
        self.slots.len() < before
    }

    /// Whether a session is in use.
    pub(super) fn holds(&self, session: &Arc<UpstreamSession>) -> bool {
        self.all().any(|slot| is(slot, session))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn open(&self) -> usize {
        self.all().filter(|slot| matches!(slot, SessionSlot::Open(_))).count()
    }

    /// How long a session that is being opened has been downloading.
    pub(super) fn downloading(&self) -> Option<Duration> {
        let tickets = self.all().filter_map(|slot| match slot {
            SessionSlot::Connecting { ticket, .. } => Some(ticket),
            SessionSlot::Open(_) => None,
        });
        tickets.filter_map(|ticket| ticket.downloading()).max()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &SessionSlot> {
        self.slots.values().map(|own| &own.slot)
    }
}

fn is(slot: &SessionSlot, session: &Arc<UpstreamSession>) -> bool {
    matches!(slot, SessionSlot::Open(own) if Arc::ptr_eq(own, session))
}
