use gatefold_core::{Domain, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::{Store, StoreError};

/// One recorded call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The call's id in hexadecimal, as calls print it.
    pub id: String,
    pub parent: Option<String>,
    /// When it was opened, or last resumed.
    pub opened_at: Timestamp,
    pub user: String,
    pub organisations: Vec<String>,
    pub agent: Option<String>,
    pub client: Option<String>,
    /// The name of the access token with which it came.
    pub token: Option<String>,
    /// The kind of operation: `tool`, `prompt`, `resource` and so on.
    pub operation: String,
    pub subject: String,
    pub domain: Option<String>,
    pub tool: Option<String>,
    pub tool_digest: Option<String>,
    pub rule: Option<String>,
    /// Who approved or denied the call, if its rule required that: `client` for the person at the
    /// client, else the name of the person who decided elsewhere.
    pub decided_by: Option<String>,
    pub arguments_digest: String,
    pub arguments_bytes: u64,
    /// `open`, `suspended`, `done`, `tool_error`, `failed`, `cancelled`, `task`, `interrupted` or
    /// `expired`.
    pub outcome: String,
    pub error_kind: Option<String>,
    /// Why it failed: the error and its causes, for the operator.
    pub error_reason: Option<String>,
    /// Until when a suspended call may be resumed.
    pub expires_at: Option<Timestamp>,
    /// When it ended. None while it is open or suspended.
    pub closed_at: Option<Timestamp>,
    pub took_ms: Option<u64>,
    pub result_bytes: Option<u64>,
}

/// Which calls to show. The default is all of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFilter {
    pub user: Option<UserId>,
    pub domain: Option<Domain>,
    /// One of the values of [`CallRecord::outcome`].
    pub outcome: Option<String>,
    /// A tool's id, or `{domain}__{name}`, in which `*` stands for any characters and `?` for any
    /// one. For operations other than tools, the subject is compared.
    pub tool: Option<String>,
    /// Leaves out calls that [went well](CallRecord::has_failed) or are still running.
    pub only_failed: bool,
}

impl CallRecord {
    /// Whether it ended without the result that its caller wanted.
    pub fn has_failed(&self) -> bool {
        FAILURES.contains(&self.outcome.as_str())
    }

    /// Whether it may still change, because it runs or waits to be resumed.
    pub fn is_under_way(&self) -> bool {
        self.closed_at.is_none()
    }
}

/// The outcomes of calls that failed, as [`only_failed`](CallFilter::only_failed) selects them too.
const FAILURES: [&str; 5] = ["tool_error", "failed", "cancelled", "interrupted", "expired"];

/// The place of a call among all recorded ones, in the order in which they were opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallPlace(i64);

/// A call and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedCall {
    pub place: CallPlace,
    pub record: CallRecord,
}

/// Totals over all records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Sorted by outcome.
    pub outcomes: Vec<OutcomeTotal>,
    pub discoveries: u64,
    pub discovery_bytes: u64,
}

/// One recorded answer that only discovered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveryReport {
    pub at: Timestamp,
    pub user: String,
    pub organisations: Vec<String>,
    pub agent: Option<String>,
    pub client: Option<String>,
    pub meta_tool: String,
    pub result_bytes: u64,
    pub is_error: bool,
    /// The tools whose schemas it showed.
    pub shown: Vec<String>,
}

/// The calls with one outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeTotal {
    pub outcome: String,
    pub calls: u64,
    pub arguments_bytes: u64,
    pub result_bytes: u64,
}

/// A query for whole records, with the rest of the statement after the columns.
macro_rules! records {
    ($rest:literal) => {
        concat!(
            "SELECT seq, lower(hex(id)) AS id, lower(hex(parent)) AS parent, opened_at, user, \
             organisations, agent, client, operation, subject, domain, tool, \
             lower(hex(tool_digest)) AS tool_digest, rule, decided_by, \
             lower(hex(arguments_digest)) AS arguments_digest, arguments_bytes, outcome, \
             error_kind, error_reason, expires_at, closed_at, took_ms, result_bytes, token \
             FROM calls ",
            $rest
        )
    };
}

const RECENT: &str = records!(
    "WHERE (?1 IS NULL OR user = ?1) AND (?2 IS NULL OR domain = ?2)
        AND (?3 IS NULL OR outcome = ?3)
        AND (?4 IS NULL OR ifnull(tool, subject) GLOB ?4 OR tool NOT GLOB domain || '__*'
            AND (domain || '__' || tool GLOB ?4
                OR domain || '_' || substr(tool, length(domain) + 1) GLOB ?4))
        AND (NOT ?5 OR outcome IN ('tool_error', 'failed', 'cancelled', 'interrupted', 'expired'))
    ORDER BY seq DESC LIMIT ?6"
);

