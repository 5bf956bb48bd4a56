//! Reckoning with dates and time zones, without the calendar's events.

use jiff::{Span, Timestamp, Unit, civil::Date};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Integer, Limit, List, Offset, Page, Text},
    calendar::moment::{Day, Moment, Zone, out_of_range, rfc3339},
    error::ToolError,
};

/// How much of one unit can be added at a time.
type Amount = Integer<-100_000, 100_000>;

/// Tell the present date and time in a time zone, to the second.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetCurrentTime {
    /// IANA time zone such as "Europe/Oslo". Default "UTC".
    time_zone: Option<Zone>,
}

/// Tell what one moment is in other time zones.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConvertTime {
    /// A wall clock reading in from_zone such as "2026-10-05T09:00", or RFC 3339 with an offset.
    time: Moment,
    /// IANA time zone of the reading; ignored when time has an offset. Default "UTC".
    from_zone: Option<Zone>,
    /// IANA time zones to convert to, at most 10.
    to_zones: List<Zone, 10>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Readings {
    readings: Vec<Reading>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Reading {
    /// IANA name.
    time_zone: String,
    /// RFC 3339 with the zone's offset.
    time: String,
    /// Such as "Monday".
    weekday: String,
}

/// Add or subtract years, months, weeks, days, hours and minutes. Larger units go first and
/// keep to the calendar: 31 January plus one month is the last day of February.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddToDate {
    /// Date or date and time to start from, such as "2026-10-05" or "2026-10-05T09:00".
    start: Moment,
    /// IANA time zone; a day may have 23 or 25 hours in it. Default "UTC".
    time_zone: Option<Zone>,
    /// Years to add; negative to subtract, as for the other units.
    years: Option<Integer<-1_000, 1_000>>,
    /// Months to add.
    months: Option<Amount>,
    /// Weeks to add.
    weeks: Option<Amount>,
    /// Days to add.
    days: Option<Amount>,
    /// Hours to add.
    hours: Option<Amount>,
    /// Minutes to add.
    minutes: Option<Amount>,
}

/// Tell how much time lies between two moments; negative when the end is before the start.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TimeBetween {
    /// Date or date and time, such as "2026-10-05" or "2026-10-05T09:00".
    start: Moment,
    /// Date or date and time.
    end: Moment,
    /// IANA time zone of both. Default "UTC".
    time_zone: Option<Zone>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Between {
    total_seconds: i64,
    /// Difference of the two dates, whatever the time of day.
    calendar_days: i64,
    /// The whole as an ISO 8601 duration in calendar units, such as "P1Y2M3DT4H".
    duration: String,
}

/// Tell a date's weekday, ISO 8601 week, place in the year and whether the year is a leap year.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribeDate {
    /// Date such as "2026-10-05".
    date: Day,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct DateFacts {
    date: String,
    /// Such as "Monday".
    weekday: String,
    /// ISO 8601 week as "2026-W41".
    iso_week: String,
    day_of_year: i16,
    days_in_month: i8,
    leap_year: bool,
}

/// List the names of time zones, by name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTimeZones {
    /// Only names that hold this text, ignoring case, such as "europe/".
    filter: Option<Text<1, 60>>,
    /// Most names to return. Default 20.
    limit: Option<Limit>,
    /// Names to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ZoneNames {
    time_zones: Vec<String>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

pub(super) fn get_current_time(arguments: &GetCurrentTime) -> Result<Reading, ToolError> {
    read(Moment::Exact(Timestamp::now()), &zone_or_utc(arguments.time_zone.as_ref()))
}

pub(super) fn convert_time(arguments: &ConvertTime) -> Result<Readings, ToolError> {
    let from = zone_or_utc(arguments.from_zone.as_ref());
    let moment = Moment::Exact(arguments.time.in_zone(&from)?.timestamp());
    let readings =
        arguments.to_zones.iter().map(|zone| read(moment, zone)).collect::<Result<_, _>>()?;
    Ok(Readings { readings })
}

pub(super) fn add_to_date(arguments: &AddToDate) -> Result<Reading, ToolError> {
    let zone = zone_or_utc(arguments.time_zone.as_ref());
    let amount = |amount: Option<Amount>| amount.map_or(0, Integer::get);
    // The bounds of the arguments lie well inside those of a span, so none of these panics.
    let span = Span::new()
        .years(arguments.years.map_or(0, Integer::get))
        .months(amount(arguments.months))
        .weeks(amount(arguments.weeks))
        .days(amount(arguments.days));
    let clock = Span::new().hours(amount(arguments.hours)).minutes(amount(arguments.minutes));
    let start = arguments.start.in_zone(&zone)?;
    let end = start.checked_add(span).and_then(|day| day.checked_add(clock));
    read(Moment::Exact(end.map_err(out_of_range)?.timestamp()), &zone)
}

pub(super) fn time_between(arguments: &TimeBetween) -> Result<Between, ToolError> {
    let zone = zone_or_utc(arguments.time_zone.as_ref());
    let (start, end) = (arguments.start.in_zone(&zone)?, arguments.end.in_zone(&zone)?);
    let span = start.until((Unit::Year, &end)).map_err(out_of_range)?;
    Ok(Between {
        total_seconds: end.timestamp().as_second() - start.timestamp().as_second(),
        calendar_days: i64::from((end.date() - start.date()).get_days()),
        duration: span.to_string(),
    })
}

pub(super) fn describe_date(arguments: &DescribeDate) -> DateFacts {
    let date: Date = arguments.date.0;
    let week = date.iso_week_date();
    DateFacts {
        date: date.to_string(),
        weekday: date.strftime("%A").to_string(),
        iso_week: format!("{:04}-W{:02}", week.year(), week.week()),
        day_of_year: date.day_of_year(),
        days_in_month: date.days_in_month(),
        leap_year: date.in_leap_year(),
    }
}

pub(super) fn list_time_zones(arguments: &ListTimeZones) -> ZoneNames {
    let filter = arguments.filter.as_deref().unwrap_or_default().to_lowercase();
    let page = Page::new(arguments.limit, arguments.offset);
    let mut names: Vec<_> = jiff::tz::db()
        .available()
        .map(|name| name.as_str().to_owned())
        .filter(|name| name.to_lowercase().contains(&filter))
        .collect();
    names.sort_unstable();
    let mut time_zones = names.into_iter().skip(page.offset).take(page.limit + 1).collect();
    let next_offset = page.cut(&mut time_zones);
    ZoneNames { time_zones, next_offset }
}

fn read(moment: Moment, zone: &Zone) -> Result<Reading, ToolError> {
    let local = moment.in_zone(zone)?;
    Ok(Reading {
        time_zone: zone.name.clone(),
        time: rfc3339(&local),
        weekday: local.strftime("%A").to_string(),
    })
}

fn zone_or_utc(zone: Option<&Zone>) -> Zone {
    zone.cloned().unwrap_or_else(Zone::utc)
}
