//! Which session serves a call.
//!
//! One session for each identity serves everybody who can share it. Clients cannot share one in two
//! cases. A server that was given one client's roots must not use them for another: its session is
//! replaced. And a server of both eras may ask questions that only the handshake era allows, so
//! clients of that era get a session in it, if the server takes their handshake (`handshakes.rs`). At a
//! remote server this is a second session. A local server's session is replaced once the new one is
//! open, because two would be two processes, each with a state of its own. If there is only one client,
//! everything is asked in its era, the lists included, as it would ask the server itself.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use gatefold_core::{BusyResource, CallError, UpstreamIdentity};
use gatefold_dispatch::{Peer, SourceState};
use tokio::time::{Instant, sleep};

use super::super::ladder::{ConnectError, ConnectLack};
use super::super::roots::has_session;
use super::super::session::UpstreamSession;
use super::super::session_places::{PlacesTaken, SessionHolder, SessionPlace};
use super::super::settings::EraChoice;
use super::super::starts::StartTicket;
use super::pool::{SessionKey, SessionSlot};
use super::{McpSource, SourceInner, StartReason};
use crate::protocol::Era;

/// How long a call waits for a place among the sessions of users, and how often it looks.
const PLACE_WAIT: Duration = Duration::from_secs(1);
const PLACE_LOOK: Duration = Duration::from_millis(20);

/// Why a session cannot serve a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Misfit {
    /// Its server has another client's roots.
    Roots,
    /// It speaks the stateless era, and its server may speak the client's as well.
    Era,
}

impl SessionHolder for McpSource {
    fn give_up(self: Arc<Self>, place: u64) -> bool {
        let mut state = self.lock();
        let Some((key, session)) = state.sessions.at_place(place) else { return false };
        if !self.is_idle(&key.identity, session) {
            return false;
        }
        let session = session.clone();
        state.sessions.take_out(&session);
        if state.sessions.is_empty() {
            self.set_status(&mut state, SourceState::Idle, None);
        } else {
            state.status.sessions = state.sessions.open();
        }
        drop(state);
        tracing::info!(domain = %self.settings.domain, "stopped a session in favour of another");
        tokio::spawn(async move { session.close().await });
        true
    }
}

impl McpSource {
    /// The open session for a client's calls, or for our own requests if there is no client. Opens
    /// one if there is none. Callers that ask while it is being opened share it.
    pub(super) async fn session(
        self: &Arc<Self>,
        identity: &UpstreamIdentity,
        reason: StartReason,
        client: Option<&dyn Peer>,
    ) -> Result<Arc<UpstreamSession>, CallError> {
        let mut place = None;
        loop {
            let (session, ticket) = match self.lookup(identity, client, &mut place)? {
                Some(SessionSlot::Open(session)) => return Ok(session),
                Some(SessionSlot::Connecting { session, ticket }) => (session, ticket),
                None => {
                    place = self.place_for(identity).await?;
                    continue;
                }
            };
            if reason == StartReason::Call {
                ticket.want();
            }
            let session = match session.await {
                Ok(session) => session,
                // That is known now, so the session that is open will do.
                Err(error) if error.lack == ConnectLack::Handshake => continue,
                Err(error) => return Err(self.unopened(error, reason)),
            };
            if self.misfit(&self.lock(), &session, client).is_none() {
                return Ok(session);
            }
        }
    }

    /// The session that fits, or a new one in `place`. `None` if it needs a place and has none.
    fn lookup(
        self: &Arc<Self>,
        identity: &UpstreamIdentity,
        client: Option<&dyn Peer>,
        place: &mut Option<SessionPlace>,
    ) -> Result<Option<SessionSlot>, CallError> {
        let mut state = self.lock();
        let mut key = SessionKey::main(identity);
        let mut slot = self.live_slot(&mut state, &key);
        if slot.is_none() && client.is_some_and(has_session) {
            // A user has few places for sessions, so the main one is not opened again for this.
            let calls = SessionKey::handshake_calls(identity);
            slot = self.live_slot(&mut state, &calls);
            if slot.is_some() {
                key = calls;
            }
        }
        if let Some(SessionSlot::Open(session)) = &slot
            && self.misfit(&state, session, client) == Some(Misfit::Era)
        {
            // The session stays in use until there is another: the server may refuse the handshake.
            key = SessionKey::handshake_calls(identity);
            slot = self.live_slot(&mut state, &key);
        }
        if let Some(SessionSlot::Open(session)) = &slot
            && self.misfit(&state, session, client) == Some(Misfit::Roots)
        {
            let client = client.and_then(Peer::client);
            state.roots_offer.taken_over(&session.notices.roots, client);
            replace(&mut state, session);
            slot = None;
        }
        if slot.is_none() && (place.is_some() || identity.user().is_none()) {
            return self.open(&mut state, key, place.take()).map(Some);
        }
        Ok(slot)
    }

