//! Requests for a person's approval: stored for the person who decides, used up by the call that
//! waits.
//!
//! Several processes share the table: a gateway keeps requests and uses decisions, a command at a
//! terminal decides. Each change is one statement or one immediate transaction, so when two
//! processes race, only one change takes effect.

mod ids;
mod keeping;
mod rows;

use std::time::Duration;

use futures::future::BoxFuture;
use gatefold_core::{ApprovalId, BoxError, Timestamp};
use gatefold_dispatch::{
    ApprovalDecision, ApprovalFilter, ApprovalKey, ApprovalRecord, ApprovalState, Approvals,
    NewApproval, Settlement, StandingApproval,
};
use sqlx::{Connection as _, SqliteConnection};

use self::ids::read_id;
use self::rows::{COLUMNS, record, standing};
use crate::database::millis;
use crate::store::StoreInner;
use crate::{Store, StoreError};

/// How often whoever waits looks whether another process has decided.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How many used or expired requests are kept, and for how long, so that a late decision can be
/// told what happened to its request.
const FINISHED_IN_ALL: u32 = 1000;
const FINISHED_AGE_MS: i64 = 24 * 60 * 60 * 1000;

/// The longest value of any other field, in bytes.
const TEXT_LIMIT: usize = 512;

const FIND: &str = "
    SELECT id, state, decided_by, reason, expires_at FROM approvals
    WHERE principal = ?1 AND tool = ?2 AND definition = ?3 AND arguments_digest = ?4
        AND state <> 'used' AND expires_at > ?5
    ORDER BY decided_at DESC NULLS LAST, requested_at DESC LIMIT 1";

const FIND_BY_ID: &str = "
    SELECT id, state, decided_by, reason, expires_at FROM approvals
    WHERE id = ?1 AND state <> 'used' AND expires_at > ?2";

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

const ERASE_ARGUMENTS: &str =
    "UPDATE approvals SET arguments = NULL WHERE expires_at <= ?1 AND arguments IS NOT NULL";

const SWEEP: &str = "
    DELETE FROM approvals WHERE (state = 'used' OR expires_at <= ?1) AND (
        max(expires_at, ifnull(used_at, 0)) <= ?2 OR id IN (
            SELECT id FROM approvals WHERE state = 'used' OR expires_at <= ?1
            ORDER BY expires_at DESC LIMIT -1 OFFSET ?3
        )
    )";

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
        self.decide_by_id(id, Decision { state: "approved", by, reason: None }).await
    }

    /// Denies one request. The reason is shown to whoever asked.
    pub async fn deny(
        &self,
        id: &str,
        by: &str,
        reason: Option<&str>,
    ) -> Result<ApprovalRecord, StoreError> {
        self.decide_by_id(id, Decision { state: "denied", by, reason }).await
    }

    async fn decide_by_id(
        &self,
        id: &str,
        decision: Decision<'_>,
    ) -> Result<ApprovalRecord, StoreError> {
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

    async fn standing_approval(
        &self,
        id: &ApprovalId,
    ) -> Result<Option<StandingApproval>, StoreError> {
        let store = self.inner();
        let row = sqlx::query(FIND_BY_ID)
            .bind(id.as_str())
            .bind(millis(store.now()))
            .fetch_optional(&mut *store.connection().await)
            .await;
        let found = row.and_then(|row| row.as_ref().map(standing).transpose());
        found.map_err(|source| store.error(source))
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

    fn wait<'a>(
        &'a self,
        id: &'a ApprovalId,
    ) -> BoxFuture<'a, Result<Option<StandingApproval>, BoxError>> {
        Box::pin(async move {
            loop {
                match self.standing_approval(id).await? {
                    Some(StandingApproval { state: ApprovalState::Pending, .. }) => {
                        tokio::time::sleep(POLL_INTERVAL).await;
                    }
                    decided => return Ok(decided),
                }
            }
        })
    }

    fn settlement<'a>(&'a self, id: &'a ApprovalId) -> BoxFuture<'a, Result<Settlement, BoxError>> {
        Box::pin(async move { Ok(Settlement::of(self.standing_approval(id).await?.as_ref())) })
    }

    fn list(
        &self,
        of: ApprovalFilter,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ApprovalRecord>, BoxError>> {
        Box::pin(async move { Ok(self.approvals(of, limit).await?) })
    }

    fn decide<'a>(
        &'a self,
        id: &'a str,
        decision: ApprovalDecision,
    ) -> BoxFuture<'a, Result<ApprovalRecord, BoxError>> {
        Box::pin(async move {
            Ok(match &decision {
                ApprovalDecision::Approve { by } => self.approve(id, by).await?,
                ApprovalDecision::Deny { by, reason } => {
                    self.deny(id, by, reason.as_deref()).await?
                }
            })
        })
    }
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

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(TEXT_LIMIT)]
}
