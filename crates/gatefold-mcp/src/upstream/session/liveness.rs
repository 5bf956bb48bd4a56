//! Whether a server whose calls run into their deadlines is still alive.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use super::{SETTING_BYTES, UpstreamSession};
use crate::protocol::{Era, methods};
use crate::upstream::params::OutgoingParams;

/// Calls in a row that end at their deadlines before a server is doubted.
pub const LATE_CALLS: u32 = 2;
/// How long a doubted server may take to answer.
pub const PING_DEADLINE: Duration = Duration::from_secs(5);

/// Counts the calls of a session that ended at their deadlines.
#[derive(Default)]
pub(crate) struct Liveness {
    late: AtomicU32,
    doubt: Notify,
}

impl Liveness {
    /// Waits until the server is doubted.
    pub(crate) async fn doubted(&self) {
        self.doubt.notified().await;
    }

    /// Watches a call until the guard is dropped.
    pub(crate) fn watch(&self, deadline: Instant) -> LivenessWatch<'_> {
        LivenessWatch { liveness: self, deadline, is_answered: false }
    }
}

/// A call that counts as late if it is dropped after its deadline and without an answer.
pub(crate) struct LivenessWatch<'a> {
    liveness: &'a Liveness,
    deadline: Instant,
    is_answered: bool,
}

impl LivenessWatch<'_> {
    pub(crate) fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for LivenessWatch<'_> {
    fn drop(&mut self) {
        let Liveness { late, doubt } = self.liveness;
        if self.is_answered {
            late.store(0, Ordering::Relaxed);
        } else if Instant::now() >= self.deadline
            && late.fetch_add(1, Ordering::Relaxed).saturating_add(1) >= LATE_CALLS
        {
            doubt.notify_one();
        }
    }
}

impl UpstreamSession {
    /// Whether the server answers anything: one that works on long calls does, one that hangs does
    /// not. A remote server has no process that we could replace, so it is never doubted; neither
    /// is one that we do not read.
    pub(crate) async fn shows_life(&self) -> bool {
        if self.wire.has_headers() || self.wire.waits_for_room() {
            return true;
        }
        let method = match self.era() {
            Era::Handshake => methods::PING,
            Era::Stateless => methods::DISCOVER,
        };
        let ping = self.request(method, OutgoingParams::default(), SETTING_BYTES);
        let lives = matches!(timeout(PING_DEADLINE, ping).await, Ok(Ok(_)));
        if lives {
            self.liveness.late.store(0, Ordering::Relaxed);
        }
        lives
    }
}
