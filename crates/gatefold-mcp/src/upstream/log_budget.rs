//! How much of the log one source may fill.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::Domain;
use tokio::time::Instant;

/// The period that the limits apply to.
const WINDOW: Duration = Duration::from_secs(1);
/// Lines of one source in a window. Further lines are only counted, and the count is logged.
pub const LINES: u32 = 50;
/// Bytes of one source in a window.
pub const BYTES: usize = 32 * 1024;

/// How many faulty definitions of a list the log names. The rest are only counted.
pub(crate) const NAMED: usize = 5;

/// Counts what is logged of one source, whichever of its processes it comes from.
#[derive(Debug)]
pub(crate) struct LogBudget {
    domain: Domain,
    used: Mutex<LogWindow>,
}

#[derive(Debug)]
struct LogWindow {
    since: Instant,
    lines: u32,
    bytes: usize,
    left_out: u64,
}

impl LogWindow {
    fn new() -> Self {
        Self { since: Instant::now(), lines: 0, bytes: 0, left_out: 0 }
    }
}

impl LogBudget {
    pub(crate) fn new(domain: Domain) -> Self {
        Self { domain, used: Mutex::new(LogWindow::new()) }
    }

    /// Whether a line of this many bytes may be logged. Logs once that lines are left out, and how
    /// many once there is room again.
    pub(crate) fn admits(&self, bytes: usize) -> bool {
        let (before, is_first, admitted) = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            let mut before = 0;
            if used.since.elapsed() >= WINDOW {
                before = used.left_out;
                *used = LogWindow::new();
            }
            let admitted = used.lines < LINES && used.bytes + bytes <= BYTES;
            if admitted {
                used.lines += 1;
                used.bytes += bytes;
            } else {
                used.left_out += 1;
            }
            (before, used.left_out == 1, admitted)
        };
        let domain = &self.domain;
        if before > 0 {
            tracing::warn!(%domain, left_out = before, "left out lines of the source in this log");
        }
        if !admitted && is_first && before == 0 {
            tracing::warn!(%domain, "the source writes too much for this log: lines are left out");
        }
        admitted
    }

    /// Logs how many lines were left out. Call this when no more will come.
    pub(crate) fn settle(&self) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let left_out = std::mem::take(&mut used.left_out);
        drop(used);
        if left_out > 0 {
            let domain = &self.domain;
            tracing::warn!(%domain, left_out, "left out lines of the source in this log");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> LogBudget {
        LogBudget::new(Domain::parse("noisy").unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn lines_beyond_the_limit_wait_for_the_next_second() {
        let budget = budget();
        let admitted = |budget: &LogBudget| (0..10_000).filter(|_| budget.admits(10)).count();
        assert_eq!(admitted(&budget), LINES as usize);
        tokio::time::advance(WINDOW).await;
        assert_eq!(admitted(&budget), LINES as usize);
    }

    #[tokio::test(start_paused = true)]
    async fn long_lines_use_up_the_bytes() {
        let budget = budget();
        assert!(budget.admits(BYTES));
        assert!(!budget.admits(1));
        tokio::time::advance(WINDOW).await;
        assert!(budget.admits(1));
    }
}
