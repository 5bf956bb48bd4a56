//! The date by which records expire.
//!
//! A clock that is wrong for a minute must not erase a month of records. So when the system's clock
//! jumps ahead, the date that counts follows it slowly, while a store is open to see that the jump
//! lasts. It follows a clock that was set back at once. It is stored in the database, because a
//! clock is most often wrong when a machine has just started.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, Timestamp};
use sqlx::{Connection as _, SqliteConnection};

use crate::database::millis;

/// How fast the date follows a jump ahead, per unit of time in which a store was open to see it: a
/// day in an hour. After a machine was off overnight that takes half an hour, after a jump of 40
/// days 40 hours.
pub const CATCH_UP: u32 = 24;

const DAY_S: u64 = 24 * 60 * 60;

const NOTED: &str = "SELECT believed, system FROM aging";

/// The date of the latest record, for a database without a stored date.
const LATEST: &str = "SELECT opened_at FROM calls ORDER BY seq DESC LIMIT 1";

const NOTE: &str = "
    INSERT INTO aging (one, believed, system) VALUES (1, ?1, ?2)
    ON CONFLICT DO UPDATE SET believed = excluded.believed, system = excluded.system";

/// The date that counts, as far as this process knows.
pub(crate) struct AgingClock {
    clock: Arc<dyn Clock>,
    last: Mutex<ClockReading>,
}

/// What was known at one moment.
#[derive(Clone, Copy)]
struct ClockReading {
    believed: Timestamp,
    /// The system's date at that moment.
    system: Timestamp,
    /// By the clock's uptime.
    at: Duration,
}

impl AgingClock {
    /// A clock that believes it is 1970 until the first look, so that nothing expires.
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

    /// Stores the date, and returns the one that counts.
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
        // Immediate, because another process may store it at the same time.
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

/// Which date to believe, given what was believed before and how long the clock was watched since.
fn believed(last: ClockReading, system: Timestamp, uptime: Duration) -> Timestamp {
    let mut watched = uptime.saturating_sub(last.at);
    if system >= last.system {
        // Another process may have stored the date since, and its time must not count twice.
        watched = watched.min(system.since(last.system));
    }
    let limit = last.believed.plus(watched.saturating_mul(1 + CATCH_UP));
    system.min(limit)
}