    fn misfit(
        &self,
        state: &SourceInner,
        session: &UpstreamSession,
        client: Option<&dyn Peer>,
    ) -> Option<Misfit> {
        let client = client.or(self.sole_client.get())?;
        if !session.notices.roots.serve(client.client()) {
            return Some(Misfit::Roots);
        }
        let is_of_another_era = session.era() == Era::Stateless && has_session(client);
        let is_chosen = self.settings.era != EraChoice::Auto;
        // A session that ends takes its tasks with it.
        let may_change = self.may_have_two(session) || !session.has_tasks();
        (is_of_another_era && !is_chosen && may_change && state.may_try_handshake())
            .then_some(Misfit::Era)
    }

    /// Whether clients of both eras may each have a session of their own.
    pub(super) fn may_have_two(&self, session: &UpstreamSession) -> bool {
        session.wire.has_headers() && self.sole_client.get().is_none()
    }

    /// Whether the only client has just become known, and an open session is not what it needs.
    pub(super) fn has_misfit(&self) -> bool {
        let state = self.lock();
        state.sessions.all().any(|slot| match slot {
            SessionSlot::Open(session) => self.misfit(&state, session, None).is_some(),
            SessionSlot::Connecting { .. } => false,
        })
    }

    /// A slot about to be used, unless its session has ended or was opened under another sign-in,
    /// which may be another account's.
    fn live_slot(
        self: &Arc<Self>,
        state: &mut SourceInner,
        key: &SessionKey,
    ) -> Option<SessionSlot> {
        let slot = state.sessions.used(key)?;
        if let SessionSlot::Open(session) = &slot
            && let Some(reason) = session.wire.ended()
        {
            self.note_end(state, &key.identity, session, reason);
            return None;
        }
        if let SessionSlot::Open(session) = &slot {
            let present = self.credentials.sign_in(&self.settings.domain, &key.identity);
            if present.is_some() && present != session.sign_in {
                replace(state, session);
                return None;
            }
        }
        Some(slot)
    }

    fn open(
        self: &Arc<Self>,
        state: &mut SourceInner,
        key: SessionKey,
        place: Option<SessionPlace>,
    ) -> Result<SessionSlot, CallError> {
        if state.is_closed {
            return Err(self.unavailable("it was removed from the configuration".to_owned()));
        }
        if let Some(wait) = state.backoffs.wait(&key.identity) {
            let error = state.status.error.as_deref().unwrap_or("it ended soon after its start");
            let reason = format!("{error} (tried again in {} s)", wait.as_secs() + 1);
            let domain = self.settings.domain.clone();
            let fault = state.backoffs.fault(&key.identity);
            return Err(CallError::CircuitOpen { domain, reason, retry_after: wait, fault });
        }
        self.make_room(state, &key)?;
        // It is a separate task: one caller may give up waiting, and the others still get the
        // session.
        let ticket = Arc::<StartTicket>::default();
        let task = tokio::spawn(self.clone().connect(key.clone(), ticket.clone()));
        let connecting = async move {
            task.await.unwrap_or_else(|_| Err(Arc::new(ConnectError::new("connecting failed"))))
        };
        let slot = SessionSlot::Connecting { session: connecting.boxed().shared(), ticket };
        state.sessions.begin(key, slot.clone(), place);
        self.set_status(state, SourceState::Starting, None);
        Ok(slot)
    }

    /// A place among the sessions of users, for one that is about to be opened. Where all are in use,
    /// it waits a little: first lists of many sources may be under way.
    async fn place_for(
        self: &Arc<Self>,
        identity: &UpstreamIdentity,
    ) -> Result<Option<SessionPlace>, CallError> {
        let Some(user) = identity.user() else { return Ok(None) };
        let holder: Weak<dyn SessionHolder> = Arc::downgrade(self) as _;
        let give_up = Instant::now() + PLACE_WAIT;
        let taken = loop {
            match self.places.enter(user, &holder) {
                Ok(place) => return Ok(Some(place)),
                Err(taken) if Instant::now() >= give_up => break taken,
                Err(_) => sleep(PLACE_LOOK).await,
            }
        };
        let of = match taken {
            PlacesTaken::ByUser => BusyResource::OwnSessions,
            PlacesTaken::ByAll => BusyResource::Sessions,
        };
        Err(CallError::Busy { domain: self.settings.domain.clone(), of })
    }

    /// Whether a session can be closed without anybody missing it.
    fn is_idle(&self, identity: &UpstreamIdentity, session: &UpstreamSession) -> bool {
        !session.is_in_use() && !session.has_tasks() && self.subscriptions.of(identity).is_empty()
    }

    /// Retires the session that has been idle longest, if there are as many as allowed.
    fn make_room(
        self: &Arc<Self>,
        state: &mut SourceInner,
        key: &SessionKey,
    ) -> Result<(), CallError> {
        let domain = &self.settings.domain;
        let retired = state.sessions.make_room(key, |whose, session| self.is_idle(whose, session));
        let busy = |_| CallError::Busy { domain: domain.clone(), of: BusyResource::Connections };
        let retired = retired.map_err(busy)?;
        if let Some(session) = retired {
            tracing::info!(%domain, "stopped a session in favour of another");
            tokio::spawn(async move { session.close().await });
        }
        Ok(())
    }
}

/// Takes a session out of use in favour of another. The calls under way finish in it.
fn replace(state: &mut SourceInner, session: &Arc<UpstreamSession>) {
    if state.sessions.take_out(session) {
        session.replaced.cancel();
    }
}
