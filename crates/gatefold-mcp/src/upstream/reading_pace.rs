//! How fast we read what a server says unasked: a local one's standard error, lines that are not the
//! protocol and notices, and what a remote one says on the stream that belongs to no request.
//!
//! Reading a flood as fast as it comes takes a core for each pipe or stream. Past this pace it fills up
//! and the server waits, so the flood costs only the server.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// Bytes a second.
const RATE: u64 = 16 * 1024 * 1024;
/// What a line costs besides its bytes.
const LINE: u64 = 32;
/// What a message costs besides its bytes: it is parsed, searched for secrets and passed on.
const MESSAGE: u64 = 2048;
/// How long reading may go on faster, for servers that write much at their start.
const BURST: Duration = Duration::from_millis(500);
/// The shortest pause. Shorter ones would cost more than they save.
const PAUSE: Duration = Duration::from_millis(10);

/// The pace of streams to one server.
pub(crate) type SharedPace = Arc<Mutex<ReadingPace>>;

/// The pace of one pipe or stream.
pub(crate) struct ReadingPace {
    /// When the lines so far would have been read at the rate.
    due: Instant,
}

impl ReadingPace {
    pub(crate) fn new() -> Self {
        Self { due: Instant::now() }
    }

    /// Waits after a line until the next one may be read.
    pub(crate) async fn after(&mut self, bytes: usize) {
        self.spend((bytes as u64).saturating_add(LINE)).await;
    }

    /// Waits after bytes of a stream that are perhaps no event.
    pub(crate) async fn after_bytes(&mut self, bytes: usize) {
        self.spend(bytes as u64).await;
    }

    /// Waits after a message of so many bytes that were not counted before.
    pub(crate) async fn after_message(&mut self, bytes: usize) {
        self.spend((bytes as u64).saturating_add(MESSAGE)).await;
    }

    async fn spend(&mut self, cost: u64) {
        if let Some(pause) = self.pause(Instant::now(), cost) {
            sleep(pause).await;
        }
    }

    fn pause(&mut self, now: Instant, cost: u64) -> Option<Duration> {
        let cost = cost.saturating_mul(1_000_000_000) / RATE;
        self.due = self.due.max(now) + Duration::from_nanos(cost);
        let ahead = self.due.duration_since(now).checked_sub(BURST)?;
        Some(ahead + PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long lines of so many bytes take to read.
    fn takes(lines: usize, bytes: usize) -> Duration {
        let start = Instant::now();
        let (mut pace, mut now) = (ReadingPace { due: start }, start);
        for _ in 0..lines {
            now += pace.pause(now, bytes as u64 + LINE).unwrap_or_default();
        }
        now - start
    }

    #[test]
    fn a_flood_is_read_at_the_rate_and_anything_else_at_once() {
        assert_eq!(takes(100_000, 40), Duration::ZERO);
        let flood = takes(20_000_000, 20);
        assert!((58..63).contains(&flood.as_secs()), "{flood:?}");
        let long_lines = takes(1000, 1024 * 1024);
        assert!((60..64).contains(&long_lines.as_secs()), "{long_lines:?}");
    }
}
