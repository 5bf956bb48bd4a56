//! `calendar`: events in `{scratch}/events.sqlite`. All times are in UTC.

use std::path::Path;

use serde_json::json;

use crate::{
    DemoError,
    caller::{Answer, Caller, Confirmation},
    database::{Database, Rows},
    error::ToolError,
    fields::{Arguments, Field, flag, id, integer, text},
    tool::{
        Effect::{Adds, Overwrites, Reads, Removes},
        Tool, tool,
    },
};

pub(crate) async fn open(scratch: &Path) -> Result<Vec<Tool>, DemoError> {
    let events = Database::open(scratch, "event", include_str!("calendar.sql")).await?;
    let mut tools = changes(&events);
    tools.extend(queries(&events));
    tools.push(current_time(&events));
    Ok(tools)
}

fn changes(events: &Database) -> Vec<Tool> {
    let title = text("title", "What happens.").up_to(200);
    let start = moment("start", "When it begins, in UTC, such as 2026-10-05T09:00.");
    let end = moment("end", "When it ends, in UTC.");
    let details = [
        text("location", "Where it takes place.").up_to(200).or_empty(),
        text("notes", "Anything else worth knowing.").up_to(2_000).or_empty(),
    ];
    let cleared = events.clone();
    vec![
        tool("create_event", Adds, "Put an event into the calendar.")
            .takes([title.clone(), start.clone(), end.clone()])
            .takes(details.clone().map(|field| field.or("")))
            .gives(event())
            .runs(
                events,
                "INSERT INTO events (title, start, end, location, notes)
                 VALUES (?1 ->> 'title', ?1 ->> 'start', ?1 ->> 'end', ?1 ->> 'location', ?1 ->> 'notes')
                 RETURNING *",
            ),
        tool(
            "update_event",
            Overwrites,
            "Change an event's title, location or notes; move_event changes its time. What is not \
             given stays as it is.",
        )
        .takes([the_id(), title.optional()])
        .takes(details.map(Field::optional))
        .gives(event())
        .runs(
            events,
            "UPDATE events SET title = coalesce(?1 ->> 'title', title),
                    location = coalesce(?1 ->> 'location', location),
                    notes = coalesce(?1 ->> 'notes', notes)
             WHERE id = ?1 ->> 'id' RETURNING *",
        ),
        tool("move_event", Overwrites, "Move an event to another time.")
            .takes([the_id(), start, end])
            .gives(event())
            .runs(
                events,
                "UPDATE events SET start = ?1 ->> 'start', end = ?1 ->> 'end'
                 WHERE id = ?1 ->> 'id' RETURNING *",
            ),
        tool("delete_event", Removes, "Delete one event. This cannot be undone.")
            .takes([the_id()])
            .gives([integer("deleted", "Id of the event that is no longer there.")])
            .runs(events, "DELETE FROM events WHERE id = ?1 ->> 'id' RETURNING id AS deleted"),
        tool(
            "clear_events",
            Removes,
            "Delete every event that begins in a span of time, after asking the user. This cannot \
             be undone.",
        )
        .takes(span())
        .gives([
            flag("confirmed", "Whether the user agreed."),
            integer("deleted", "How many events are no longer there."),
        ])
        .waits(move |arguments, caller| clear_events(cleared.clone(), arguments, caller)),
    ]
}

