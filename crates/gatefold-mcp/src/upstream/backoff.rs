use std::collections::HashMap;
use std::time::Duration;

use gatefold_core::{AnswerFault, UpstreamIdentity};
use tokio::time::Instant;

/// The most identities whose failures one source remembers. Further ones get no pause.
const FAILING_LIMIT: usize = 256;

/// How long each identity waits before its own session is tried again, so that one whose
/// credentials are refused does not lock out the others.
#[derive(Debug, Default)]
pub(crate) struct Backoffs {
    /// At most [`FAILING_LIMIT`].
    failing: HashMap<UpstreamIdentity, Backoff>,
}

impl Backoffs {
    /// Notes a session that did not start, and what was answered instead, if anything was.
    pub(crate) fn failed(&mut self, identity: &UpstreamIdentity, fault: Option<AnswerFault>) {
        self.note(identity, |own| {
            own.failed();
            own.fault = fault;
        });
    }

    /// See [`Backoff::ended_early`].
    pub(crate) fn ended_early(&mut self, identity: &UpstreamIdentity) {
        self.note(identity, Backoff::ended_early);
    }

    pub(crate) fn succeeded(&mut self, identity: &UpstreamIdentity) {
        self.failing.remove(identity);
    }

    /// What is left of the wait, if anything.
    pub(crate) fn wait(&self, identity: &UpstreamIdentity) -> Option<Duration> {
        self.failing.get(identity)?.wait()
    }

    /// What was answered instead of a session, if the last one did not start for that.
    pub(crate) fn fault(&self, identity: &UpstreamIdentity) -> Option<AnswerFault> {
        self.failing.get(identity)?.fault
    }

    fn note(&mut self, identity: &UpstreamIdentity, change: impl FnOnce(&mut Backoff)) {
        if self.failing.len() >= FAILING_LIMIT && !self.failing.contains_key(identity) {
            self.failing.retain(|_, own| own.wait().is_some());
        }
        if self.failing.len() < FAILING_LIMIT || self.failing.contains_key(identity) {
            change(self.failing.entry(identity.clone()).or_default());
        }
    }
}

/// How long to wait before a session that failed to start is tried again. The wait doubles with
/// each failure in a row. A random part, up to half, is taken off, so that sources that failed
/// together are not retried together.
#[derive(Debug, Default)]
struct Backoff {
    failures: u32,
    until: Option<Instant>,
    fault: Option<AnswerFault>,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(500);
    const LONGEST: Duration = Duration::from_secs(60);

    fn failed(&mut self) {
        let pause = Self::FIRST.saturating_mul(1 << self.failures.min(16)).min(Self::LONGEST);
        self.failures = self.failures.saturating_add(1);
        self.until = Some(Instant::now() + jittered(pause));
    }

    /// Notes a session that started but soon ended. The first one is no reason to wait: servers do
    /// die.
    fn ended_early(&mut self) {
        if self.failures == 0 {
            self.failures = 1;
        } else {
            self.failed();
        }
    }

    /// What is left of the wait, if anything.
    fn wait(&self) -> Option<Duration> {
        let wait = self.until?.saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(wait)
    }
}

/// Shortens a pause by a random part of up to half.
pub(crate) fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(fastrand::f64().midpoint(1.0))
}

#[cfg(test)]
mod tests {
    use gatefold_core::UserId;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_double_up_to_a_limit_and_end_with_a_success() {
        let mut backoff = Backoff::default();
        for longest in [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000] {
            backoff.failed();
            let wait = backoff.wait().unwrap();
            assert!((longest / 2..=longest).contains(&wait.as_millis()), "{wait:?} of {longest}");
            tokio::time::advance(wait).await;
            assert_eq!(backoff.wait(), None);
        }
        let mut backoff = Backoff::default();
        backoff.ended_early();
        assert_eq!(backoff.wait(), None, "the first time is free");
        backoff.ended_early();
        let wait = backoff.wait().unwrap();
        assert!((Backoff::FIRST..=2 * Backoff::FIRST).contains(&wait), "{wait:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn those_that_failed_together_are_not_tried_again_together() {
        let waits: Vec<_> = (0..20)
            .map(|_| {
                let mut backoff = Backoff::default();
                backoff.failed();
                backoff.wait().unwrap()
            })
            .collect();
        let (first, last) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
        assert!(last.abs_diff(*first) > Backoff::FIRST / 8, "{waits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_failures_of_one_identity_pause_no_other() {
        let user = |n: usize| UpstreamIdentity::User(UserId::new(format!("user-{n}")));
        let mut backoffs = Backoffs::default();
        backoffs.failed(&user(0), None);
        assert!(backoffs.wait(&user(0)).is_some());
        assert_eq!(backoffs.wait(&user(1)), None);
        assert_eq!(backoffs.wait(&UpstreamIdentity::Shared), None);
        backoffs.succeeded(&user(0));
        assert_eq!(backoffs.wait(&user(0)), None);
        for n in 0..=FAILING_LIMIT {
            backoffs.failed(&user(n), None);
        }
        assert_eq!(backoffs.failing.len(), FAILING_LIMIT);
        tokio::time::advance(Backoff::LONGEST).await;
        backoffs.failed(&user(FAILING_LIMIT), None);
        assert_eq!(backoffs.failing.len(), 1, "expired ones make room");
    }
}
