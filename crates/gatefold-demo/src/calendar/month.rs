//! A month as a picture.

use std::collections::BTreeSet;

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::Integer,
    calendar::moment::{Zone, out_of_range},
    error::ToolError,
    picture::{Canvas, Colour},
    toolbox::{Answer, Progress},
};

const CELL_WIDTH: usize = 24;
const CELL_HEIGHT: usize = 20;
/// A month never touches more than six weeks.
const WEEKS: usize = 6;
const DAYS: usize = 7;

/// Draw a month as a small PNG: one column a weekday from Monday on, days with events filled,
/// weekends shaded. Also names the days with events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RenderMonth {
    /// Year, from 1970 to 2999.
    year: Integer<1970, 2999>,
    /// Month, 1 for January.
    month: Integer<1, 12>,
    /// IANA time zone that decides on which day an event is. Default "UTC".
    time_zone: Option<Zone>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct MonthView {
    /// The month as "2026-10".
    month: String,
    /// Days of the month on which an event takes place at least in part.
    days_with_events: BTreeSet<i8>,
    /// Events that take place at least in part in the month.
    events: usize,
}

pub(super) async fn render_month(
    db: SqlitePool,
    arguments: RenderMonth,
    _: Progress,
) -> Result<Answer<MonthView>, ToolError> {
    let zone = arguments.time_zone.unwrap_or_else(Zone::utc).zone;
    let part = |value: i64| i16::try_from(value).unwrap_or(i16::MAX);
    let month = i8::try_from(arguments.month.get()).unwrap_or(i8::MAX);
    let first = Date::new(part(arguments.year.get()), month, 1).map_err(out_of_range)?;
    let next = first.checked_add(1.month()).map_err(out_of_range)?;
    let events: Vec<(i64, i64)> =
        sqlx::query_as("SELECT start_s, end_s FROM events WHERE end_s > ?1 AND start_s < ?2")
            .bind(midnight(first, &zone)?)
            .bind(midnight(next, &zone)?)
            .fetch_all(&db)
            .await?;
    let days_with_events = busy_days(first, next, &events, &zone)?;
    let name = first.strftime("%Y-%m").to_string();
    let png = draw(first, &name, &days_with_events);
    let month = MonthView { month: name, days_with_events, events: events.len() };
    Ok(Answer::with_png(month, png))
}

fn midnight(day: Date, zone: &TimeZone) -> Result<i64, ToolError> {
    let start = day.to_zoned(zone.clone()).map_err(out_of_range)?;
    Ok(start.timestamp().as_second())
}

fn busy_days(
    first: Date,
    next: Date,
    events: &[(i64, i64)],
    zone: &TimeZone,
) -> Result<BTreeSet<i8>, ToolError> {
    let date = |second| {
        let moment = Timestamp::from_second(second).map_err(out_of_range)?;
        Ok::<_, ToolError>(moment.to_zoned(zone.clone()).date())
    };
    let mut days = BTreeSet::new();
    for &(start_s, end_s) in events {
        let (start, last) = (date(start_s)?, date(end_s - 1)?);
        let inside = first.series(1.day()).take_while(|day| *day < next);
        days.extend(inside.filter(|day| (start..=last).contains(day)).map(Date::day));
    }
    Ok(days)
}

fn draw(first: Date, name: &str, busy: &BTreeSet<i8>) -> Vec<u8> {
    let mut canvas = Canvas::new(DAYS * CELL_WIDTH + 1, (WEEKS + 1) * CELL_HEIGHT + 1);
    canvas.write(4, 5, name, Colour::Ink);
    let lead = usize::try_from(first.weekday().to_monday_zero_offset()).unwrap_or(0);
    for day in 1..=first.days_in_month() {
        let index = lead + usize::try_from(day - 1).unwrap_or(0);
        let (column, row) = (index % DAYS, index / DAYS);
        let (x, y) = (column * CELL_WIDTH, (row + 1) * CELL_HEIGHT);
        let (ground, ink) = match (busy.contains(&day), column >= 5) {
            (true, _) => (Colour::Accent, Colour::Paper),
            (false, true) => (Colour::Shade, Colour::Ink),
            (false, false) => (Colour::Paper, Colour::Ink),
        };
        canvas.fill(x + 1, y + 1, CELL_WIDTH - 1, CELL_HEIGHT - 1, ground);
        canvas.write(x + 5, y + 5, &format!("{day:>2}"), ink);
    }
    canvas.into_png()
}