async fn clear_events(
    events: Database,
    arguments: Arguments,
    caller: Caller,
) -> Result<Answer, ToolError> {
    let found = events
        .run(
            "SELECT count(*) AS events FROM events
             WHERE start >= ?1 ->> 'from' AND start < ?1 ->> 'to'",
            &arguments,
            &Rows::One,
            &[integer("events", "")],
        )
        .await?;
    let count = &found["events"];
    let (from, to) = (arguments.text("from"), arguments.text("to"));
    match caller.confirm(&format!("Delete {count} events from {from} to {to}?")).await? {
        Confirmation::Awaited(question) => Ok(Answer::Question(question)),
        Confirmation::Refused => Ok(json!({ "confirmed": false, "deleted": 0 }).into()),
        Confirmation::Given => {
            let deleted = events
                .run(
                    "DELETE FROM events WHERE start >= ?1 ->> 'from' AND start < ?1 ->> 'to'
                     RETURNING id",
                    &arguments,
                    &Rows::All { name: "events", entry: vec![integer("id", "")] },
                    &[],
                )
                .await?;
            let deleted = deleted["events"].as_array().map_or(0, Vec::len);
            Ok(json!({ "confirmed": true, "deleted": deleted }).into())
        }
    }
}

fn queries(events: &Database) -> Vec<Tool> {
    vec![
        tool("get_event", Reads, "Show one event of the calendar.")
            .takes([the_id()])
            .gives(event())
            .runs(events, "SELECT * FROM events WHERE id = ?1 ->> 'id'"),
        tool(
            "list_events",
            Reads,
            "List events by time, all or those that overlap a span of time.",
        )
        .takes(span().map(Field::optional))
        .gives_page("events", event())
        .runs(
            events,
            "SELECT * FROM events
             WHERE end > coalesce(?1 ->> 'from', '') AND start < coalesce(?1 ->> 'to', '9999')
             ORDER BY start, id LIMIT (?1 ->> 'limit') + 1 OFFSET ?1 ->> 'offset'",
        ),
        tool(
            "find_free_time",
            Reads,
            "Find the gaps between events in a span of time that are long enough for a meeting.",
        )
        .takes(span())
        .takes([integer("minutes", "How long the meeting takes.").within(5..=1_440)])
        .gives_all(
            "gaps",
            vec![
                text("start", "When the gap begins, in UTC."),
                text("end", "When it ends."),
                integer("minutes", "How long it is."),
            ],
        )
        .runs(
            events,
            "WITH span AS (SELECT ?1 ->> 'from' AS first, ?1 ->> 'to' AS last),
                  begins AS (SELECT first AS at FROM span UNION
                             SELECT end FROM events, span WHERE end > first AND end < last),
                  gaps AS (SELECT at AS start,
                                  min(last, coalesce((SELECT min(start) FROM events WHERE start >= at), last)) AS end
                           FROM begins, span
                           WHERE NOT EXISTS (SELECT 1 FROM events WHERE start <= at AND end > at))
             SELECT start, end, (unixepoch(end) - unixepoch(start)) / 60 AS minutes FROM gaps
             WHERE minutes >= ?1 ->> 'minutes' ORDER BY start LIMIT 100",
        ),
    ]
}

fn current_time(events: &Database) -> Tool {
    tool("get_current_time", Reads, "Tell the current date and time in UTC.")
        .gives([text("time", "Such as 2026-10-05T09:00."), text("weekday", "Such as \"Mon\".")])
        .runs(
            events,
            "SELECT strftime('%FT%R', 'now') AS time,
                    substr('SunMonTueWedThuFriSat', strftime('%w', 'now') * 3 + 1, 3) AS weekday",
        )
}

fn the_id() -> Field {
    id("id", "The event's id.")
}

/// A date and time in UTC. The table's constraints reject anything else.
fn moment(name: &'static str, about: &'static str) -> Field {
    text(name, about).up_to(16)
}

fn span() -> [Field; 2] {
    [
        moment("from", "Begin of the span, in UTC, such as 2026-10-05T00:00."),
        moment("to", "End of the span; not part of it."),
    ]
}

fn event() -> Vec<Field> {
    vec![
        integer("id", "Number to name the event by."),
        text("title", "What happens."),
        text("start", "When it begins, in UTC."),
        text("end", "When it ends, in UTC."),
        text("location", "Where it takes place."),
        text("notes", "Anything else worth knowing."),
    ]
}
