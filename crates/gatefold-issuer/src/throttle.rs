//! How often somebody may try.

use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, RecentMap};

/// How many names or addresses are told apart. Beyond, those seen longest ago are forgotten.
const KEYS: usize = 8192;

/// Lets each key through a number of times in a span of time.
pub(crate) struct Throttle<K> {
    limit: u32,
    span: Duration,
    /// At most [`KEYS`].
    counts: Mutex<RecentMap<K, AttemptCount>>,
}

#[derive(Clone, Copy)]
struct AttemptCount {
    began: Duration,
    count: u32,
}

impl<K: Clone + Eq + Hash> Throttle<K> {
    pub(crate) fn new(limit: u32, span: Duration) -> Self {
        Self { limit, span, counts: Mutex::new(RecentMap::new(KEYS)) }
    }

    /// Counts one attempt. Beyond the limit, says how long to wait.
    pub(crate) fn attempt(&self, key: &K, clock: &dyn Clock) -> Result<(), Duration> {
        let now = clock.uptime();
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = AttemptCount { began: now, count: 0 };
        let known = counts.get(key).copied();
        let mut count =
            known.filter(|it| now.saturating_sub(it.began) < self.span).unwrap_or(fresh);
        if count.count >= self.limit {
            return Err((count.began + self.span).saturating_sub(now));
        }
        count.count += 1;
        counts.insert(key.clone(), count);
        Ok(())
    }

    /// Takes one attempt back: it was none of the kind that is counted.
    pub(crate) fn forgive(&self, key: &K) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get(key).copied() {
            let count = AttemptCount { count: count.count.saturating_sub(1), ..count };
            counts.insert(key.clone(), count);
        }
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{ManualClock, Timestamp};

    use super::*;

    #[test]
    fn each_key_has_its_attempts_in_each_span() {
        let clock = ManualClock::at(Timestamp::from_millis(1));
        let throttle = Throttle::new(2, Duration::from_secs(10));
        assert_eq!(throttle.attempt(&"a", &clock), Ok(()));
        clock.advance(Duration::from_secs(4));
        assert_eq!(throttle.attempt(&"a", &clock), Ok(()));
        assert_eq!(throttle.attempt(&"a", &clock), Err(Duration::from_secs(6)));
        assert_eq!(throttle.attempt(&"b", &clock), Ok(()));
        throttle.forgive(&"a");
        assert_eq!(throttle.attempt(&"a", &clock), Ok(()));
        clock.advance(Duration::from_secs(6));
        assert_eq!(throttle.attempt(&"a", &clock), Ok(()));
    }

    #[test]
    fn many_names_fill_no_memory() {
        let clock = ManualClock::at(Timestamp::from_millis(1));
        let throttle = Throttle::new(2, Duration::from_secs(10));
        for key in 0..KEYS + 10 {
            throttle.attempt(&key, &clock).expect("each is a new one");
        }
        assert_eq!(throttle.counts.lock().expect("nobody panicked").len(), KEYS);
    }
}
