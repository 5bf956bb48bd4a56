//! Gaps between events.

use std::ops::Range;

use jiff::{Timestamp, ToSpan, civil::Date};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::Integer,
    calendar::moment::{self, Day, Zone, out_of_range},
    error::{ToolError, refuse},
};

/// How many days one call looks at.
const MAX_DAYS: i32 = 31;
/// How many gaps one call gives.
const MAX_GAPS: usize = 50;
const FIRST_HOUR_DEFAULT: i64 = 9;
const LAST_HOUR_DEFAULT: i64 = 17;

/// Find gaps of at least a given length between events, day by day within working hours. At
/// most 31 days a call; at most 50 gaps, earliest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindFreeTime {
    /// First day, such as "2026-10-05".
    from: Day,
    /// Last day, inclusive, at most 30 days after the first.
    to: Day,
    /// Shortest useful gap in minutes.
    duration_minutes: Integer<5, 1_440>,
    /// IANA time zone of days and hours. Default "UTC".
    time_zone: Option<Zone>,
    /// Hour at which a day starts. Default 9.
    first_hour: Option<Integer<0, 23>>,
    /// Hour at which a day ends. Default 17.
    last_hour: Option<Integer<1, 24>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Gaps {
    gaps: Vec<Gap>,
}

#[derive(Serialize, JsonSchema)]
struct Gap {
    /// RFC 3339 with the offset of the time zone.
    start: String,
    /// RFC 3339 with the offset of the time zone.
    end: String,
    minutes: i64,
}

pub(super) async fn find_free_time(
    db: SqlitePool,
    arguments: FindFreeTime,
) -> Result<Gaps, ToolError> {
    let zone = arguments.time_zone.unwrap_or_else(Zone::utc);
    let hours = arguments.first_hour.map_or(FIRST_HOUR_DEFAULT, Integer::get)
        ..arguments.last_hour.map_or(LAST_HOUR_DEFAULT, Integer::get);
    if hours.is_empty() {
        return Err(refuse(
            format!("the day starts at {} and ends at {}", hours.start, hours.end),
            "choose a `last_hour` after the `first_hour`",
        ));
    }
    let windows = windows(arguments.from.0, arguments.to.0, &hours, &zone)?;
    let (Some(first), Some(last)) = (windows.first(), windows.last()) else {
        return Err(refuse("`to` is before `from`", "swap them"));
    };
    let busy: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT start_s, end_s FROM events WHERE end_s > ?1 AND start_s < ?2 ORDER BY start_s",
    )
    .bind(first.start)
    .bind(last.end)
    .fetch_all(&db)
    .await?;
    let shortest_s = arguments.duration_minutes.get() * 60;
    let gaps = windows
        .iter()
        .flat_map(|window| free(window, &busy))
        .filter(|gap| gap.end - gap.start >= shortest_s)
        .take(MAX_GAPS)
        .map(|gap| describe(&gap, &zone))
        .collect::<Result<_, _>>()?;
    Ok(Gaps { gaps })
}

/// The working hours of each day as seconds since 1970.
fn windows(
    from: Date,
    to: Date,
    hours: &Range<i64>,
    zone: &Zone,
) -> Result<Vec<Range<i64>>, ToolError> {
    let days = (to - from).get_days();
    if days >= MAX_DAYS {
        return Err(refuse(
            format!("from {from} to {to} are {} days", days + 1),
            format!("look at no more than {MAX_DAYS} days at a time"),
        ));
    }
    let at = |day: Date, hour: i64| -> Result<i64, jiff::Error> {
        let reading = day.at(0, 0, 0, 0).checked_add(hour.hours())?;
        Ok(reading.to_zoned(zone.zone.clone())?.timestamp().as_second())
    };
    (0..=days)
        .map(|days| {
            let day = from.checked_add(days.days())?;
            Ok(at(day, hours.start)?..at(day, hours.end)?)
        })
        .collect::<Result<_, _>>()
        .map_err(out_of_range)
}

/// What the events, sorted by their start, leave of a window.
fn free(window: &Range<i64>, busy: &[(i64, i64)]) -> Vec<Range<i64>> {
    let mut gaps = Vec::new();
    let mut cursor = window.start;
    for &(start, end) in busy {
        if start > cursor {
            gaps.push(cursor..start.min(window.end));
        }
        cursor = cursor.max(end);
        if cursor >= window.end {
            return gaps;
        }
    }
    gaps.push(cursor..window.end);
    gaps
}

fn describe(gap: &Range<i64>, zone: &Zone) -> Result<Gap, ToolError> {
    let local = |second| -> Result<String, ToolError> {
        let moment = Timestamp::from_second(second).map_err(out_of_range)?;
        Ok(moment::rfc3339(&moment.to_zoned(zone.zone.clone())))
    };
    Ok(Gap { start: local(gap.start)?, end: local(gap.end)?, minutes: (gap.end - gap.start) / 60 })
}
