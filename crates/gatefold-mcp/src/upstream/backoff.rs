use std::time::Duration;

use tokio::time::Instant;

/// How long to wait before a source that failed to start is tried again. The wait doubles with each
/// failure in a row.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(500);
    const LONGEST: Duration = Duration::from_secs(60);

    pub(crate) fn failed(&mut self) {
        let pause = Self::FIRST.saturating_mul(1 << self.failures.min(16)).min(Self::LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.until = Some(Instant::now() + pause);
    }

    /// Notes a start that succeeded and did not last. Once is no reason to wait: servers do die.
    pub(crate) fn ended_early(&mut self) {
        if self.failures == 0 {
            self.failures = 1;
        } else {
            self.failed();
        }
    }

    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// How long to wait still, or nothing.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let wait = self.until?.saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_a_limit_and_end_with_a_success() {
        let mut backoff = Backoff::default();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            backoff.failed();
            let wait = backoff.wait().unwrap();
            pauses.push(wait.as_millis());
            tokio::time::advance(wait).await;
            assert_eq!(backoff.wait(), None);
        }
        assert_eq!(pauses, [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
        backoff.succeeded();
        backoff.ended_early();
        assert_eq!(backoff.wait(), None, "the first time is free");
        backoff.ended_early();
        assert_eq!(backoff.wait(), Some(2 * Backoff::FIRST));
        backoff.succeeded();
        backoff.failed();
        assert_eq!(backoff.wait(), Some(Backoff::FIRST));
    }
}
