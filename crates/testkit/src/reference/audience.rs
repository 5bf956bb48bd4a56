//! Listeners for changes: sessions of the handshake era, subscriptions of the stateless era.

#![expect(deprecated, reason = "logging lives on in both eras")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{LoggingLevel, ResourceUpdatedNotificationParam};
use rmcp::service::SubscriptionSink;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::fixture::lock;

/// How many may listen at once; a new one replaces the oldest.
const LISTENER_LIMIT: usize = 256;

/// How long one listener may delay a notice to the others.
const NOTICE_LIMIT: Duration = Duration::from_secs(2);

/// How long to wait for acknowledged subscriptions to be seated.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct Audience {
    seats: Mutex<SeatTable>,
    /// Acknowledged subscriptions without a seat: the SDK acknowledges first, and the client may
    /// then cause a change before its subscription is seated.
    arriving: watch::Sender<usize>,
}

#[derive(Default)]
struct SeatTable {
    /// At most [`LISTENER_LIMIT`].
    taken: Vec<(u64, Listener)>,
    next: u64,
}

/// How many resources one session may watch.
const WATCHED_LIMIT: usize = 256;

/// What a client of the handshake era set up for its session.
pub(super) struct Session {
    pub(super) level: Mutex<LoggingLevel>,
    /// The addresses of resources, at most [`WATCHED_LIMIT`].
    watched: Mutex<HashSet<String>>,
}

impl Default for Session {
    fn default() -> Self {
        Self { level: Mutex::new(LoggingLevel::Info), watched: Mutex::default() }
    }
}

impl Session {
    pub(super) fn watch(&self, uri: String) -> Result<(), ErrorData> {
        let mut watched = lock(&self.watched);
        if watched.len() >= WATCHED_LIMIT && !watched.contains(&uri) {
            let text = format!("a session may watch {WATCHED_LIMIT} resources");
            return Err(ErrorData::invalid_request(text, None));
        }
        watched.insert(uri);
        Ok(())
    }

    pub(super) fn unwatch(&self, uri: &str) {
        lock(&self.watched).remove(uri);
    }

    fn watches(&self, uri: &str) -> bool {
        lock(&self.watched).contains(uri)
    }
}

#[derive(Clone)]
pub(super) enum Listener {
    Session { peer: Peer<RoleServer>, session: Arc<Session> },
    Subscription(SubscriptionSink),
}

#[derive(Clone, Copy)]
pub(super) enum Change<'a> {
    Tools,
    Prompts,
    Resources,
    Resource(&'a str),
}

/// A listener's place, given up when dropped.
pub(super) struct ListenerGuard {
    number: u64,
    audience: Arc<Audience>,
}

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        let mut seats = self.audience.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.taken.retain(|(number, _)| *number != self.number);
    }
}

impl Audience {
    /// Admits a subscription, for which [`Audience::seat`] will be called.
    pub(super) fn let_in(&self) {
        self.arriving.send_modify(|arriving| *arriving += 1);
    }

    pub(super) fn seat(self: Arc<Self>, listener: Listener) -> ListenerGuard {
        let number = self.add(listener);
        self.arriving.send_modify(|arriving| *arriving = arriving.saturating_sub(1));
        ListenerGuard { number, audience: self }
    }

    pub(super) fn add(&self, listener: Listener) -> u64 {
        let mut seats = lock(&self.seats);
        seats.taken.retain(|(_, listener)| !listener.has_left());
        if seats.taken.len() >= LISTENER_LIMIT {
            seats.taken.remove(0);
        }
        let number = seats.next;
        seats.next += 1;
        seats.taken.push((number, listener));
        number
    }

    /// Notifies each listener that asked for this change, and returns how many did.
    pub(super) async fn tell(&self, change: Change<'_>) -> usize {
        let mut arriving = self.arriving.subscribe();
        if timeout(ARRIVAL_LIMIT, arriving.wait_for(|arriving| *arriving == 0)).await.is_err() {
            // The missing clients left before they were seated.
            self.arriving.send_replace(0);
        }
        let listeners: Vec<Listener> =
            lock(&self.seats).taken.iter().map(|(_, listener)| listener.clone()).collect();
        let mut told = 0;
        for listener in listeners {
            // A listener that has just left, or did not ask for this change, is no failure.
            if timeout(NOTICE_LIMIT, listener.tell(change)).await == Ok(true) {
                told += 1;
            }
        }
        told
    }
}

impl Listener {
    fn has_left(&self) -> bool {
        match self {
            Self::Session { peer, .. } => peer.is_transport_closed(),
            // Its seat is freed when its request ends.
            Self::Subscription(_) => false,
        }
    }

    async fn tell(&self, change: Change<'_>) -> bool {
        match self {
            Self::Session { peer, session } => tell_session(peer, session, change).await,
            Self::Subscription(sink) => match change {
                Change::Tools => sink.notify_tool_list_changed().await.is_ok(),
                Change::Prompts => sink.notify_prompt_list_changed().await.is_ok(),
                Change::Resources => sink.notify_resource_list_changed().await.is_ok(),
                Change::Resource(uri) => sink.notify_resource_updated(uri).await.is_ok(),
            },
        }
    }
}

async fn tell_session(peer: &Peer<RoleServer>, session: &Session, change: Change<'_>) -> bool {
    match change {
        Change::Tools => peer.notify_tool_list_changed().await.is_ok(),
        Change::Prompts => peer.notify_prompt_list_changed().await.is_ok(),
        Change::Resources => peer.notify_resource_list_changed().await.is_ok(),
        Change::Resource(uri) => {
            let update = ResourceUpdatedNotificationParam::new(uri);
            session.watches(uri) && peer.notify_resource_updated(update).await.is_ok()
        }
    }
}
