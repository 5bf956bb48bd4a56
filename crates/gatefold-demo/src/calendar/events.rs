//! Planning, changing and deleting events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sqlx::SqlitePool;

use crate::{
    arguments::{Id, Integer, Text},
    calendar::{
        Event, fetch, missing,
        moment::{Moment, Zone},
    },
    error::ToolError,
};

type Title = Text<1, 200>;
type Location = Text<0, 200>;
type Notes = Text<0, 2_000>;
/// Five minutes to two weeks.
type Minutes = Integer<5, 20_160>;

/// Plan an event. Events may overlap; find_free_time shows gaps.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateEvent {
    /// What it is.
    title: Title,
    /// Start: a wall clock reading in time_zone such as "2026-10-05T09:00", or RFC 3339 with an
    /// offset.
    start: Moment,
    /// Length in minutes, at most two weeks.
    duration_minutes: Minutes,
    /// IANA time zone such as "Europe/Oslo". Default "UTC".
    time_zone: Option<Zone>,
    /// Where it is.
    location: Option<Location>,
    /// Anything worth remembering.
    notes: Option<Notes>,
}

/// Change an event's title, location or notes. What is not given stays as it is; an empty text
/// clears the location or the notes. Use move_event for the time.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateEvent {
    /// The event's id.
    id: Id,
    /// New title.
    title: Option<Title>,
    /// New location.
    location: Option<Location>,
    /// New notes, replacing the old ones.
    notes: Option<Notes>,
}

/// Move an event to another time. Its length stays unless a new one is given; the old time is
/// forgotten.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveEvent {
    /// The event's id.
    id: Id,
    /// New start: a wall clock reading in the event's time zone such as "2026-10-05T09:00", or
    /// RFC 3339 with an offset.
    start: Moment,
    /// New length in minutes.
    duration_minutes: Option<Minutes>,
}

/// Delete an event. This cannot be undone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteEvent {
    /// The event's id.
    id: Id,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deleted {
    /// Id of the event that is no longer there.
    deleted: i64,
}

pub(super) async fn create_event(
    db: SqlitePool,
    arguments: CreateEvent,
) -> Result<Event, ToolError> {
    let zone = arguments.time_zone.unwrap_or_else(Zone::utc);
    let start_s = arguments.start.in_zone(&zone)?.timestamp().as_second();
    let event = sqlx::query_as(
        "INSERT INTO events (title, start_s, end_s, zone, location, notes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING *",
    )
    .bind(&*arguments.title)
    .bind(start_s)
    .bind(start_s + arguments.duration_minutes.get() * 60)
    .bind(zone.name)
    .bind(arguments.location.as_deref().unwrap_or_default())
    .bind(arguments.notes.as_deref().unwrap_or_default())
    .fetch_one(&db)
    .await?;
    Ok(event)
}

pub(super) async fn update_event(
    db: SqlitePool,
    arguments: UpdateEvent,
) -> Result<Event, ToolError> {
    sqlx::query(
        "UPDATE events SET title = coalesce(?2, title), location = coalesce(?3, location),
                notes = coalesce(?4, notes)
         WHERE id = ?1",
    )
    .bind(arguments.id.get())
    .bind(arguments.title.as_deref())
    .bind(arguments.location.as_deref())
    .bind(arguments.notes.as_deref())
    .execute(&db)
    .await?;
    fetch(&db, arguments.id).await
}

pub(super) async fn move_event(db: SqlitePool, arguments: MoveEvent) -> Result<Event, ToolError> {
    let mut transaction = db.begin_with("BEGIN IMMEDIATE").await?;
    let before = fetch(&mut *transaction, arguments.id).await?;
    let zone = Zone::named(&before.time_zone)?;
    let minutes = arguments.duration_minutes.map_or(before.duration_minutes, Integer::get);
    let start_s = arguments.start.in_zone(&zone)?.timestamp().as_second();
    let event =
        sqlx::query_as("UPDATE events SET start_s = ?2, end_s = ?3 WHERE id = ?1 RETURNING *")
            .bind(arguments.id.get())
            .bind(start_s)
            .bind(start_s + minutes * 60)
            .fetch_one(&mut *transaction)
            .await?;
    transaction.commit().await?;
    Ok(event)
}

pub(super) async fn delete_event(
    db: SqlitePool,
    arguments: DeleteEvent,
) -> Result<Deleted, ToolError> {
    let id = arguments.id;
    let done = sqlx::query("DELETE FROM events WHERE id = ?1").bind(id.get()).execute(&db).await?;
    if done.rows_affected() == 0 {
        return Err(missing(id));
    }
    Ok(Deleted { deleted: id.get() })
}
