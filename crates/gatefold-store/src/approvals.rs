//! Requests for a person's approval: stored for the person who decides, used up by the call that
//! waits.
//!
//! Several processes share the table: a gateway keeps requests and uses decisions, a command at a
//! terminal decides. Each change is one statement or one immediate transaction, so when two
//! processes race, only one change takes effect.

use futures::future::BoxFuture;
use gatefold_core::{AgentId, ApprovalId, BoxError, ClientName, OrganisationId, Timestamp};
use gatefold_dispatch::{ApprovalKey, ApprovalState, Approvals, NewApproval, StandingApproval};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::database::millis;
use crate::store::StoreInner;
use crate::{Store, StoreError};

/// The most requests that wait for a decision, in all and for one principal.
const PENDING_IN_ALL: u32 = 1000;
const PENDING_PER_PRINCIPAL: u32 = 100;

/// How many used or expired requests are kept, and for how long, so that a late decision can be
/// told what happened to its request.
const FINISHED_IN_ALL: u32 = 1000;
const FINISHED_AGE_MS: i64 = 24 * 60 * 60 * 1000;

/// The longest arguments to store, in bytes. The caller's own limit is lower; this one bounds the
/// file for any caller.
const ARGUMENTS_LIMIT: usize = 64 * 1024;

/// The longest value of any other field, in bytes.
const TEXT_LIMIT: usize = 512;

/// The symbols of an id: Crockford's base 32, which has no letters that look like digits.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The symbols of an id, in two halves: 40 bits, so that the few thousand ids in a database hardly
/// ever collide and cannot be guessed.
const ID_SYMBOLS: usize = 8;

/// How many ids to try if one is taken.
const DRAWS: usize = 4;

const PENDING: &str = "
    UPDATE approvals SET requested_at = ?6, expires_at = max(expires_at, ?5)
    WHERE principal = ?1 AND tool = ?2 AND definition = ?3 AND arguments_digest = ?4
        AND state = 'pending' AND expires_at > ?6
    RETURNING id";

/// Counts the waiting requests: all of them, and those of one principal.
const COUNT: &str = "
    SELECT count(*), count(*) FILTER (WHERE principal = ?1) FROM approvals
    WHERE state = 'pending' AND expires_at > ?2";

const KEEP: &str = "
    INSERT INTO approvals (
        id, principal, tool, definition, arguments_digest, user, organisation, agent, client,
        domain, rule, arguments, arguments_bytes, requested_at, expires_at, state
    )
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 'pending')
    ON CONFLICT DO NOTHING";

const FIND: &str = "
    SELECT id, state, decided_by, reason, expires_at FROM approvals
    WHERE principal = ?1 AND tool = ?2 AND definition = ?3 AND arguments_digest = ?4
        AND state <> 'used' AND expires_at > ?5
    ORDER BY decided_at DESC NULLS LAST, requested_at DESC LIMIT 1";

const CONSUME: &str = "
    UPDATE approvals SET state = 'used', used_at = ?2, arguments = NULL
    WHERE id = ?1 AND state = 'approved' AND expires_at > ?2";

/// A decision is valid for as long as the request could wait: even after a decision in the last
/// second, the caller has time to come back.
const DECIDE: &str = "
    UPDATE approvals SET
        state = ?2, decided_by = ?3, reason = ?4, decided_at = ?5,
        expires_at = ?5 + (expires_at - requested_at)
    WHERE id = ?1 AND state = 'pending' AND expires_at > ?5";

const COLUMNS: &str = "
    SELECT
        id, iif(state <> 'used' AND expires_at <= ?1, 'expired', state) AS state, tool, domain,
        rule, user, organisation, agent, client, arguments, arguments_bytes,
        lower(hex(arguments_digest)) AS arguments_digest, requested_at, expires_at, decided_by,
        decided_at, reason, used_at
    FROM approvals";

