//! The tools that each principal used most.
//!
//! They are counted once a day, for all principals at once, and kept for that day. So the answer
//! stays the same whatever is recorded, ended late or deleted meanwhile, in every process, and no
//! index has to be written with each call.

use futures::future::BoxFuture;
use gatefold_core::{AgentId, BoxError, CallId, Principal, Timestamp, ToolId};
use gatefold_dispatch::{USED_DAYS, USED_TOOLS, UsedTools, UtcDay};
use sqlx::{Connection as _, SqliteConnection};

use crate::audit::TEXT_LIMIT;
use crate::database::Database;
use crate::store::StoreInner;
use crate::{Store, StoreError};

/// The most rows that are kept for a day: the tools of 10,000 principals.
const ROWS: usize = 10_000 * USED_TOOLS;

/// Ids begin with their time, so their index also orders records by age. A call that another one
/// made is not one that its principal asked for.
const COUNT: &str = "
    SELECT user, organisations, agent, place, tool FROM (
        SELECT user, organisations, agent, tool, row_number() OVER (
            PARTITION BY user, organisations, agent ORDER BY calls DESC, tool
        ) AS place
        FROM (
            SELECT user, ifnull(organisations, '') AS organisations, ifnull(agent, '') AS agent,
                tool, count(*) AS calls
            FROM calls
            WHERE id >= unhex(?1) AND id < unhex(?2) AND parent IS NULL AND operation = 'tool'
                AND outcome = 'done' AND tool IS NOT NULL
            GROUP BY 1, 2, 3, 4
        )
    )
    WHERE place <= ?3 ORDER BY user, organisations, agent, place LIMIT ?4";

const IS_COUNTED: &str = "SELECT count(*) FROM used_days WHERE day = ?1";

/// `?2` is an array of rows as [`COUNT`] gives them.
const KEEP: &str = "
    INSERT INTO used_tools (day, user, organisations, agent, place, tool)
    SELECT ?1, value ->> '$[0]', value ->> '$[1]', value ->> '$[2]', value ->> '$[3]',
        value ->> '$[4]'
    FROM json_each(?2)";

const KEEP_DAY: &str = "INSERT INTO used_days (day) VALUES (?1)";

/// Only one day is kept: after a clock was wrong, its day is counted anew when it comes.
const DROP_OTHERS: [&str; 2] =
    ["DELETE FROM used_tools WHERE day <> ?1", "DELETE FROM used_days WHERE day <> ?1"];

const DROP_OLD: [&str; 2] =
    ["DELETE FROM used_tools WHERE day < ?1", "DELETE FROM used_days WHERE day < ?1"];

const OF_PRINCIPAL: &str = "
    SELECT tool FROM used_tools
    WHERE day = ?1 AND user = ?2 AND organisations = ?3 AND agent = ?4 ORDER BY place";

/// User, organisations, agent, place and tool.
type Row = (String, String, String, i64, String);

impl UsedTools for Store {
    fn most_used<'a>(
        &'a self,
        principal: &'a Principal,
        day: UtcDay,
    ) -> BoxFuture<'a, Result<Vec<ToolId>, BoxError>> {
        Box::pin(async move {
            let agent = principal.agent.as_ref().map(AgentId::as_str).unwrap_or_default();
            // Records cut such names, so they cannot tell whose they are.
            if principal.user.as_str().len() > TEXT_LIMIT || agent.len() > TEXT_LIMIT {
                return Ok(Vec::new());
            }
            self.count_uses(day).await?;
            let store = self.inner();
            let organisation = principal.organisation.as_slice();
            let organisations = match organisation {
                [] => String::new(),
                some => serde_json::to_string(some).expect("names are JSON"),
            };
            let tools: Vec<String> = sqlx::query_scalar(OF_PRINCIPAL)
                .bind(number(day))
                .bind(principal.user.as_str())
                .bind(organisations)
                .bind(agent)
                .fetch_all(&mut *store.connection().await)
                .await
                .map_err(|source| store.error(source))?;
            Ok(tools.into_iter().map(ToolId::new).collect())
        })
    }
}

impl Store {
    /// Counts the uses before a day, unless that is done.
    async fn count_uses(&self, day: UtcDay) -> Result<(), StoreError> {
        let store = self.inner();
        // One at a time; whoever waited finds it done.
        let _counting = store.counting.lock().await;
        let is_counted = is_counted(&mut *store.connection().await, day).await;
        if is_counted.map_err(|source| store.error(source))? {
            return Ok(());
        }
        self.settle().await;
        let rows = count(&store.database, day).await?;
        let kept = keep(&mut *store.connection().await, day, &rows).await;
        kept.map_err(|source| store.error(source))
    }
}

async fn is_counted(connection: &mut SqliteConnection, day: UtcDay) -> sqlx::Result<bool> {
    let days: i64 = sqlx::query_scalar(IS_COUNTED).bind(number(day)).fetch_one(connection).await?;
    Ok(days > 0)
}

/// Reads on a connection of its own: it may take a second where there are a million records, and
/// neither records nor anything else wait for it.
async fn count(database: &Database, day: UtcDay) -> Result<Vec<Row>, StoreError> {
    let first_id = |day: UtcDay| CallId::new(day.start(), 0).to_string();
    let mut connection = database.connect_to_read().await?;
    sqlx::query_as(COUNT)
        .bind(first_id(day.before(USED_DAYS)))
        .bind(first_id(day))
        .bind(i64::try_from(USED_TOOLS).unwrap_or(i64::MAX))
        .bind(i64::try_from(ROWS).unwrap_or(i64::MAX))
        .fetch_all(&mut connection)
        .await
        .map_err(|source| database.error(source))
}

async fn keep(connection: &mut SqliteConnection, day: UtcDay, rows: &[Row]) -> sqlx::Result<()> {
    let rows = serde_json::to_string(rows).expect("texts and numbers are JSON");
    // Immediate, because another process may keep its count at the same time. The first one stands.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    if is_counted(&mut transaction, day).await? {
        return Ok(());
    }
    for others in DROP_OTHERS {
        sqlx::query(others).bind(number(day)).execute(&mut *transaction).await?;
    }
    sqlx::query(KEEP).bind(number(day)).bind(rows).execute(&mut *transaction).await?;
    sqlx::query(KEEP_DAY).bind(number(day)).execute(&mut *transaction).await?;
    transaction.commit().await
}

/// Deletes what was counted for days that are over.
pub(crate) async fn prune(store: &StoreInner, now: Timestamp) -> Result<(), StoreError> {
    let mut connection = store.connection().await;
    for old in DROP_OLD {
        let dropped = sqlx::query(old).bind(number(UtcDay::of(now))).execute(&mut *connection);
        dropped.await.map_err(|source| store.error(source))?;
    }
    Ok(())
}

fn number(day: UtcDay) -> i64 {
    i64::try_from(day.number()).unwrap_or(i64::MAX)
}
