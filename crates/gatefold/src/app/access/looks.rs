//! When to look whether tokens have changed: now and then, and when somebody presents a new one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

/// How often to look at least. Revoking a token has to hold within 2 s.
const INTERVAL: Duration = Duration::from_millis(500);
/// How long to wait between two looks at least, however many unknown tokens come.
const PAUSE: Duration = Duration::from_millis(20);
/// How long somebody with an unknown token waits for a look.
const WAIT: Duration = Duration::from_secs(2);

/// Looks, numbered from 1.
pub(super) struct Looks {
    begun: AtomicU64,
    ended: watch::Sender<u64>,
    wanted: Notify,
}

impl Looks {
    pub(super) fn new() -> Self {
        Self { begun: AtomicU64::new(0), ended: watch::Sender::new(0), wanted: Notify::new() }
    }

    pub(super) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(super) fn end(&self, look: u64) {
        self.ended.send_replace(look);
    }

    /// Waits until it is time for the next look.
    pub(super) async fn wait(&self) {
        sleep(PAUSE).await;
        let _ = timeout(INTERVAL.saturating_sub(PAUSE), self.wanted.notified()).await;
    }

    /// Waits for a look that begins after this. One that is under way may have missed what is new.
    pub(super) async fn another(&self) {
        let (begun, mut ended) = (self.begun.load(Ordering::SeqCst), self.ended.subscribe());
        self.wanted.notify_one();
        let _ = timeout(WAIT, ended.wait_for(|look| *look > begun)).await;
    }
}