const ERASE_ARGUMENTS: &str =
    "UPDATE approvals SET arguments = NULL WHERE expires_at <= ?1 AND arguments IS NOT NULL";

const SWEEP: &str = "
    DELETE FROM approvals WHERE (state = 'used' OR expires_at <= ?1) AND (
        max(expires_at, ifnull(used_at, 0)) <= ?2 OR id IN (
            SELECT id FROM approvals WHERE state = 'used' OR expires_at <= ?1
            ORDER BY expires_at DESC LIMIT -1 OFFSET ?3
        )
    )";

/// A request on record, for people. Its arguments may hold secrets, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
pub struct ApprovalRecord {
    pub id: String,
    /// `pending`, `approved`, `denied`, `used` or `expired`.
    pub state: String,
    /// The tool's id.
    pub tool: String,
    pub domain: String,
    /// The rule that requires approval.
    pub rule: String,
    pub user: String,
    pub organisation: Option<String>,
    pub agent: Option<String>,
    /// The name that the client gives itself.
    pub client: Option<String>,
    /// The arguments as they came, or the beginning of very large ones as a JSON string. None once
    /// the request is used or has expired.
    pub arguments: Option<Box<RawValue>>,
    /// The full length of the arguments, in bytes.
    pub arguments_bytes: u64,
    pub arguments_digest: String,
    pub requested_at: Timestamp,
    /// Until when a pending request can be decided, or a decision is valid.
    pub expires_at: Timestamp,
    pub decided_by: Option<String>,
    pub decided_at: Option<Timestamp>,
    pub reason: Option<String>,
    pub used_at: Option<Timestamp>,
}

/// Which requests to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalFilter {
    /// Those that wait for a decision.
    Pending,
    /// All on record, including those used or expired during the last day.
    Every,
}

impl Store {
    /// The requests on record, the oldest first, at most `limit`.
    pub async fn approvals(
        &self,
        of: ApprovalFilter,
        limit: u32,
    ) -> Result<Vec<ApprovalRecord>, StoreError> {
        let store = self.inner();
        let condition = match of {
            ApprovalFilter::Pending => " WHERE state = 'pending' AND expires_at > ?1",
            ApprovalFilter::Every => "",
        };
        let listed = format!("{COLUMNS}{condition} ORDER BY requested_at, id LIMIT ?2");
        let rows = sqlx::query(sqlx::AssertSqlSafe(listed))
            .bind(millis(store.clock.now()))
            .bind(limit)
            .fetch_all(&mut *store.connection().await)
            .await;
        let records = rows.and_then(|rows| rows.iter().map(record).collect());
        records.map_err(|source| store.error(source))
    }

    /// One request, by its id as a person typed it.
    pub async fn approval(&self, id: &str) -> Result<ApprovalRecord, StoreError> {
        let store = self.inner();
        let id = read_id(id).ok_or_else(|| StoreError::NoApproval(bounded(id).to_owned()))?;
        let found = find_record(&mut *store.connection().await, &id, store.now()).await;
        found.map_err(|source| store.error(source))?.ok_or(StoreError::NoApproval(id))
    }

    /// Approves one request, by its id as a person typed it. `by` names who decides.
    pub async fn approve(&self, id: &str, by: &str) -> Result<ApprovalRecord, StoreError> {
        self.decide(id, Decision { state: "approved", by, reason: None }).await
    }

    /// Denies one request. The reason is shown to whoever asked.
    pub async fn deny(
        &self,
        id: &str,
        by: &str,
        reason: Option<&str>,
    ) -> Result<ApprovalRecord, StoreError> {
        self.decide(id, Decision { state: "denied", by, reason }).await
    }

