//! `calendar`: events in `{scratch}/calendar.db`, and reckoning with dates and time zones.

mod clock;
mod events;
mod free;
mod moment;
mod month;
mod queries;

use std::path::Path;

use jiff::{Timestamp, tz::TimeZone};
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::{FromRow, Row, SqliteExecutor, sqlite::SqliteRow};

use crate::{
    DemoError,
    arguments::Id,
    database,
    error::{ToolError, refuse},
    toolbox::{Effect, Tool, Toolbox},
};

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let db = database::open(scratch, "calendar.db", include_str!("calendar/first.sql")).await?;
    Ok(Toolbox::new(db)
        .waiting("create_event", Effect::Adds, events::create_event)
        .waiting("get_event", Effect::Reads, queries::get_event)
        .waiting("list_events", Effect::Reads, queries::list_events)
        .waiting("search_events", Effect::Reads, queries::search_events)
        .waiting("update_event", Effect::Overwrites, events::update_event)
        .waiting("move_event", Effect::Overwrites, events::move_event)
        .waiting("delete_event", Effect::Removes, events::delete_event)
        .waiting("find_free_time", Effect::Reads, free::find_free_time)
        .add("render_month", Effect::Reads, month::render_month)
        .pure("get_current_time", clock::get_current_time)
        .pure("convert_time", clock::convert_time)
        .pure("add_to_date", clock::add_to_date)
        .pure("time_between", clock::time_between)
        .infallible("describe_date", clock::describe_date)
        .infallible("list_time_zones", clock::list_time_zones)
        .into_tools())
}

#[derive(Debug, Serialize, JsonSchema)]
struct Event {
    id: i64,
    title: String,
    /// Start in the event's own time zone, RFC 3339.
    start: String,
    /// End in the event's own time zone, RFC 3339.
    end: String,
    /// IANA name.
    time_zone: String,
    duration_minutes: i64,
    /// Empty when none was given, as are the notes.
    location: String,
    notes: String,
}

impl FromRow<'_, SqliteRow> for Event {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let (start_s, end_s): (i64, i64) = (row.try_get("start_s")?, row.try_get("end_s")?);
        let time_zone: String = row.try_get("zone")?;
        let local = |second| -> Result<String, jiff::Error> {
            let zone = TimeZone::get(&time_zone)?;
            Ok(moment::rfc3339(&Timestamp::from_second(second)?.to_zoned(zone)))
        };
        let decode = |error: jiff::Error| sqlx::Error::Decode(error.into());
        Ok(Self {
            id: row.try_get("id")?,
            title: row.try_get("title")?,
            start: local(start_s).map_err(decode)?,
            end: local(end_s).map_err(decode)?,
            time_zone,
            duration_minutes: (end_s - start_s) / 60,
            location: row.try_get("location")?,
            notes: row.try_get("notes")?,
        })
    }
}

/// Reads one event; that it is missing is the caller's mistake.
async fn fetch(db: impl SqliteExecutor<'_>, id: Id) -> Result<Event, ToolError> {
    sqlx::query_as("SELECT * FROM events WHERE id = ?1")
        .bind(id.get())
        .fetch_optional(db)
        .await?
        .ok_or_else(|| missing(id))
}

fn missing(id: Id) -> ToolError {
    refuse(format!("there is no event {}", id.get()), "list_events and search_events give the ids")
}
