use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{RecentMap, UpstreamIdentity};
use serde::Serialize;
use tokio::time::Instant;

/// The most identities at a source whose failures are counted. Beyond, those that called longest ago
/// begin anew.
const IDENTITIES: usize = 1024;

/// The circuit breakers of one source: one for each identity, since what fails for one account may work
/// for the others.
#[derive(Debug)]
pub(crate) struct SourceBreakers {
    failure_limit: u32,
    pause: Duration,
    /// At most [`IDENTITIES`].
    each: Mutex<RecentMap<UpstreamIdentity, Arc<CircuitBreaker>>>,
}

impl SourceBreakers {
    pub(crate) fn new(failure_limit: u32, pause: Duration) -> Self {
        Self { failure_limit, pause, each: Mutex::new(RecentMap::new(IDENTITIES)) }
    }

    pub(crate) fn of(&self, identity: &UpstreamIdentity) -> Arc<CircuitBreaker> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = each.get(identity) {
            return own.clone();
        }
        let own = Arc::new(CircuitBreaker::new(self.failure_limit, self.pause));
        each.insert(identity.clone(), own.clone());
        own
    }

    /// Whether calls of somebody are held back, and nobody's have succeeded for as long as that takes.
    pub(crate) fn state(&self) -> BreakerState {
        let each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = each.values().any(|own| own.state() == BreakerState::Open);
        let serves = each.values().any(|own| own.has_succeeded_within(self.pause));
        if is_open && !serves { BreakerState::Open } else { BreakerState::Closed }
    }
}

/// Stops calls to a source for a while after several failures in a row.
///
/// After the pause one call goes through as a probe: its success closes the breaker, its failure
/// opens it for another pause.
#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    failure_limit: u32,
    pause: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    failures: u32,
    open_until: Option<Instant>,
    probing: bool,
    succeeded_at: Option<Instant>,
}

/// What a breaker lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BreakerState {
    Closed,
    Open,
}

impl CircuitBreaker {
    pub(crate) fn new(failure_limit: u32, pause: Duration) -> Self {
        Self { failure_limit: failure_limit.max(1), pause, inner: Mutex::default() }
    }

    /// Lets a call through, or returns how long to wait. The caller must report the outcome to the
    /// pass.
    pub(crate) fn pass(&self) -> Result<BreakerPass<'_>, Duration> {
        let mut inner = self.lock();
        let Some(until) = inner.open_until else {
            return Ok(BreakerPass { breaker: self, is_probe: false, told: false });
        };
        let now = Instant::now();
        if now < until {
            return Err(until - now);
        }
        if inner.probing {
            return Err(Duration::ZERO);
        }
        inner.probing = true;
        Ok(BreakerPass { breaker: self, is_probe: true, told: false })
    }

    pub(crate) fn state(&self) -> BreakerState {
        match self.lock().open_until {
            Some(until) if Instant::now() < until => BreakerState::Open,
            _ => BreakerState::Closed,
        }
    }

    fn has_succeeded_within(&self, time: Duration) -> bool {
        let inner = self.lock();
        inner.open_until.is_none() && inner.succeeded_at.is_some_and(|at| at.elapsed() < time)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call that the breaker let through. Dropping it without an outcome counts as neither.
///
/// While the breaker is open, only the probe counts: calls from before say nothing new.
#[derive(Debug)]
pub(crate) struct BreakerPass<'a> {
    breaker: &'a CircuitBreaker,
    is_probe: bool,
    told: bool,
}

impl BreakerPass<'_> {
    pub(crate) fn succeeded(mut self) {
        self.told = true;
        let mut inner = self.breaker.lock();
        if self.is_probe || inner.open_until.is_none() {
            *inner = Inner { succeeded_at: Some(Instant::now()), ..Inner::default() };
        }
    }

    pub(crate) fn failed(mut self) {
        self.told = true;
        let mut inner = self.breaker.lock();
        if self.is_probe {
            inner.probing = false;
        } else if inner.open_until.is_some() {
            return;
        }
        inner.failures = inner.failures.saturating_add(1);
        if inner.failures >= self.breaker.failure_limit {
            inner.open_until = Some(Instant::now() + self.breaker.pause);
        }
    }
}

impl Drop for BreakerPass<'_> {
    fn drop(&mut self) {
        if self.is_probe && !self.told {
            self.breaker.lock().probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);

    fn failed(breaker: &CircuitBreaker, times: u32) {
        for _ in 0..times {
            breaker.pass().expect("closed").failed();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_opens_after_failures_in_a_row_and_not_after_scattered_ones() {
        let breaker = CircuitBreaker::new(3, PAUSE);
        failed(&breaker, 2);
        breaker.pass().unwrap().succeeded();
        failed(&breaker, 2);
        assert_eq!(breaker.state(), BreakerState::Closed);
        failed(&breaker, 1);
        assert_eq!(breaker.state(), BreakerState::Open);
        assert_eq!(breaker.pass().unwrap_err(), PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn after_the_pause_one_probe_decides() {
        let breaker = CircuitBreaker::new(1, PAUSE);
        failed(&breaker, 1);
        tokio::time::advance(PAUSE).await;
        let probe = breaker.pass().unwrap();
        assert!(breaker.pass().is_err(), "one probe at a time");
        probe.failed();
        assert!(breaker.pass().is_err());
        tokio::time::advance(PAUSE).await;
        drop(breaker.pass().unwrap());
        breaker.pass().expect("a dropped probe frees its place").succeeded();
        assert!(breaker.pass().is_ok() && breaker.pass().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_from_before_does_not_close_an_open_breaker() {
        let breaker = CircuitBreaker::new(1, PAUSE);
        let late = breaker.pass().unwrap();
        failed(&breaker, 1);
        late.succeeded();
        assert_eq!(breaker.state(), BreakerState::Open);
        assert!(breaker.pass().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_from_before_does_not_end_the_probe_of_another() {
        let breaker = CircuitBreaker::new(1, PAUSE);
        let (fails, ends, succeeds) =
            (breaker.pass().unwrap(), breaker.pass().unwrap(), breaker.pass().unwrap());
        failed(&breaker, 1);
        tokio::time::advance(PAUSE).await;
        let probe = breaker.pass().unwrap();
        fails.failed();
        drop(ends);
        succeeds.succeeded();
        assert_eq!(breaker.pass().unwrap_err(), Duration::ZERO, "one probe at a time");
        probe.succeeded();
        assert!(breaker.pass().is_ok());
    }
}
