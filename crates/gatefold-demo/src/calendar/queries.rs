//! Looking events up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Limit, Offset, Page, Text},
    calendar::{
        Event, fetch,
        moment::{Moment, Zone},
    },
    database,
    error::ToolError,
};

/// Show one event: when and where it is, and its notes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetEvent {
    /// The event's id.
    id: Id,
}

/// List the events that take place at least in part between two moments, earliest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEvents {
    /// Only events that end after this: "2026-10-05", "2026-10-05T09:00" or RFC 3339. Default:
    /// from the first event on.
    from: Option<Moment>,
    /// Only events that start before this. Default: to the last event.
    to: Option<Moment>,
    /// IANA time zone in which from and to are read. Default "UTC".
    time_zone: Option<Zone>,
    /// Most events to return. Default 20.
    limit: Option<Limit>,
    /// Events to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

/// Find events in whose title, location or notes every word of the query occurs, earliest first.
/// Upper and lower case are the same for the letters A to Z.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchEvents {
    /// Words to look for.
    query: Text<1, 200>,
    /// Most events to return. Default 20.
    limit: Option<Limit>,
    /// Events to skip, from next_offset of the page before.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Events {
    events: Vec<Event>,
    /// Offset of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<usize>,
}

pub(super) async fn get_event(db: SqlitePool, arguments: GetEvent) -> Result<Event, ToolError> {
    fetch(&db, arguments.id).await
}

pub(super) async fn list_events(
    db: SqlitePool,
    arguments: ListEvents,
) -> Result<Events, ToolError> {
    let zone = arguments.time_zone.unwrap_or_else(Zone::utc);
    let second = |moment: Option<Moment>| -> Result<Option<i64>, ToolError> {
        moment.map(|moment| Ok(moment.in_zone(&zone)?.timestamp().as_second())).transpose()
    };
    let page = Page::new(arguments.limit, arguments.offset);
    let mut events = sqlx::query_as(
        "SELECT * FROM events
         WHERE (?1 IS NULL OR end_s > ?1) AND (?2 IS NULL OR start_s < ?2)
         ORDER BY start_s, id LIMIT ?3 OFFSET ?4",
    )
    .bind(second(arguments.from)?)
    .bind(second(arguments.to)?)
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let next_offset = page.cut(&mut events);
    Ok(Events { events, next_offset })
}

pub(super) async fn search_events(
    db: SqlitePool,
    arguments: SearchEvents,
) -> Result<Events, ToolError> {
    let page = Page::new(arguments.limit, arguments.offset);
    let mut events = sqlx::query_as(
        "SELECT * FROM events
         WHERE NOT EXISTS (
             SELECT 1 FROM json_each(?1) AS word
             WHERE instr(lower(title || ' ' || location || ' ' || notes), word.value) = 0)
         ORDER BY start_s, id LIMIT ?2 OFFSET ?3",
    )
    .bind(database::words(&arguments.query))
    .bind(page.fetch())
    .bind(page.skip())
    .fetch_all(&db)
    .await?;
    let next_offset = page.cut(&mut events);
    Ok(Events { events, next_offset })
}
