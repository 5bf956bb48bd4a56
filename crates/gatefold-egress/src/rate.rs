//! How often a source may be called.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, num};

use tokio::time::{Instant, sleep_until};

/// The longest wait for a turn, whatever the deadline of a call.
pub const RATE_WAIT: Duration = Duration::from_secs(5);

/// The most calls in one unit of time.
const COUNT_LIMIT: u32 = 1_000_000;

/// So many calls in a second, a minute or an hour: `10/s`, `100/m`, `1000/h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    count: num::NonZeroU32,
    unit: RateUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateUnit {
    Second,
    Minute,
    Hour,
}

/// A text is no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a rate is a count up to 1000000 and a unit, such as `10/s`, `100/m` or `1000/h`")]
pub struct InvalidRate;

/// A call would have to wait too long for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rate of {rate} is used up; call again in {} s", whole_seconds(*retry_after))]
pub struct RateExceeded {
    pub rate: Rate,
    /// When a call would have its turn, if nobody else calls until then.
    pub retry_after: Duration,
}

/// Gives calls their turns: a token bucket, kept as the time at which it would be full again
/// (the generic cell rate algorithm, ITU-T I.371).
///
/// After a pause, as many calls as the rate's count go at once; then they go evenly.
#[derive(Debug)]
pub struct RateLimiter {
    rate: Rate,
    /// When all turns that were given are earned.
    full_at: Mutex<Instant>,
}

impl Rate {
    fn period(self) -> Duration {
        Duration::from_secs(match self.unit {
            RateUnit::Second => 1,
            RateUnit::Minute => 60,
            RateUnit::Hour => 3600,
        })
    }

    /// How long it takes to earn one turn.
    fn interval(self) -> Duration {
        self.period() / self.count.get()
    }
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let (count, unit) = text.trim().split_once('/').ok_or(InvalidRate)?;
        let count: num::NonZeroU32 = count.trim().parse().map_err(|_| InvalidRate)?;
        let unit = match unit.trim() {
            "s" => RateUnit::Second,
            "m" => RateUnit::Minute,
            "h" => RateUnit::Hour,
            _ => return Err(InvalidRate),
        };
        if count.get() > COUNT_LIMIT {
            return Err(InvalidRate);
        }
        Ok(Self { count, unit })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            RateUnit::Second => "s",
            RateUnit::Minute => "m",
            RateUnit::Hour => "h",
        };
        write!(f, "{}/{unit}", self.count)
    }
}

impl RateLimiter {
    pub fn new(rate: Rate) -> Self {
        Self { rate, full_at: Mutex::new(Instant::now()) }
    }

    /// Waits for a turn. One that would come after the deadline, or later than [`RATE_WAIT`], is
    /// refused at once and takes none. A wait that is dropped has used its turn up.
    pub async fn turn(&self, deadline: Instant) -> Result<(), RateExceeded> {
        let at = self.take(Instant::now(), deadline)?;
        sleep_until(at).await;
        Ok(())
    }

    /// When the turn is that a call takes now.
    fn take(&self, now: Instant, deadline: Instant) -> Result<Instant, RateExceeded> {
        let interval = self.rate.interval();
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let next = (*full_at).max(now) + interval;
        // With nothing taken, the bucket has room for as many turns as the rate's count.
        let at = next.checked_sub(interval * self.rate.count.get()).unwrap_or(now).max(now);
        let wait = at - now;
        if wait > RATE_WAIT || at > deadline {
            return Err(RateExceeded { rate: self.rate, retry_after: wait });
        }
        *full_at = next;
        Ok(at)
    }
}

/// Rounded up, and at least one.
fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0 || duration.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let rate = text.parse::<Rate>().ok().map(|rate| rate.to_string());
        assert_eq!(rate.as_deref(), expected, "{text}");
    }

    #[test]
    fn a_rate_is_a_count_and_a_unit() {
        check("10/s", Some("10/s"));
        check(" 100 / m ", Some("100/m"));
        check("1000000/h", Some("1000000/h"));
        for text in
            ["", "10", "/s", "0/s", "-1/s", "1.5/s", "10/d", "10/min", "1000001/h", "10/s/s"]
        {
            check(text, None);
        }
    }

    /// How many of `calls` calls in a row, that may wait until `limit`, have a turn, and when the
    /// last one has it.
    async fn run(limiter: &RateLimiter, calls: u32, limit: Duration) -> (u32, Duration) {
        let begun = Instant::now();
        let mut turns = 0;
        for _ in 0..calls {
            turns += u32::from(limiter.turn(Instant::now() + limit).await.is_ok());
        }
        (turns, begun.elapsed())
    }

    fn limiter(rate: &str) -> RateLimiter {
        RateLimiter::new(rate.parse().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_pause_calls_go_at_once_and_then_evenly() {
        let limiter = limiter("10/s");
        let at_once = run(&limiter, 10, Duration::ZERO).await;
        assert_eq!(at_once, (10, Duration::ZERO));
        let (turns, took) = run(&limiter, 20, Duration::from_secs(1)).await;
        assert_eq!((turns, took.as_millis() / 10), (20, 200));
        tokio::time::advance(Duration::from_mins(10)).await;
        let again = run(&limiter, 11, Duration::ZERO).await;
        assert_eq!(again, (10, Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_would_come_too_late_is_refused_at_once() {
        let limiter = limiter("60/h");
        run(&limiter, 60, Duration::ZERO).await;
        let deadline = Instant::now() + Duration::from_hours(1);
        for _ in 0..100 {
            let refused = limiter.turn(deadline).await.unwrap_err();
            assert_eq!(refused.retry_after, Duration::from_mins(1));
        }
        tokio::time::advance(Duration::from_secs(57)).await;
        let refused = limiter.turn(Instant::now() + Duration::from_secs(2)).await.unwrap_err();
        let expected = "the rate of 60/h is used up; call again in 3 s";
        assert_eq!(refused.to_string(), expected);
        assert_eq!(run(&limiter, 1, RATE_WAIT).await, (1, Duration::from_secs(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn callers_at_once_have_their_turns_one_after_another() {
        let limiter = limiter("2/s");
        let begun = Instant::now();
        let deadline = begun + Duration::from_secs(2);
        let turns = (0..10).map(|_| async {
            let turn = limiter.turn(deadline).await;
            (turn.is_ok(), begun.elapsed().as_millis() / 10)
        });
        let mut turns = futures::future::join_all(turns).await;
        turns.sort_unstable();
        let given: Vec<_> = turns.iter().filter(|(ok, _)| *ok).map(|(_, at)| *at).collect();
        assert_eq!(given, [0, 0, 50, 100, 150, 200]);
        assert!(turns.iter().filter(|(ok, _)| !ok).all(|(_, at)| *at == 0), "{turns:?}");
    }
}
