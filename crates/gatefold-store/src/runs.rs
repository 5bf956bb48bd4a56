//! Runs and their journals.

use std::time::Duration;

use gatefold_core::{ApprovalId, Timestamp};
use gatefold_dispatch::{
    DataOwner, Journal, JournalError, Journaled, NewRun, NewRunEvent, RUN_EVENT_BYTES, RUN_EVENTS,
    Run, RunEvent, RunId, RunKind, RunOutcome, RunPhase, ThreadId,
};
use serde_json::value::RawValue;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tokio::time::sleep;

use crate::Store;
use crate::database::millis;
use crate::store::StoreInner;

/// How long a reader waits before it looks for events that another process wrote.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// The most runs, and the most events, that are read at once.
pub(crate) const READ: u32 = 1_000;

const BEGIN: &str = "
    INSERT INTO runs (id, owner, kind, subject, parent, began_at, last, thread)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)";

/// Its thread is used then.
const USE_THREAD: &str = "UPDATE threads SET used_at = ?3 WHERE owner = ?1 AND id = ?2";

/// Only as its writer left it.
const ADVANCE: &str = "
    UPDATE runs SET last = ?3 WHERE id = ?1 AND last = ?2 AND ended_at IS NULL";

const ADD: &str =
    "INSERT INTO run_events (run, number, at, kind, json) VALUES (?1, ?2, ?3, ?4, ?5)";

const END: &str = "
    UPDATE runs SET ended_at = ?3, outcome = ?4 WHERE id = ?1 AND last = ?2 AND ended_at IS NULL";

const STATE: &str = "SELECT last, ended_at FROM runs WHERE id = ?1";

const ONE: &str = "SELECT * FROM runs WHERE owner = ?1 AND id = ?2";

const LIST: &str = "SELECT * FROM runs WHERE owner = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";

const EVENTS: &str = "
    SELECT * FROM run_events WHERE run = ?1 AND number > ?2 ORDER BY number LIMIT ?3";

/// Each takes a time and the number of rows for one step. What has ended before then is deleted, but a conversation
/// as a whole: once none of its runs has begun since.
pub(crate) const PRUNE_EVENTS: &str = "
    DELETE FROM run_events WHERE rowid IN (
        SELECT run_events.rowid FROM run_events JOIN runs ON runs.id = run_events.run
        WHERE (runs.thread IS NULL AND runs.ended_at < ?1)
            OR runs.thread IN (SELECT id FROM threads WHERE used_at < ?1)
        LIMIT ?2
    )";
pub(crate) const PRUNE_RUNS: &str = "
    DELETE FROM runs WHERE id IN (
        SELECT id FROM runs
        WHERE (thread IS NULL AND ended_at < ?1)
            OR thread IN (SELECT id FROM threads WHERE used_at < ?1)
        LIMIT ?2
    )";

