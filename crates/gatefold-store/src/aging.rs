//! The date by which records grow old.
//!
//! A clock that is wrong for a minute must not erase a month of records. So the date that counts
//! follows a step of the system's clock bit by bit, while a store is open to see that the step
//! lasts, and goes back at once with a clock that was set back. It is kept in the database, since
//! a clock is wrong above all when a machine has just started.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, Timestamp};
use sqlx::{Connection as _, SqliteConnection};

use crate::database::millis;

/// How much of a step is believed for each moment that a store was open to see it: a day in an hour.
/// A machine that was off over night is believed within half an hour, a step of 40 days within 40.
pub const CATCH_UP: u32 = 24;

const DAY_S: u64 = 24 * 60 * 60;

const NOTED: &str = "SELECT believed, system FROM aging";

/// The date of the latest record, for a database that noted no date yet.
const LATEST: &str = "SELECT opened_at FROM calls ORDER BY seq DESC LIMIT 1";

const NOTE: &str = "
    INSERT INTO aging (one, believed, system) VALUES (1, ?1, ?2)
    ON CONFLICT DO UPDATE SET believed = excluded.believed, system = excluded.system";

/// The date that counts, as far as this process knows.
pub(crate) struct AgingClock {
    clock: Arc<dyn Clock>,
    last: Mutex<ClockReading>,
}

/// What was known at some moment.
#[derive(Clone, Copy)]
struct ClockReading {
    believed: Timestamp,
    /// The system's date then.
    system: Timestamp,
    /// By the clock's uptime.
    at: Duration,
}

impl AgingClock {
    /// A clock that believes in 1970 until somebody looks: nothing grows old.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (system, at) = (clock.now(), clock.uptime());
        let last = Mutex::new(ClockReading { believed: Timestamp::from_millis(0), system, at });
        Self { clock, last }
    }

    /// The date that counts now.
    pub(crate) fn now(&self) -> Timestamp {
        believed(self.last(), self.clock.now(), self.clock.uptime())
    }

    fn last(&self) -> ClockReading {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the date, and says which one counts.
    pub(crate) async fn look(&self, connection: &mut SqliteConnection) -> sqlx::Result<Timestamp> {
        let look = self.note(connection).await?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = look;
        let days = look.system.since(look.believed).as_secs() / DAY_S;
        if days > 0 {
            tracing::warn!(
                days,
                "the system's date is ahead of what is believed: records are kept until it has lasted"
            );
        }
        Ok(look.believed)
    }

    async fn note(&self, connection: &mut SqliteConnection) -> sqlx::Result<ClockReading> {
        let (system, at) = (self.clock.now(), self.clock.uptime());
        // Immediate, since another process may note it meanwhile.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let noted: Option<(i64, i64)> =
            sqlx::query_as(NOTED).fetch_optional(&mut *transaction).await?;
        let date = |millis: i64| Timestamp::from_millis(millis.cast_unsigned());
        let believed = if let Some((before, system_before)) = noted {
            let (before, system_before) = (date(before), date(system_before));
            let last = ClockReading { believed: before, system: system_before, at: self.last().at };
            believed(last, system, at)
        } else {
            let latest: Option<i64> =
                sqlx::query_scalar(LATEST).fetch_optional(&mut *transaction).await?;
            latest.map_or(system, |latest| system.min(date(latest)))
        };
        let note = sqlx::query(NOTE).bind(millis(believed)).bind(millis(system));
        note.execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(ClockReading { believed, system, at })
    }
}

/// What to believe of the system's date, given what was believed and how long it was watched since.
fn believed(last: ClockReading, system: Timestamp, uptime: Duration) -> Timestamp {
    let mut watched = uptime.saturating_sub(last.at);
    if system >= last.system {
        // Another process may have noted the date since: its time does not count twice.
        watched = watched.min(system.since(last.system));
    }
    let limit = last.believed.plus(watched.saturating_mul(1 + CATCH_UP));
    system.min(limit)
}
