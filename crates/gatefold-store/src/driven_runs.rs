//! Which process drives a run, which runs nobody drives, and which are to end.
//!
//! A process that drives a run holds it by the id of its store. Once that process is dead, however it ended, its lock is
//! free, and another one may take the run.

use gatefold_core::ApprovalId;
use gatefold_dispatch::{DataOwner, JournalError, Run, RunId, RunPhase};
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::Store;
use crate::database::millis;
use crate::runs::{READ, read_id, unreadable, unusable};
use crate::store::StoreInner;

const HOLD: &str = "
    SELECT driver, crashes, ended_at FROM runs WHERE owner = ?1 AND id = ?2";

const CLAIM: &str = "
    UPDATE runs SET driver = ?2, crashes = ?3, lasts = max(lasts, ?4), waiting = NULL WHERE id = ?1";

const KEEP_UP: &str = "UPDATE runs SET lasts = 1 WHERE id = ?1";

const RELEASE: &str = "
    UPDATE runs SET driver = NULL, waiting = ?3 WHERE id = ?1 AND driver = ?2 AND ended_at IS NULL";

const UNENDED: &str = "
    SELECT * FROM runs
    WHERE ended_at IS NULL AND (lasts = 1 OR cancelled_at IS NOT NULL)
        AND (driver IS NULL OR driver <> ?2) AND id > ?3
    ORDER BY id LIMIT ?1";

const CANCEL: &str = "
    UPDATE runs SET cancelled_at = ifnull(cancelled_at, ?3)
    WHERE owner = ?1 AND id = ?2 AND ended_at IS NULL";

const CANCELLED: &str = "
    SELECT id FROM runs WHERE ended_at IS NULL AND cancelled_at IS NOT NULL AND driver = ?1";

/// Whether gateways take a run up by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunTenure {
    Lasting,
    /// Only whoever asks for it.
    Passing,
}

/// What came of trying to drive a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunClaim {
    /// This process drives it now. So many processes have died that did.
    Claimed {
        crashes: u32,
    },
    /// A process that lives drives it, perhaps this one.
    Driven,
    Ended,
}

/// A run that has not ended, and which nobody drives or somebody wants to end.
#[derive(Debug, Clone)]
pub struct UnendedRun {
    pub owner: DataOwner,
    pub run: Run,
    pub is_cancelled: bool,
}