    async fn decide(&self, id: &str, decision: Decision<'_>) -> Result<ApprovalRecord, StoreError> {
        let store = self.inner();
        let id = read_id(id).ok_or_else(|| StoreError::NoApproval(bounded(id).to_owned()))?;
        let (is_done, record) = decide(&mut *store.connection().await, &id, &decision, store.now())
            .await
            .map_err(|source| store.error(source))?;
        match record {
            Some(record) if is_done => Ok(record),
            Some(record) => Err(undecidable(record)),
            None => Err(StoreError::NoApproval(id)),
        }
    }
}

/// What a person decided, and who it was.
struct Decision<'a> {
    state: &'static str,
    by: &'a str,
    reason: Option<&'a str>,
}

impl Approvals for Store {
    fn request(&self, mut request: NewApproval) -> BoxFuture<'_, Result<ApprovalId, BoxError>> {
        // The arguments go once the request is over, and their digest stays for a while.
        request.key.arguments = self.inner().digests.kept(&request.key.arguments);
        Box::pin(async move { Ok(ApprovalId::new(self.keep_request(&request).await?)) })
    }

    fn find<'a>(
        &'a self,
        key: &'a ApprovalKey,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let row = sqlx::query(FIND)
                .bind(&key.principal.as_bytes()[..])
                .bind(key.tool.as_str())
                .bind(&key.definition.as_bytes()[..])
                .bind(&store.digests.kept(&key.arguments).as_bytes()[..])
                .bind(millis(now))
                .fetch_optional(&mut *store.connection().await)
                .await;
            let standing = row.and_then(|row| row.as_ref().map(standing).transpose());
            Ok(standing.map_err(|source| store.error(source))?)
        })
    }

    fn consume<'a>(
        &'a self,
        id: &'a ApprovalId,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<bool, BoxError>> {
        Box::pin(async move {
            let store = self.inner();
            let used = sqlx::query(CONSUME)
                .bind(id.as_str())
                .bind(millis(now))
                .execute(&mut *store.connection().await)
                .await;
            Ok(used.map_err(|source| store.error(source))?.rows_affected() == 1)
        })
    }
}

impl Store {
    async fn keep_request(&self, request: &NewApproval) -> Result<String, StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let failed = |source| store.error(source);
        // Immediate, because another process may keep the same request at the same time.
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let id = match pending(&mut transaction, request).await.map_err(failed)? {
            Some(id) => id,
            None => keep_new(&mut transaction, store, request).await?,
        };
        transaction.commit().await.map_err(failed)?;
        Ok(id)
    }
}

/// The open request for the same call. Its time starts again now, because the caller was just told
/// how long it lasts.
async fn pending(
    connection: &mut SqliteConnection,
    request: &NewApproval,
) -> sqlx::Result<Option<String>> {
    let key = &request.key;
    sqlx::query_scalar(PENDING)
        .bind(&key.principal.as_bytes()[..])
        .bind(key.tool.as_str())
        .bind(&key.definition.as_bytes()[..])
        .bind(&key.arguments.as_bytes()[..])
        .bind(millis(request.expires_at))
        .bind(millis(request.at))
        .fetch_optional(connection)
        .await
}

async fn keep_new(
    connection: &mut SqliteConnection,
    store: &StoreInner,
    request: &NewApproval,
) -> Result<String, StoreError> {
    let failed = |source| store.error(source);
    sweep(connection, store.aging.now()).await.map_err(failed)?;
    let counted = sqlx::query_as(COUNT)
        .bind(&request.key.principal.as_bytes()[..])
        .bind(millis(request.at))
        .fetch_one(&mut *connection);
    let (in_all, of_one): (u32, u32) = counted.await.map_err(failed)?;
    for (limit, waiting) in [(PENDING_PER_PRINCIPAL, of_one), (PENDING_IN_ALL, in_all)] {
        if waiting >= limit {
            return Err(StoreError::TooManyApprovals { limit });
        }
    }
    for _ in 0..DRAWS {
        let id = random_id()?;
        if insert(connection, &id, request).await.map_err(failed)? {
            return Ok(id);
        }
    }
    Err(failed(sqlx::Error::Protocol("no free id was found".to_owned())))
}

