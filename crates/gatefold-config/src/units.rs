//! Durations and sizes as people write them.

use std::time::Duration;

pub(crate) const DURATION_HINT: &str =
    "write a number and a unit: `ms`, `s`, `m`, `h` or `d`, such as \"60s\"";
pub(crate) const SIZE_HINT: &str =
    "write a number and a unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`, such as \"4MiB\"";

const MINUTE_MS: u128 = 60_000;
const DAY_MS: u128 = 24 * 60 * MINUTE_MS;

/// Reads `90s`, `1.5h` or `250ms`. `None` for anything else and for durations not above zero.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * seconds).ok().filter(|d| !d.is_zero())
}

/// Reads `4MiB`, `1.5 GB` or `512B` as bytes. `None` for anything else and for sizes not above
/// zero.
pub(crate) fn size(text: &str) -> Option<u64> {
    /// Above this a double cannot represent every byte count.
    const LIMIT: f64 = 9_007_199_254_740_992.0;
    let (number, unit) = split(text)?;
    let bytes = match unit {
        "B" => 1.0,
        "KiB" | "K" => 1024.0,
        "MiB" | "M" => 1_048_576.0,
        "GiB" | "G" => 1_073_741_824.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        _ => return None,
    };
    let total = (number * bytes).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, above zero and below 2^53"
    )]
    (1.0..LIMIT).contains(&total).then_some(total as u64)
}

/// A duration as the reader accepts it, in the largest unit that gives a whole number, except that
/// one minute is written as 60 seconds and one day as 24 hours, as people do.
pub fn duration_text(duration: Duration) -> String {
    let millis = duration.as_millis();
    let units = [(DAY_MS, "d"), (3_600_000, "h"), (MINUTE_MS, "m"), (1000, "s")];
    let fits = |(unit, _): &(u128, _)| {
        millis.is_multiple_of(*unit) && (millis > *unit || ![MINUTE_MS, DAY_MS].contains(unit))
    };
    match units.into_iter().find(fits) {
        Some((unit, name)) if millis > 0 => format!("{}{name}", millis / unit),
        _ => format!("{millis}ms"),
    }
}

/// A size as the reader accepts it, in the largest unit that gives a whole number.
pub fn size_text(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = |(unit, _): &(u64, _)| bytes > 0 && bytes.is_multiple_of(*unit);
    match units.into_iter().find(fits) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        for (text, expected_ms) in [
            ("60s", Some(60_000)),
            ("250ms", Some(250)),
            ("1.5h", Some(5_400_000)),
            (" 2 d ", Some(172_800_000)),
            ("5min", Some(300_000)),
            ("0s", None),
            ("60", None),
            ("-1s", None),
            ("s", None),
            ("1.2.3s", None),
            ("9e99s", None),
            ("5 weeks", None),
        ] {
            assert_eq!(duration(text), expected_ms.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn a_size_has_a_number_and_a_unit() {
        for (text, expected) in [
            ("4MiB", Some(4 << 20)),
            ("1.5 MB", Some(1_500_000)),
            ("512B", Some(512)),
            ("0MiB", None),
            ("1024", None),
            ("99999999999999GB", None),
            ("1 byte", None),
        ] {
            assert_eq!(size(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        for (text, millis) in [
            ("250ms", 250),
            ("60s", 60_000),
            ("10m", 600_000),
            ("1h", 3_600_000),
            ("90s", 90_000),
            ("24h", 86_400_000),
            ("30d", 30 * 86_400_000),
        ] {
            let written = duration_text(Duration::from_millis(millis));
            assert_eq!(
                (written.as_str(), duration(&written)),
                (text, Some(Duration::from_millis(millis)))
            );
        }
        for (text, bytes) in [("4MiB", 4 << 20), ("1500B", 1500), ("512KiB", 512 << 10)] {
            let written = size_text(bytes);
            assert_eq!((written.as_str(), size(&written)), (text, Some(bytes)));
        }
    }
}