impl Journal for Store {
    fn begin(&self, run: NewRun) -> Journaled<'_, ()> {
        Box::pin(async move {
            let store = self.inner();
            let begun = begin(&mut *store.connection().await, &run, store.now()).await;
            let has_begun = begun.map_err(|source| unusable(store, source))?;
            has_begun.then_some(()).ok_or(JournalError::UnknownThread)
        })
    }

    fn append(&self, run: RunId, last: u64, events: Vec<NewRunEvent>) -> Journaled<'_, u64> {
        Box::pin(async move {
            let new_last = last.saturating_add(events.len() as u64);
            if new_last > RUN_EVENTS {
                return Err(JournalError::TooManyEvents);
            }
            if events.iter().any(|event| event.json.get().len() > RUN_EVENT_BYTES) {
                return Err(JournalError::TooLargeEvent);
            }
            let store = self.inner();
            let mut connection = store.connection().await;
            let added = add(&mut connection, run, (last, new_last), &events, store.now()).await;
            if added.map_err(|source| unusable(store, source))? {
                store.journaled.notify_waiters();
                return Ok(new_last);
            }
            Err(why_not(store, &mut connection, run).await)
        })
    }

    fn end(&self, run: RunId, last: u64, outcome: RunOutcome) -> Journaled<'_, ()> {
        Box::pin(async move {
            let store = self.inner();
            let mut connection = store.connection().await;
            let query = sqlx::query(END)
                .bind(run.to_string())
                .bind(last.cast_signed())
                .bind(millis(store.now()))
                .bind(outcome_text(outcome));
            let ended = query.execute(&mut *connection).await;
            if ended.map_err(|source| unusable(store, source))?.rows_affected() == 1 {
                store.journaled.notify_waiters();
                return Ok(());
            }
            Err(why_not(store, &mut connection, run).await)
        })
    }

    fn run<'a>(&'a self, owner: &'a DataOwner, run: RunId) -> Journaled<'a, Option<Run>> {
        Box::pin(async move {
            let store = self.inner();
            let query = sqlx::query(ONE).bind(owner.as_bytes()).bind(run.to_string());
            let row = query.fetch_optional(&mut *store.connection().await).await;
            let run = row.and_then(|row| row.as_ref().map(|row| read_run(store, row)).transpose());
            run.map_err(|source| unusable(store, source))
        })
    }

    fn runs<'a>(
        &'a self,
        owner: &'a DataOwner,
        before: Option<RunId>,
        limit: u32,
    ) -> Journaled<'a, Vec<Run>> {
        Box::pin(async move {
            let store = self.inner();
            // Behind every id, which is of hexadecimal digits.
            let before = before.map_or_else(|| "g".to_owned(), |run| run.to_string());
            let query = sqlx::query(LIST).bind(owner.as_bytes()).bind(before).bind(limit.min(READ));
            let rows = query.fetch_all(&mut *store.connection().await).await;
            let runs = rows.and_then(|rows| rows.iter().map(|row| read_run(store, row)).collect());
            runs.map_err(|source| unusable(store, source))
        })
    }

    fn events<'a>(
        &'a self,
        owner: &'a DataOwner,
        run: RunId,
        after: u64,
        limit: u32,
    ) -> Journaled<'a, Vec<RunEvent>> {
        Box::pin(async move {
            self.run(owner, run).await?.ok_or(JournalError::UnknownRun)?;
            let store = self.inner();
            let query = sqlx::query(EVENTS)
                .bind(run.to_string())
                .bind(after.cast_signed())
                .bind(limit.min(READ));
            let rows = query.fetch_all(&mut *store.connection().await).await;
            let events = rows.and_then(|rows| rows.iter().map(read_event).collect());
            events.map_err(|source| unusable(store, source))
        })
    }

    fn follow<'a>(
        &'a self,
        owner: &'a DataOwner,
        run: RunId,
        after: u64,
        limit: u32,
    ) -> Journaled<'a, Vec<RunEvent>> {
        Box::pin(async move {
            loop {
                // Before it looks: what is written from here on wakes it.
                let written = self.inner().journaled.notified();
                // Before the events: a run that has ended gets no more.
                let known = self.run(owner, run).await?.ok_or(JournalError::UnknownRun)?;
                let events = self.events(owner, run, after, limit).await?;
                if !events.is_empty() || known.end.is_some() {
                    return Ok(events);
                }
                tokio::select! {
                    () = written => {}
                    () = sleep(LOOK_AGAIN) => {}
                }
            }
        })
    }
}

