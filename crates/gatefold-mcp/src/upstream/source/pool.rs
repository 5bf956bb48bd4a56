//! The sessions of one source: at most so many, each under an identity of its own.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use gatefold_core::UpstreamIdentity;

use super::super::ladder::ConnectError;
use super::super::session::UpstreamSession;

/// Sessions of one source at once. A local one is a process, so this is also how many processes one
/// source may come to.
pub(super) const SESSION_LIMIT: usize = 64;

/// A session that is being opened. Everybody who waits for it gets the same one.
pub(super) type Connecting =
    Shared<BoxFuture<'static, Result<Arc<UpstreamSession>, Arc<ConnectError>>>>;

#[derive(Clone)]
pub(super) enum SessionSlot {
    Connecting(Connecting),
    Open(Arc<UpstreamSession>),
}

impl SessionSlot {
    pub(super) async fn close(self) {
        match self {
            Self::Open(session) => session.close().await,
            Self::Connecting(connecting) => {
                if let Ok(session) = connecting.await {
                    session.close().await;
                }
            }
        }
    }
}

/// All sessions are in use, so that there is no place for one more identity.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PoolFull;

/// The sessions of a source, the longest unused first to go.
#[derive(Default)]
pub(super) struct SessionPool {
    /// At most [`SESSION_LIMIT`].
    slots: HashMap<UpstreamIdentity, UsedSlot>,
    /// Counts uses, to tell which slot was used before which.
    clock: u64,
}

struct UsedSlot {
    slot: SessionSlot,
    last_used: u64,
}

impl SessionPool {
    /// The slot of an identity that is about to be used.
    pub(super) fn used(&mut self, identity: &UpstreamIdentity) -> Option<SessionSlot> {
        self.clock += 1;
        let own = self.slots.get_mut(identity)?;
        own.last_used = self.clock;
        Some(own.slot.clone())
    }

    pub(super) fn get(&self, identity: &UpstreamIdentity) -> Option<&SessionSlot> {
        self.slots.get(identity).map(|own| &own.slot)
    }

    /// Makes room for one more identity where there is none: takes out the session that was unused
    /// the longest among those that are idle. The caller closes it.
    pub(super) fn make_room(
        &mut self,
        identity: &UpstreamIdentity,
        is_idle: impl Fn(&UpstreamIdentity, &UpstreamSession) -> bool,
    ) -> Result<Option<Arc<UpstreamSession>>, PoolFull> {
        if self.slots.len() < SESSION_LIMIT || self.slots.contains_key(identity) {
            return Ok(None);
        }
        let idle = self.slots.iter().filter_map(|(identity, own)| match &own.slot {
            SessionSlot::Open(session) if is_idle(identity, session) => {
                Some((own.last_used, identity, session))
            }
            _ => None,
        });
        let (_, identity, session) = idle.min_by_key(|(used, ..)| *used).ok_or(PoolFull)?;
        let (identity, session) = (identity.clone(), session.clone());
        self.slots.remove(&identity);
        Ok(Some(session))
    }

    pub(super) fn insert(&mut self, identity: UpstreamIdentity, slot: SessionSlot) {
        self.clock += 1;
        self.slots.insert(identity, UsedSlot { slot, last_used: self.clock });
    }

    pub(super) fn remove(&mut self, identity: &UpstreamIdentity) {
        self.slots.remove(identity);
    }

    /// Whether this very session is the one in use for the identity.
    pub(super) fn holds(
        &self,
        identity: &UpstreamIdentity,
        session: &Arc<UpstreamSession>,
    ) -> bool {
        matches!(self.get(identity), Some(SessionSlot::Open(own)) if Arc::ptr_eq(own, session))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub(super) fn open(&self) -> usize {
        self.all().filter(|slot| matches!(slot, SessionSlot::Open(_))).count()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &SessionSlot> {
        self.slots.values().map(|own| &own.slot)
    }
}
