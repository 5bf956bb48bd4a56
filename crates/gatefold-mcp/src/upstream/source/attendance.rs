//! What happens in an open session independently of calls: its lists, its end, and stopping when it
//! is idle.

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::OptionFuture;
use gatefold_core::UpstreamIdentity;
use gatefold_dispatch::SourceState;
use tokio::time::{Instant, sleep_until};

use super::super::request::WireError;
use super::super::session::UpstreamSession;
use super::McpSource;
use super::lists::ListPace;
use super::pool::{SessionKey, SessionPurpose};

/// Why a hanging process is replaced.
const WEDGED: &str =
    "the server hung: calls ended at their deadlines, and it did not answer a ping";

impl McpSource {
    /// Looks after an open session until it ends or has been idle for long enough.
    pub(super) async fn attend(self: Arc<Self>, key: SessionKey, session: Arc<UpstreamSession>) {
        let identity = key.identity;
        if key.purpose == SessionPurpose::Main {
            let (listed, ()) = tokio::join!(
                self.list_once(&identity, &session),
                self.resubscribe(&identity, &session)
            );
            if let Err(error) = listed {
                self.listing_failed(&session, &error);
            }
        }
        let mut pace = ListPace::default();
        let mut list_at = None;
        let (mut uses, mut idle_at) = (session.uses(), Instant::now() + self.settings.idle_stop);
        loop {
            let list_is_due: OptionFuture<_> = list_at.map(sleep_until).into();
            tokio::select! {
                () = session.wire.when_ended() => {
                    self.lost(&identity, &session);
                    return;
                }
                () = session.notices.list_changed.notified(), if list_at.is_none() => {
                    list_at = Some(pace.next(Instant::now()));
                }
                Some(()) = list_is_due => {
                    list_at = None;
                    // The list fetched now covers every change announced so far.
                    let _ = session.notices.list_changed.notified().now_or_never();
                    if let Err(error) = self.list(&identity, &session).await {
                        self.listing_failed(&session, &error);
                    }
                }
                () = session.replaced.cancelled() => {
                    self.closing.run_until_cancelled(session.drained()).await;
                    session.close().await;
                    return;
                }
                () = session.liveness.doubted() => {
                    if !session.shows_life().await {
                        self.forget(&identity, &session, &WireError::Lost(WEDGED.to_owned()));
                        return;
                    }
                }
                () = sleep_until(idle_at) => {
                    if session.uses() == uses && self.retire(&identity, &session) {
                        session.close().await;
                        return;
                    }
                    uses = session.uses();
                    idle_at = Instant::now() + self.settings.idle_stop;
                }
            }
        }
    }

    /// Takes an idle session out of use, unless a call came in at the last moment.
    fn retire(&self, identity: &UpstreamIdentity, session: &Arc<UpstreamSession>) -> bool {
        let mut state = self.lock();
        if session.has_tasks() || !self.subscriptions.of(identity).is_empty() {
            return false;
        }
        if session.is_in_use() || !state.sessions.take_out(session) {
            return !session.is_in_use();
        }
        state.backoffs.succeeded(identity);
        if state.sessions.is_empty() {
            self.set_status(&mut state, SourceState::Idle, None);
        }
        tracing::info!(domain = %self.settings.domain, "stopped for want of use");
        true
    }

    /// Notes that a session has ended by itself.
    fn lost(self: &Arc<Self>, identity: &UpstreamIdentity, session: &Arc<UpstreamSession>) {
        let reason = session.wire.ended().unwrap_or_default();
        self.note_end(&mut self.lock(), identity, session, reason);
    }
}
