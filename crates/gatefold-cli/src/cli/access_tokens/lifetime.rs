//! How long a token is good for.

use std::ops::RangeInclusive;
use std::time::Duration;

use gatefold_core::Timestamp;

/// What a token has whose creator names nothing else: long enough to be no nuisance, and short enough
/// that one which was forgotten somewhere does not let people in for ever.
pub(super) const DEFAULT: &str = "90d";

/// From a minute to ten years.
const LIFETIMES: RangeInclusive<Duration> =
    Duration::from_secs(60)..=Duration::from_secs(3650 * 24 * 60 * 60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lifetime(Option<Duration>);

impl Lifetime {
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        if text == "never" {
            return Ok(Self(None));
        }
        let unit_at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let unit_seconds = match unit {
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return Err("write a number and `m`, `h` or `d`, such as 30d, or `never`"),
        };
        let number = number.parse::<u64>().map_err(|_| "write a whole number, such as 30d")?;
        let lifetime = Duration::from_secs(number.saturating_mul(unit_seconds));
        let is_right = LIFETIMES.contains(&lifetime);
        is_right.then_some(Self(Some(lifetime))).ok_or("choose a time from 1m to 3650d, or `never`")
    }

    /// When a token ends that is made now.
    pub(super) fn from(self, now: Timestamp) -> Option<Timestamp> {
        self.0.map(|lifetime| now.plus(lifetime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_has_a_number_and_a_unit() {
        let days = |days: u64| Ok(Some(Duration::from_secs(days * 24 * 60 * 60)));
        let read = |text| Lifetime::read(text).map(|lifetime| lifetime.0);
        assert_eq!(read("30d"), days(30));
        assert_eq!(read("24h"), days(1));
        assert_eq!(read("never"), Ok(None));
        assert_eq!(read(DEFAULT), days(90));
        for wrong in ["", "30", "d", "0d", "30s", "1.5d", "3651d", "-1d", "99999999999999999999d"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