const AFTER: &str = records!("WHERE seq > ?1 ORDER BY seq LIMIT ?2");

const AT: &str = records!("WHERE seq IN (SELECT value FROM json_each(?1)) ORDER BY seq");

const BY_ID: &str = records!("WHERE hex(id) LIKE '%' || ?1 ORDER BY seq DESC LIMIT ?2");

const LAST: &str = "SELECT ifnull(max(seq), 0) FROM calls";

const OUTCOMES: &str = "
    SELECT outcome, count(*), sum(arguments_bytes), ifnull(sum(result_bytes), 0)
    FROM calls GROUP BY outcome ORDER BY outcome";

const RECENT_DISCOVERIES: &str = "
    SELECT at, user, organisations, agent, client, meta_tool, result_bytes, is_error, shown
    FROM discoveries ORDER BY seq DESC LIMIT ?1";

const DISCOVERIES: &str = "SELECT count(*), ifnull(sum(result_bytes), 0) FROM discoveries";

impl Store {
    /// The latest calls, newest first, including everything that this store was given before.
    pub async fn recent_calls(
        &self,
        limit: u32,
        filter: &CallFilter,
    ) -> Result<Vec<CallRecord>, StoreError> {
        let placed = self.recent_placed(limit, filter).await?;
        Ok(placed.into_iter().map(|call| call.record).collect())
    }

    /// The latest discoveries, newest first, including everything that this store was given before.
    pub async fn recent_discoveries(&self, limit: u32) -> Result<Vec<DiscoveryReport>, StoreError> {
        self.settle().await;
        let query = sqlx::query(RECENT_DISCOVERIES).bind(limit);
        let rows = query.fetch_all(&mut *self.inner().connection().await).await;
        let read = rows.and_then(|rows| rows.iter().map(discovery).collect());
        read.map_err(|source| self.inner().error(source))
    }

    /// The same, with their places.
    pub async fn recent_placed(
        &self,
        limit: u32,
        filter: &CallFilter,
    ) -> Result<Vec<PlacedCall>, StoreError> {
        self.settle().await;
        let query = sqlx::query(RECENT)
            .bind(filter.user.as_ref().map(UserId::as_str))
            .bind(filter.domain.as_ref().map(Domain::as_str))
            .bind(filter.outcome.as_deref())
            .bind(filter.tool.as_deref().map(glob))
            .bind(filter.only_failed)
            .bind(limit);
        self.placed(query).await
    }

    /// The place of the latest call.
    pub async fn last_place(&self) -> Result<CallPlace, StoreError> {
        let last = sqlx::query_scalar(LAST);
        let last = last.fetch_one(&mut *self.inner().connection().await).await;
        last.map(CallPlace).map_err(|source| self.inner().error(source))
    }

    /// The calls that were opened after this place, the earliest first.
    pub async fn calls_after(
        &self,
        place: CallPlace,
        limit: u32,
    ) -> Result<Vec<PlacedCall>, StoreError> {
        self.placed(sqlx::query(AFTER).bind(place.0).bind(limit)).await
    }

    /// The current records of the calls at these places.
    pub async fn calls_at(&self, places: &[CallPlace]) -> Result<Vec<PlacedCall>, StoreError> {
        let places: Vec<_> = places.iter().map(|place| place.0).collect();
        let places = serde_json::to_string(&places).expect("numbers are JSON");
        self.placed(sqlx::query(AT).bind(places)).await
    }

    /// The calls whose ids equal this or end with it, the latest first. `id` is hexadecimal.
    pub async fn calls_by_id(&self, id: &str, limit: u32) -> Result<Vec<CallRecord>, StoreError> {
        self.settle().await;
        let digits: String = id.chars().filter(char::is_ascii_hexdigit).collect();
        let placed = self.placed(sqlx::query(BY_ID).bind(digits).bind(limit)).await?;
        Ok(placed.into_iter().map(|call| call.record).collect())
    }

