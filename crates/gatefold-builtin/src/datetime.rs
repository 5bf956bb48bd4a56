//! `datetime`: the time now, zones, differences, durations and facts of the calendar.

mod moment;

use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Clock;
use jiff::fmt::friendly::{Designator, Spacing, SpanPrinter};
use jiff::tz::TimeZone;
use jiff::{Span, Unit, Zoned};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};
use moment::ReadMoment;

/// The longest time, zone or duration, in bytes.
const MAX_TEXT: usize = 100;

const ACTIONS: [&str; 5] = ["now", "convert", "difference", "add", "facts"];

pub(crate) struct Datetime {
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DatetimeArguments {
    action: DatetimeAction,
    time: Option<String>,
    until: Option<String>,
    duration: Option<String>,
    zone: Option<String>,
    to_zone: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum DatetimeAction {
    Now,
    Convert,
    Difference,
    Add,
    Facts,
}

/// One moment, with all that a calendar says of its day.
#[derive(Serialize)]
struct MomentAnswer {
    time: String,
    utc: String,
    unix_seconds: i64,
    zone: String,
    weekday: &'static str,
    iso_week: String,
    day_of_year: i16,
    days_in_month: i8,
    leap_year: bool,
    quarter: i8,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

#[derive(Serialize)]
struct DifferenceAnswer {
    from: String,
    until: String,
    calendar: String,
    exact: String,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl Datetime {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }

    fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: DatetimeArguments = arguments::read(&call.arguments)?;
        let texts = [&asked.time, &asked.until, &asked.duration, &asked.zone, &asked.to_zone];
        let names = ["time", "until", "duration", "zone", "to_zone"];
        for (text, name) in texts.into_iter().zip(names) {
            arguments::bounded(name, text.as_deref().unwrap_or_default(), MAX_TEXT)?;
        }
        let zone = asked.zone.as_deref().map(moment::zone).transpose()?;
        match asked.action {
            DatetimeAction::Now => Ok(shown(&self.moment(None, zone.as_ref())?)),
            DatetimeAction::Facts => Ok(shown(&self.moment(asked.time.as_deref(), zone.as_ref())?)),
            DatetimeAction::Convert => {
                let time = arguments::needed("time", "convert", asked.time)?;
                let to = arguments::needed("to_zone", "convert", asked.to_zone)?;
                let read = self.moment(Some(&time), zone.as_ref())?;
                let moved = read.zoned.with_time_zone(moment::zone(&to)?);
                Ok(shown(&ReadMoment { zoned: moved, note: read.note }))
            }
            DatetimeAction::Add => {
                let duration = arguments::needed("duration", "add", asked.duration)?;
                let read = self.moment(asked.time.as_deref(), zone.as_ref())?;
                let moved = read.zoned.checked_add(span(&duration)?).map_err(out_of_range)?;
                Ok(shown(&ReadMoment { zoned: moved, note: read.note }))
            }
            DatetimeAction::Difference => {
                let from = self.moment(asked.time.as_deref(), zone.as_ref())?;
                let until = self.moment(asked.until.as_deref(), zone.as_ref())?;
                difference(&from, &until)
            }
        }
    }

    /// The time that a text means, or now without one.
    fn moment(
        &self,
        text: Option<&str>,
        zone: Option<&TimeZone>,
    ) -> Result<ReadMoment, BuiltinError> {
        moment::read(text.unwrap_or("now"), zone, self.clock.now())
    }
}

fn span(text: &str) -> Result<Span, BuiltinError> {
    text.trim().parse().map_err(|_| {
        BuiltinError::arguments(format!(
            "`{text}` is no duration; write `2 months 3 days`, `-90 minutes`, or ISO 8601 like `P2M3D`"
        ))
    })
}

fn out_of_range(_: jiff::Error) -> BuiltinError {
    BuiltinError::arguments("the result is outside of the years -9999 to 9999")
}

fn difference(from: &ReadMoment, until: &ReadMoment) -> Result<BuiltinAnswer, BuiltinError> {
    let end = until.zoned.with_time_zone(from.zoned.time_zone().clone());
    let calendar = from.zoned.until((Unit::Year, &end)).map_err(out_of_range)?;
    let exact = from.zoned.duration_until(&end);
    let printer = SpanPrinter::new()
        .designator(Designator::Verbose)
        .spacing(Spacing::BetweenUnitsAndDesignators)
        .comma_after_designator(false);
    let answer = DifferenceAnswer {
        from: from.zoned.to_string(),
        until: end.to_string(),
        calendar: printer.span_to_string(&calendar),
        exact: exact_text(exact.as_secs(), exact.subsec_nanos()),
        seconds: exact.as_secs_f64(),
        note: from.note.or(until.note),
    };
    let mut text = format!("{} (exactly {})", answer.calendar, answer.exact);
    if let Some(note) = answer.note {
        text = format!("{text}; {note}");
    }
    Ok(BuiltinAnswer::new(text, &answer))
}

/// Days of 24 hours and what is left of them.
fn exact_text(seconds: i64, nanoseconds: i32) -> String {
    let sign = if seconds < 0 || nanoseconds < 0 { "-" } else { "" };
    let (all, fraction) = (seconds.unsigned_abs(), nanoseconds.unsigned_abs());
    let (days, hours) = (all / 86_400, all / 3600 % 24);
    let (minutes, seconds) = (all / 60 % 60, all % 60);
    let fraction = format!("{fraction:09}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{days} d {hours:02}:{minutes:02}:{seconds:02}{point}{fraction}")
}

fn shown(moment: &ReadMoment) -> BuiltinAnswer {
    let zoned = &moment.zoned;
    let week = zoned.date().iso_week_date();
    let answer = MomentAnswer {
        time: zoned.to_string(),
        utc: zoned.timestamp().to_string(),
        unix_seconds: zoned.timestamp().as_second(),
        zone: zone_name(zoned),
        weekday: weekday(zoned),
        iso_week: format!("{:04}-W{:02}", week.year(), week.week()),
        day_of_year: zoned.day_of_year(),
        days_in_month: zoned.days_in_month(),
        leap_year: zoned.in_leap_year(),
        quarter: (zoned.month() + 2) / 3,
        note: moment.note,
    };
    let leap = if answer.leap_year { "leap year" } else { "no leap year" };
    let mut text = format!(
        "{}, {}, {}, day {} of the year, {} days in the month, {leap}; UTC {}",
        answer.time,
        answer.weekday,
        answer.iso_week,
        answer.day_of_year,
        answer.days_in_month,
        answer.utc,
    );
    if let Some(note) = answer.note {
        text = format!("{text}; {note}");
    }
    BuiltinAnswer::new(text, &answer)
}

fn zone_name(zoned: &Zoned) -> String {
    let name = zoned.time_zone().iana_name();
    name.map_or_else(|| zoned.offset().to_string(), str::to_owned)
}

fn weekday(zoned: &Zoned) -> &'static str {
    use jiff::civil::Weekday;
    match zoned.weekday() {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

impl BuiltinTool for Datetime {
    fn face(&self) -> ToolFace {
        let time = "`now`, a date, a date and time, one with an offset (RFC 3339) or a zone \
                    (`2026-03-01T12:00[Europe/Berlin]`), or `@` and Unix seconds.";
        ToolFace {
            name: "datetime",
            title: "Date and time",
            description: "Tell the current time in any zone, convert times between zones, measure the \
                          time between two moments, add or subtract durations, and look up weekday, \
                          ISO week, day of the year, days in the month and leap years."
                .to_owned(),
            category: ToolCategory::Computation,
            // The answer differs from second to second, and nothing changes by asking.
            hints: face::reading(),
            input: face::object(
                &json!({
                    "action": face::choice(
                        "`now`; `convert` needs `time` and `to_zone`; `difference` is from `time` to \
                         `until`; `add` needs `duration`; `facts` is about `time`.",
                        &ACTIONS,
                    ),
                    "time": face::text(&format!("{time} Now if it is left out.")),
                    "until": face::text("For `difference`: the other time, written alike."),
                    "duration": face::text(
                        "For `add`: `1 year 2 weeks`, `-90 minutes`, `P1Y2W`. Months keep the day where \
                         they can.",
                    ),
                    "zone": face::text(
                        "The IANA zone of times that name none, such as `Europe/Berlin`. UTC if it is \
                         left out.",
                    ),
                    "to_zone": face::text("For `convert`: the IANA zone to convert to."),
                }),
                &["action"],
            ),
            output: output(),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        async move { self.answer(call) }.boxed()
    }
}

fn output() -> Value {
    face::object(
        &json!({
            "time": face::text("RFC 9557, with offset and zone."),
            "utc": face::text("The same moment in UTC."),
            "unix_seconds": { "type": "integer" },
            "zone": { "type": "string" },
            "weekday": { "type": "string" },
            "iso_week": { "type": "string" },
            "day_of_year": { "type": "integer" },
            "days_in_month": { "type": "integer" },
            "leap_year": { "type": "boolean" },
            "quarter": { "type": "integer" },
            "from": { "type": "string" },
            "until": { "type": "string" },
            "calendar": face::text("Of a difference: in years, months, days and so on."),
            "exact": face::text("Of a difference: in days of 24 hours."),
            "seconds": { "type": "number" },
            "note": { "type": "string" },
        }),
        &[],
    )
}
