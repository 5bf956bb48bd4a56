//! Numbers of cells as people see them, as far as that changes what they mean: dates, times and percentages.

/// What a cell's number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Plain,
    Percent,
    Date,
    Time,
    DateTime,
    /// Hours that may be more than a day has.
    Duration,
}

/// The kind of a format that every program knows by its number (ECMA-376, part 1, 18.8.30).
pub(super) fn kind_of_id(id: u32) -> NumberKind {
    match id {
        9 | 10 => NumberKind::Percent,
        14..=17 | 27..=31 | 36 | 50..=54 | 57..=58 => NumberKind::Date,
        18..=21 | 32..=35 | 45 | 47 | 55..=56 => NumberKind::Time,
        22 => NumberKind::DateTime,
        46 => NumberKind::Duration,
        _ => NumberKind::Plain,
    }
}

/// The kind of a format by its code: the letters that stand for parts of a date, outside of quotes and brackets.
pub(super) fn kind_of_code(code: &str) -> NumberKind {
    let (mut has_day, mut has_time, mut has_percent) = (false, false, false);
    let mut characters = code.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => while characters.next().is_some_and(|c| c != '"') {},
            '\\' | '_' | '*' => drop(characters.next()),
            '[' => {
                let inside: String = characters.by_ref().take_while(|c| *c != ']').collect();
                if matches!(&inside.to_ascii_lowercase()[..], "h" | "hh" | "m" | "mm" | "s" | "ss")
                {
                    return NumberKind::Duration;
                }
            }
            // Another format follows, for other numbers.
            ';' => break,
            '%' => has_percent = true,
            'y' | 'Y' | 'd' | 'D' => has_day = true,
            'h' | 'H' | 's' | 'S' => has_time = true,
            _ => {}
        }
    }
    let is_month = !has_time && !has_day && !code.contains(['0', '#']) && code.contains(['m', 'M']);
    match (has_day || is_month, has_time, has_percent) {
        (true, true, _) => NumberKind::DateTime,
        (true, false, _) => NumberKind::Date,
        (false, true, _) => NumberKind::Time,
        (false, false, true) => NumberKind::Percent,
        _ => NumberKind::Plain,
    }
}

/// A cell's number in words. Days are counted from 1900 or, in files of old Macs, from 1904.
pub(super) fn number_text(value: &str, kind: NumberKind, is_from_1904: bool) -> String {
    let Ok(number) = value.trim().parse::<f64>() else { return value.trim().to_owned() };
    if !number.is_finite() {
        return value.trim().to_owned();
    }
    let days = if is_from_1904 { number + 1462.0 } else { number };
    // The year 9999 ends there, and nothing before 1900 is a date.
    let is_date = (0.0..2_958_466.0).contains(&days);
    match kind {
        NumberKind::Percent => format!("{}%", shortest(number * 100.0)),
        NumberKind::Date if is_date => date(days),
        NumberKind::Time if is_date => time(days.fract()),
        NumberKind::DateTime if is_date => format!("{} {}", date(days), time(days.fract())),
        NumberKind::Duration if is_date => duration(days),
        _ => shortest(number),
    }
}

/// A number with the fifteen digits that spreadsheets keep.
fn shortest(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    let magnitude = rounded.abs();
    if magnitude != 0.0 && !(1e-9..1e21).contains(&magnitude) {
        return format!("{rounded:e}");
    }
    format!("{rounded}")
}

#[expect(clippy::cast_possible_truncation, reason = "the caller has checked the range")]
fn date(days: f64) -> String {
    let day = days.floor() as i64;
    // Day 60 is 29 February 1900, which never was; Lotus 1-2-3 had it, and all have kept it since.
    if day == 60 {
        return "1900-02-29".to_owned();
    }
    let since_1970 = if day < 60 { day - 25_568 } else { day - 25_569 };
    let (year, month, day) = civil(since_1970);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date of a day since 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than a day")]
fn time(of_day: f64) -> String {
    let seconds = ((of_day * 86_400.0).round() as u32).min(86_399);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if seconds == 0 {
        return format!("{hours:02}:{minutes:02}");
    }
    format!("{hours:02}:{minutes:02}:{seconds:02}")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has checked the range"
)]
fn duration(days: f64) -> String {
    let seconds = (days * 86_400.0).round() as u64;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_what_its_format_says() {
        for (value, code, text) in [
            ("45351", "yyyy-mm-dd", "2024-02-29"),
            ("45351.75", "d/m/yy h:mm", "2024-02-29 18:00"),
            ("0.5", "hh:mm:ss", "12:00"),
            ("1.5", "[h]:mm", "36:00:00"),
            ("1", "DD.MM.YYYY", "1900-01-01"),
            ("59", "d", "1900-02-28"),
            ("61", "d", "1900-03-01"),
            ("45351", "mmm", "2024-02-29"),
            ("0.125", "0.0%", "12.5%"),
            ("0.1", "0.00", "0.1"),
            ("0.30000000000000004", "General", "0.3"),
            ("1234.5", "\"day\" 0.00", "1234.5"),
            ("1234.5", "[Red]#,##0", "1234.5"),
            ("-5", "d", "-5"),
            ("1e300", "0", "1e300"),
            ("abc", "0", "abc"),
            ("NaN", "d", "NaN"),
        ] {
            assert_eq!(number_text(value, kind_of_code(code), false), text, "{value} {code}");
        }
        assert_eq!(number_text("0", NumberKind::Date, true), "1904-01-01");
    }
}
