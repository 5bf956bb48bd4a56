use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The time `duration` later; saturates.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Whether HTTP can express it as a date: it lies between 1970 and 9999. Our clock reads any date
    /// before 1970 as 1970 itself, so the first millisecond counts as too early.
    pub const fn has_http_date(self) -> bool {
        /// The beginning of the year 10000.
        const END: u64 = 253_402_300_800_000;
        1 <= self.0 && self.0 < END
    }

    /// How long ago `earlier` was, or zero if it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC with milliseconds: `2026-11-21T09:57:00.000Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0 / 86_400_000, self.0 % 86_400_000);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
        let (second, milli) = (rest / 1000 % 60, rest % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}

/// Year, month and day of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last of its year.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097;
    const DAYS_TO_EPOCH: u64 = 719_468;
    let shifted = days + DAYS_TO_EPOCH;
    let era = shifted / DAYS_PER_ERA;
    let day_of_era = shifted % DAYS_PER_ERA;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// The source of time. Nothing else in Gatefold reads the system's clock.
pub trait Clock: Send + Sync + 'static {
    /// The date. Somebody may set the clock at any time, to any date.
    fn now(&self) -> Timestamp;

    /// The time since some fixed moment in the past. Nobody can set it, so durations are measured
    /// with it.
    fn uptime(&self) -> Duration;
}

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }

    fn uptime(&self) -> Duration {
        static FIRST_ASKED: LazyLock<Instant> = LazyLock::new(Instant::now);
        FIRST_ASKED.elapsed()
    }
}

/// A clock for tests that stands still until it is advanced.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
    uptime: AtomicU64,
}

impl ManualClock {
    pub fn at(now: Timestamp) -> Self {
        Self { now: AtomicU64::new(now.0), uptime: AtomicU64::default() }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.now.fetch_add(millis, Ordering::SeqCst);
        self.uptime.fetch_add(millis, Ordering::SeqCst);
    }

    /// Sets the date, as a person or NTP might.
    pub fn set(&self, now: Timestamp) {
        self.now.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    fn uptime(&self) -> Duration {
        Duration::from_millis(self.uptime.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_has_dates_from_1970_to_9999() {
        let end = 253_402_300_800_000;
        for (millis, expected) in
            [(0, false), (1, true), (end - 1, true), (end, false), (u64::MAX, false)]
        {
            assert_eq!(Timestamp::from_millis(millis).has_http_date(), expected, "{millis}");
        }
    }

    #[test]
    fn a_timestamp_prints_as_rfc_3339() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_string(), text);
        }
    }
}
