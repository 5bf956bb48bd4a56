//! How fast we read what a local server writes for nobody: its standard error, and lines that are not
//! the protocol.
//!
//! Reading a flood as fast as it comes takes a core for each pipe. Past this pace the pipe fills up and
//! the server waits, so the flood costs only the server.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Bytes a second.
const RATE: u64 = 16 * 1024 * 1024;
/// What a line costs besides its bytes.
const LINE: u64 = 32;
/// How long reading may go on faster, for servers that write much at their start.
const BURST: Duration = Duration::from_millis(500);
/// The shortest pause. Shorter ones would cost more than they save.
const PAUSE: Duration = Duration::from_millis(10);

/// The pace of one pipe.
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
        if let Some(pause) = self.pause(Instant::now(), bytes) {
            sleep(pause).await;
        }
    }

    fn pause(&mut self, now: Instant, bytes: usize) -> Option<Duration> {
        let cost = (bytes as u64).saturating_add(LINE).saturating_mul(1_000_000_000) / RATE;
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
            now += pace.pause(now, bytes).unwrap_or_default();
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