/// Whether the run has begun: there is the thread that it belongs to, if it belongs to one.
async fn begin(
    connection: &mut SqliteConnection,
    run: &NewRun,
    now: Timestamp,
) -> sqlx::Result<bool> {
    let thread = run.thread.map(|thread| thread.to_string());
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    if let Some(thread) = &thread {
        let used = sqlx::query(USE_THREAD)
            .bind(run.owner.as_bytes())
            .bind(thread)
            .bind(millis(now))
            .execute(&mut *transaction)
            .await?;
        if used.rows_affected() == 0 {
            return Ok(false);
        }
    }
    sqlx::query(BEGIN)
        .bind(run.id.to_string())
        .bind(run.owner.as_bytes())
        .bind(kind_text(run.kind))
        .bind(&run.subject)
        .bind(run.parent.map(|parent| parent.to_string()))
        .bind(millis(now))
        .bind(thread)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

/// Whether the events were added: nobody else has written, and the run goes on.
async fn add(
    connection: &mut SqliteConnection,
    run: RunId,
    (last, new_last): (u64, u64),
    events: &[NewRunEvent],
    now: Timestamp,
) -> sqlx::Result<bool> {
    let run = run.to_string();
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let advanced = sqlx::query(ADVANCE)
        .bind(&run)
        .bind(last.cast_signed())
        .bind(new_last.cast_signed())
        .execute(&mut *transaction)
        .await?;
    if advanced.rows_affected() == 0 {
        return Ok(false);
    }
    for (number, event) in (last.cast_signed() + 1..).zip(events) {
        sqlx::query(ADD)
            .bind(&run)
            .bind(number)
            .bind(millis(now))
            .bind(event.kind)
            .bind(event.json.get())
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// Why nothing was written to a run.
async fn why_not(
    store: &StoreInner,
    connection: &mut SqliteConnection,
    run: RunId,
) -> JournalError {
    let query = sqlx::query_as(STATE).bind(run.to_string());
    let state: sqlx::Result<Option<(i64, Option<i64>)>> = query.fetch_optional(connection).await;
    match state {
        Ok(None) => JournalError::UnknownRun,
        Ok(Some((_, Some(_)))) => JournalError::RunEnded,
        Ok(Some((last, None))) => JournalError::Overtaken { last: last.cast_unsigned() },
        Err(source) => unusable(store, source),
    }
}

pub(crate) fn unusable(store: &StoreInner, source: sqlx::Error) -> JournalError {
    JournalError::Unusable(store.error(source).into())
}

pub(crate) fn read_run(store: &StoreInner, row: &SqliteRow) -> sqlx::Result<Run> {
    let ended_at: Option<i64> = row.try_get("ended_at")?;
    let end =
        ended_at.map(|at| Ok::<_, sqlx::Error>((moment(at), read_outcome(row)?))).transpose()?;
    let parent: Option<String> = row.try_get("parent")?;
    Ok(Run {
        id: read_id(row.try_get("id")?)?,
        kind: match row.try_get("kind")? {
            "agent" => RunKind::Agent,
            "workflow" => RunKind::Workflow,
            other => return Err(unreadable("kind", other)),
        },
        subject: row.try_get("subject")?,
        parent: parent.as_deref().map(read_id).transpose()?,
        thread: row.try_get::<Option<&str>, _>("thread")?.and_then(ThreadId::parse),
        began_at: moment(row.try_get("began_at")?),
        end,
        last: row.try_get::<i64, _>("last")?.cast_unsigned(),
        phase: if ended_at.is_some() { RunPhase::Ended } else { read_phase(store, row)? },
    })
}

/// Where a run is that has not ended.
fn read_phase(store: &StoreInner, row: &SqliteRow) -> sqlx::Result<RunPhase> {
    if row.try_get::<Option<i64>, _>("driver")?.is_some_and(|driver| store.is_alive(driver)) {
        return Ok(RunPhase::Driven);
    }
    let Some(waiting) = row.try_get::<Option<&str>, _>("waiting")? else {
        return Ok(RunPhase::Interrupted);
    };
    let ids: Vec<String> =
        serde_json::from_str(waiting).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(RunPhase::Waiting(ids.into_iter().map(ApprovalId::new).collect()))
}

fn read_outcome(row: &SqliteRow) -> sqlx::Result<RunOutcome> {
    match row.try_get("outcome")? {
        "done" => Ok(RunOutcome::Done),
        "failed" => Ok(RunOutcome::Failed),
        "cancelled" => Ok(RunOutcome::Cancelled),
        other => Err(unreadable("outcome", other)),
    }
}

fn read_event(row: &SqliteRow) -> sqlx::Result<RunEvent> {
    let json: String = row.try_get("json")?;
    Ok(RunEvent {
        number: row.try_get::<i64, _>("number")?.cast_unsigned(),
        at: moment(row.try_get("at")?),
        kind: row.try_get("kind")?,
        json: RawValue::from_string(json).map_err(|error| sqlx::Error::Decode(error.into()))?,
    })
}

pub(crate) fn read_id(text: &str) -> sqlx::Result<RunId> {
    RunId::parse(text).ok_or_else(|| unreadable("id", text))
}

pub(crate) fn unreadable(column: &str, value: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("`{value}` is no {column} of a run").into())
}

pub(crate) fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis.cast_unsigned())
}

fn kind_text(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Agent => "agent",
        RunKind::Workflow => "workflow",
    }
}

fn outcome_text(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Done => "done",
        RunOutcome::Failed => "failed",
        RunOutcome::Cancelled => "cancelled",
    }
}