/// Stores a request under an id, unless the id is taken.
async fn insert(
    connection: &mut SqliteConnection,
    id: &str,
    request: &NewApproval,
) -> sqlx::Result<bool> {
    let NewApproval { key, principal, client, .. } = request;
    let arguments = kept_arguments(&request.arguments);
    let kept = sqlx::query(KEEP)
        .bind(id)
        .bind(&key.principal.as_bytes()[..])
        .bind(key.tool.as_str())
        .bind(&key.definition.as_bytes()[..])
        .bind(&key.arguments.as_bytes()[..])
        .bind(bounded(principal.user.as_str()))
        .bind(principal.organisation.as_ref().map(OrganisationId::as_str).map(bounded))
        .bind(principal.agent.as_ref().map(AgentId::as_str).map(bounded))
        .bind(client.as_ref().map(ClientName::as_str).map(bounded))
        .bind(request.domain.as_str())
        .bind(bounded(request.rule.as_str()))
        .bind(arguments)
        .bind(i64::try_from(request.arguments_bytes).unwrap_or(i64::MAX))
        .bind(millis(request.at))
        .bind(millis(request.expires_at))
        .execute(connection)
        .await?;
    Ok(kept.rows_affected() == 1)
}

/// Decides a waiting request. Returns whether it did, and the request as it is now.
async fn decide(
    connection: &mut SqliteConnection,
    id: &str,
    decision: &Decision<'_>,
    now: Timestamp,
) -> sqlx::Result<(bool, Option<ApprovalRecord>)> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let decided = sqlx::query(DECIDE)
        .bind(id)
        .bind(decision.state)
        .bind(bounded(decision.by))
        .bind(decision.reason.map(bounded))
        .bind(millis(now))
        .execute(&mut *transaction)
        .await?;
    let record = find_record(&mut transaction, id, now).await?;
    transaction.commit().await?;
    Ok((decided.rows_affected() == 1, record))
}

async fn find_record(
    connection: &mut SqliteConnection,
    id: &str,
    now: Timestamp,
) -> sqlx::Result<Option<ApprovalRecord>> {
    let shown = sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE id = ?2"));
    let row = sqlx::query(shown).bind(millis(now)).bind(id).fetch_optional(connection).await?;
    row.as_ref().map(record).transpose()
}

fn undecidable(record: ApprovalRecord) -> StoreError {
    let ApprovalRecord { id, state, decided_by, .. } = record;
    match (state.as_str(), decided_by) {
        ("used", _) => StoreError::ApprovalUsed(id),
        ("approved" | "denied", Some(by)) => StoreError::ApprovalDecided { id, state, by },
        _ => StoreError::ApprovalExpired(id),
    }
}

/// Deletes requests that can no longer be decided or used.
pub(crate) async fn prune(store: &StoreInner, now: Timestamp) -> Result<u64, StoreError> {
    let mut connection = store.connection().await;
    sweep(&mut connection, now).await.map_err(|source| store.error(source))
}

async fn sweep(connection: &mut SqliteConnection, now: Timestamp) -> sqlx::Result<u64> {
    let now = millis(now);
    sqlx::query(ERASE_ARGUMENTS).bind(now).execute(&mut *connection).await?;
    let sweep = sqlx::query(SWEEP).bind(now).bind(now - FINISHED_AGE_MS).bind(FINISHED_IN_ALL);
    Ok(sweep.execute(connection).await?.rows_affected())
}

fn standing(row: &SqliteRow) -> sqlx::Result<StandingApproval> {
    let text = |name| row.try_get::<Option<String>, _>(name);
    let by = text("decided_by")?.unwrap_or_default().into();
    let state = match row.try_get::<String, _>("state")?.as_str() {
        "approved" => ApprovalState::Approved { by },
        "denied" => ApprovalState::Denied { by, reason: text("reason")? },
        _ => ApprovalState::Pending,
    };
    Ok(StandingApproval {
        id: ApprovalId::new(row.try_get::<String, _>("id")?),
        state,
        expires_at: moment(row.try_get("expires_at")?),
    })
}