impl Store {
    /// Has this process drive a run, unless another that lives does.
    pub async fn claim_run(
        &self,
        owner: &DataOwner,
        run: RunId,
        tenure: RunTenure,
    ) -> Result<RunClaim, JournalError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        let claimed = claim(store, &mut connection, owner, run, tenure).await;
        claimed.map_err(|source| unusable(store, source))?.ok_or(JournalError::UnknownRun)
    }

    /// Has gateways take a run up by themselves, once nobody drives it any more.
    pub async fn keep_run_up(&self, run: RunId) -> Result<(), JournalError> {
        let store = self.inner();
        let query = sqlx::query(KEEP_UP).bind(run.to_string());
        let kept = query.execute(&mut *store.connection().await).await;
        kept.map(drop).map_err(|source| unusable(store, source))
    }

    /// Has this process drive a run no more. It goes on with the decision about any of these approvals, or at once if
    /// there are none.
    pub async fn release_run(
        &self,
        run: RunId,
        waiting: &[ApprovalId],
    ) -> Result<(), JournalError> {
        let store = self.inner();
        let ids: Vec<_> = waiting.iter().map(ApprovalId::as_str).collect();
        let waiting = serde_json::to_string(&ids).expect("texts are JSON");
        let query = sqlx::query(RELEASE)
            .bind(run.to_string())
            .bind(store.owner)
            .bind((!ids.is_empty()).then_some(waiting));
        let released = query.execute(&mut *store.connection().await).await;
        store.journaled.notify_waiters();
        released.map(drop).map_err(|source| unusable(store, source))
    }

    /// The runs that gateways go on with by themselves and nobody drives now, and those that somebody wants to end, the
    /// first first.
    pub async fn unended_runs(&self) -> Result<Vec<UnendedRun>, JournalError> {
        let (mut unended, mut last) = (Vec::new(), String::new());
        loop {
            let (page, end) = self.unended_page(&last).await?;
            unended.extend(page);
            match end {
                Some(end) => last = end,
                None => return Ok(unended),
            }
        }
    }

    /// Some of them behind an id, and the id behind which there may be more.
    async fn unended_page(
        &self,
        after: &str,
    ) -> Result<(Vec<UnendedRun>, Option<String>), JournalError> {
        let store = self.inner();
        let query = sqlx::query(UNENDED).bind(READ).bind(store.owner).bind(after);
        let rows = query.fetch_all(&mut *store.connection().await).await;
        let read = |row: &SqliteRow| {
            let owner: &[u8] = row.try_get("owner")?;
            let owner = DataOwner::read(owner).ok_or_else(|| unreadable("owner", "it"))?;
            let is_cancelled = row.try_get::<Option<i64>, _>("cancelled_at")?.is_some();
            Ok(UnendedRun { owner, run: crate::runs::read_run(store, row)?, is_cancelled })
        };
        let runs: sqlx::Result<Vec<_>> = rows.and_then(|rows| rows.iter().map(read).collect());
        let runs = runs.map_err(|source| unusable(store, source))?;
        let is_full = runs.len() == READ as usize;
        let end = runs.last().filter(|_| is_full).map(|of| of.run.id.to_string());
        let open = runs.into_iter().filter(|of| of.run.phase != RunPhase::Driven);
        Ok((open.collect(), end))
    }

    /// Asks whichever process drives a run to end it. False if it has ended, or there is none.
    pub async fn ask_to_cancel(&self, owner: &DataOwner, run: RunId) -> Result<bool, JournalError> {
        let store = self.inner();
        let query = sqlx::query(CANCEL)
            .bind(owner.as_bytes())
            .bind(run.to_string())
            .bind(millis(store.now()));
        let asked = query.execute(&mut *store.connection().await).await;
        Ok(asked.map_err(|source| unusable(store, source))?.rows_affected() == 1)
    }

    /// The runs that this process drives and somebody wants to end.
    pub async fn cancelled_runs(&self) -> Result<Vec<RunId>, JournalError> {
        let store = self.inner();
        let query = sqlx::query_scalar(CANCELLED).bind(store.owner);
        let ids: sqlx::Result<Vec<String>> = query.fetch_all(&mut *store.connection().await).await;
        let ids = ids.and_then(|ids| ids.iter().map(|id| read_id(id)).collect());
        ids.map_err(|source| unusable(store, source))
    }
}

/// None if the owner has no such run.
async fn claim(
    store: &StoreInner,
    connection: &mut SqliteConnection,
    owner: &DataOwner,
    run: RunId,
    tenure: RunTenure,
) -> sqlx::Result<Option<RunClaim>> {
    // Immediate, so that of two processes only one finds it free.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let hold = sqlx::query_as(HOLD).bind(owner.as_bytes()).bind(run.to_string());
    let hold: Option<(Option<i64>, i64, Option<i64>)> =
        hold.fetch_optional(&mut *transaction).await?;
    let (driver, crashes) = match hold {
        None => return Ok(None),
        Some((_, _, Some(_))) => return Ok(Some(RunClaim::Ended)),
        Some((driver, crashes, None)) => (driver, crashes),
    };
    let crashes = match driver {
        None => crashes,
        Some(driver) if store.is_alive(driver) => return Ok(Some(RunClaim::Driven)),
        Some(_) => crashes + 1,
    };
    sqlx::query(CLAIM)
        .bind(run.to_string())
        .bind(store.owner)
        .bind(crashes)
        .bind(tenure == RunTenure::Lasting)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Some(RunClaim::Claimed { crashes: u32::try_from(crashes).unwrap_or(u32::MAX) }))
}

impl StoreInner {
    /// Whether the process behind the id of a store lives.
    pub(crate) fn is_alive(&self, owner: i64) -> bool {
        owner == self.owner || !crate::owner::is_gone(&self.state_dir, owner)
    }
}