    async fn placed(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<Vec<PlacedCall>, StoreError> {
        let rows = query.fetch_all(&mut *self.inner().connection().await).await;
        let placed = |row: &SqliteRow| {
            Ok(PlacedCall { place: CallPlace(row.try_get("seq")?), record: record(row)? })
        };
        let calls = rows.and_then(|rows| rows.iter().map(placed).collect());
        calls.map_err(|source| self.inner().error(source))
    }

    /// Counts all records. It reads every one of them, so do not call it often.
    pub async fn totals(&self) -> Result<Totals, StoreError> {
        self.settle().await;
        self.count().await.map_err(|source| self.inner().error(source))
    }

    async fn count(&self) -> sqlx::Result<Totals> {
        let mut connection = self.inner().connection().await;
        let outcomes: Vec<(String, i64, i64, i64)> =
            sqlx::query_as(OUTCOMES).fetch_all(&mut *connection).await?;
        let (discoveries, bytes): (i64, i64) =
            sqlx::query_as(DISCOVERIES).fetch_one(&mut *connection).await?;
        let outcomes = outcomes.into_iter().map(|(outcome, calls, arguments, results)| {
            let (calls, arguments_bytes) = (calls.cast_unsigned(), arguments.cast_unsigned());
            OutcomeTotal { outcome, calls, arguments_bytes, result_bytes: results.cast_unsigned() }
        });
        Ok(Totals {
            outcomes: outcomes.collect(),
            discoveries: discoveries.cast_unsigned(),
            discovery_bytes: bytes.cast_unsigned(),
        })
    }

    /// Waits for records on their way to the database. The writer has already reported any failure,
    /// which is no reason to show nothing.
    pub(crate) async fn settle(&self) {
        if let Err(error) = self.flush().await {
            tracing::debug!(%error, "records on their way are not shown");
        }
    }
}

/// A pattern in SQLite's own notation, in which brackets also have a meaning.
fn glob(pattern: &str) -> String {
    pattern.replace('[', "[[]")
}

fn record(row: &SqliteRow) -> sqlx::Result<CallRecord> {
    let number = |name| row.try_get::<Option<i64>, _>(name).map(|n| n.map(i64::cast_unsigned));
    let moment = |name| number(name).map(|millis| millis.map(Timestamp::from_millis));
    let organisations: Option<String> = row.try_get("organisations")?;
    let organisations = organisations.and_then(|json| serde_json::from_str(&json).ok());
    Ok(CallRecord {
        id: row.try_get("id")?,
        parent: digits(row, "parent")?,
        opened_at: moment("opened_at")?.unwrap_or(Timestamp::from_millis(0)),
        user: row.try_get("user")?,
        organisations: organisations.unwrap_or_default(),
        agent: row.try_get("agent")?,
        client: row.try_get("client")?,
        token: row.try_get("token")?,
        operation: row.try_get("operation")?,
        subject: row.try_get("subject")?,
        domain: row.try_get("domain")?,
        tool: row.try_get("tool")?,
        tool_digest: digits(row, "tool_digest")?,
        rule: row.try_get("rule")?,
        decided_by: row.try_get("decided_by")?,
        arguments_digest: row.try_get("arguments_digest")?,
        arguments_bytes: number("arguments_bytes")?.unwrap_or_default(),
        outcome: row.try_get("outcome")?,
        error_kind: row.try_get("error_kind")?,
        error_reason: row.try_get("error_reason")?,
        expires_at: moment("expires_at")?,
        closed_at: moment("closed_at")?,
        took_ms: number("took_ms")?,
        result_bytes: number("result_bytes")?,
    })
}

fn discovery(row: &SqliteRow) -> sqlx::Result<DiscoveryReport> {
    let list = |name| -> sqlx::Result<Vec<String>> {
        let json: Option<String> = row.try_get(name)?;
        let read = json.and_then(|json| serde_json::from_str::<Vec<String>>(&json).ok());
        Ok(read.unwrap_or_default())
    };
    Ok(DiscoveryReport {
        at: Timestamp::from_millis(row.try_get::<i64, _>("at")?.cast_unsigned()),
        user: row.try_get("user")?,
        organisations: list("organisations")?,
        agent: row.try_get("agent")?,
        client: row.try_get("client")?,
        meta_tool: row.try_get("meta_tool")?,
        result_bytes: row.try_get::<i64, _>("result_bytes")?.cast_unsigned(),
        is_error: row.try_get("is_error")?,
        shown: list("shown")?,
    })
}

/// SQLite's `hex` makes an empty text of NULL.
fn digits(row: &SqliteRow, name: &str) -> sqlx::Result<Option<String>> {
    let digits: Option<String> = row.try_get(name)?;
    Ok(digits.filter(|digits| !digits.is_empty()))
}