fn record(row: &SqliteRow) -> sqlx::Result<ApprovalRecord> {
    let at = |name| row.try_get::<Option<i64>, _>(name).map(|millis| millis.map(moment));
    let arguments: Option<String> = row.try_get("arguments")?;
    Ok(ApprovalRecord {
        id: row.try_get("id")?,
        state: row.try_get("state")?,
        tool: row.try_get("tool")?,
        domain: row.try_get("domain")?,
        rule: row.try_get("rule")?,
        user: row.try_get("user")?,
        organisation: row.try_get("organisation")?,
        agent: row.try_get("agent")?,
        client: row.try_get("client")?,
        arguments: arguments.and_then(|json| RawValue::from_string(json).ok()),
        arguments_bytes: row.try_get::<i64, _>("arguments_bytes")?.cast_unsigned(),
        arguments_digest: row.try_get("arguments_digest")?,
        requested_at: moment(row.try_get("requested_at")?),
        expires_at: moment(row.try_get("expires_at")?),
        decided_by: row.try_get("decided_by")?,
        decided_at: at("decided_at")?,
        reason: row.try_get("reason")?,
        used_at: at("used_at")?,
    })
}

fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis.cast_unsigned())
}

/// The arguments, or the beginning of very large ones as a JSON text.
fn kept_arguments(arguments: &RawValue) -> String {
    let text = arguments.get();
    if text.len() <= ARGUMENTS_LIMIT {
        return text.to_owned();
    }
    let beginning = &text[..text.floor_char_boundary(ARGUMENTS_LIMIT)];
    serde_json::Value::String(format!("{beginning}...")).to_string()
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_LIMIT)]
}

fn random_id() -> Result<String, StoreError> {
    let bits = getrandom::u64().map_err(StoreError::Random)?;
    let symbols = (0..ID_SYMBOLS).map(|place| {
        let symbol = usize::try_from(bits >> (5 * place) & 31).unwrap_or_default();
        char::from(SYMBOLS[symbol])
    });
    Ok(halved(&symbols.collect::<String>()))
}

fn halved(symbols: &str) -> String {
    let (first, second) = symbols.split_at(ID_SYMBOLS / 2);
    format!("{first}-{second}")
}

/// An id as a person typed it: in either case, with or without the hyphen, and with letters that
/// look like digits. None if it cannot be an id.
fn read_id(typed: &str) -> Option<String> {
    let symbols = typed.chars().filter(|c| *c != '-').map(|c| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    });
    // One symbol too many is enough to reject an id, so no more is read.
    let symbols: String = symbols.take(ID_SYMBOLS + 1).collect();
    let is_symbol = |byte: u8| SYMBOLS.contains(&byte);
    (symbols.len() == ID_SYMBOLS && symbols.bytes().all(is_symbol)).then(|| halved(&symbols))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_people_type_it() {
        let id = random_id().unwrap();
        assert_eq!(read_id(&id), Some(id.clone()));
        assert_eq!(read_id(&id.replace('-', "").to_uppercase()), Some(id));
        assert_eq!(read_id("oil0-abcd").as_deref(), Some("0110-abcd"));
        for wrong in ["", "abc", "abcd-efgh-", "abcd-efghj", "abcd-efg!", "äbcd-efgh", "abcd-efgu"]
        {
            assert!(read_id(wrong).is_none() || wrong == "abcd-efgh-", "{wrong}");
        }
    }

    #[test]
    fn ids_differ() {
        let ids: std::collections::HashSet<_> = (0..200).map(|_| random_id().unwrap()).collect();
        assert_eq!(ids.len(), 200);
    }
}
