//! Work in the background: recovery after the crash of another process, and retention.

use std::sync::{Arc, Weak};
use std::time::Duration;

use gatefold_core::{CallId, Timestamp};
use gatefold_dispatch::UtcDay;
use tokio::sync::Notify;
use tokio::time::{Instant, interval_at, sleep};

use crate::audit::recover_ends;
use crate::blocking::blocking;
use crate::database::millis;
use crate::store::StoreInner;
use crate::{
    Store, StoreError, approvals, model_uses, owner, past, results, runs, sources, threads, used,
};

/// The delay before a store's first round, so as not to slow down its start, and the time between
/// rounds.
const FIRST_ROUND: Duration = Duration::from_secs(30);
pub const ROUND: Duration = Duration::from_mins(10);

/// How many rows to delete at once, and the pause between steps, so that opening a record waits for
/// one step at most.
const PRUNED_AT_ONCE: u32 = 200;
const PRUNE_PAUSE: Duration = Duration::from_millis(20);

const UNENDED_OWNERS: &str =
    "SELECT DISTINCT owner FROM calls WHERE closed_at IS NULL AND outcome = 'open'";

const INTERRUPT: &str = "
    UPDATE calls SET outcome = 'interrupted', closed_at = ?2
    WHERE closed_at IS NULL AND outcome = 'open' AND owner = ?1";

const EXPIRE: &str = "
    UPDATE calls SET outcome = 'expired', closed_at = expires_at
    WHERE closed_at IS NULL AND outcome = 'suspended' AND expires_at <= ?1";

/// Each takes the bound and the number of rows for one step. Ids begin with their time, so their
/// index also orders records by age.
const PRUNE_CALLS_BY_AGE: &str = "
    DELETE FROM calls WHERE seq IN (
        SELECT seq FROM calls WHERE id < unhex(?1) AND closed_at IS NOT NULL ORDER BY id LIMIT ?2
    )";
const PRUNE_CALLS_BY_COUNT: &str = "
    DELETE FROM calls WHERE seq IN (
        SELECT seq FROM calls
        WHERE seq <= (SELECT max(seq) FROM calls) - ?1 AND closed_at IS NOT NULL
        ORDER BY seq LIMIT ?2
    )";
const PRUNE_DISCOVERIES_BY_AGE: &str = "
    DELETE FROM discoveries
    WHERE at < ?1 AND seq IN (SELECT seq FROM discoveries ORDER BY seq LIMIT ?2)";
const PRUNE_DISCOVERIES_BY_COUNT: &str = "
    DELETE FROM discoveries WHERE seq IN (
        SELECT seq FROM discoveries
        WHERE seq <= (SELECT max(seq) FROM discoveries) - ?1
        ORDER BY seq LIMIT ?2
    )";

/// Moves what it can from the log to the database without blocking writers.
const CHECKPOINT: &str = "PRAGMA wal_checkpoint(PASSIVE)";

impl Store {
    /// Deletes the records beyond [`Retention`](crate::Retention), past queries whose weight is too
    /// small, and manifests that nothing refers to. Returns how many records it deleted. It also
    /// runs by itself every few minutes.
    pub async fn prune(&self) -> Result<u64, StoreError> {
        prune(&self.inner).await
    }
}

/// Does a round from time to time, and checkpoints the log when told to, for as long as the store
/// exists.
pub(crate) async fn keep(store: Weak<StoreInner>, checkpoint: Arc<Notify>) {
    let mut rounds = interval_at(Instant::now() + FIRST_ROUND, ROUND);
    loop {
        let is_round = tokio::select! {
            () = checkpoint.notified() => false,
            _ = rounds.tick() => true,
        };
        let Some(store) = store.upgrade() else { return };
        let done = if is_round { round(&store).await } else { tidy_log(&store).await };
        if let Err(error) = done {
            tracing::warn!(%error, "housekeeping failed and will be tried again");
        }
    }
}

async fn tidy_log(store: &StoreInner) -> Result<(), StoreError> {
    let mut connection = store.connection().await;
    let tidied = sqlx::query(CHECKPOINT).execute(&mut *connection).await;
    tidied.map(drop).map_err(|source| store.error(source))
}

async fn round(store: &StoreInner) -> Result<(), StoreError> {
    recover(store).await?;
    prune(store).await.map(drop)
}

/// Closes the records that nobody else will close: those that dead processes left open, and those
/// whose suspension has expired.
pub(crate) async fn recover(store: &StoreInner) -> Result<(), StoreError> {
    let now = millis(store.clock.now());
    let state_dir = store.state_dir.clone();
    let left_behind = blocking(move || owner::left_behind(&state_dir)).await;
    let mut connection = store.connection().await;
    let owners: Vec<i64> = sqlx::query_scalar(UNENDED_OWNERS)
        .fetch_all(&mut *connection)
        .await
        .map_err(|source| store.error(source))?;
    let (mut ended, mut interrupted) = (0, 0);
    for owner in owners {
        if owner != store.owner && owner::is_gone(&store.state_dir, owner) {
            let failed = |source| store.error(source);
            ended += recover_ends(&mut connection, &store.state_dir, owner, failed).await?;
            let query = sqlx::query(INTERRUPT).bind(owner).bind(now).execute(&mut *connection);
            interrupted += query.await.map_err(|source| store.error(source))?.rows_affected();
        }
    }
    let expired = sqlx::query(EXPIRE).bind(now).execute(&mut *connection).await;
    let expired = expired.map_err(|source| store.error(source))?.rows_affected();
    if ended + interrupted + expired > 0 {
        tracing::info!(ended, interrupted, expired, "records that nobody ended were closed");
    }
    let removed = blocking(move || left_behind.and_then(|left| owner::remove(&left))).await;
    if let Err(error) = removed {
        tracing::debug!(%error, "files of processes that are gone could not be removed");
    }
    Ok(())
}

/// Deletes what is too old, too much or no longer useful, in small steps.
pub(crate) async fn prune(store: &StoreInner) -> Result<u64, StoreError> {
    let age = u64::try_from(store.retention.age.as_millis()).unwrap_or(u64::MAX);
    let now = store.aging.look(&mut *store.connection().await).await;
    let now = now.map_err(|source| store.error(source))?;
    let oldest = Timestamp::from_millis(now.as_millis().saturating_sub(age));
    let first_id = CallId::new(oldest, 0).to_string();
    let rows = i64::from(store.retention.rows);
    let mut pruned = prune_by(store, PRUNE_CALLS_BY_AGE, Bound::Id(first_id)).await?;
    pruned += prune_by(store, PRUNE_CALLS_BY_COUNT, Bound::Number(rows)).await?;
    let oldest_day = model_uses::number(UtcDay::of(oldest));
    let oldest = millis(oldest);
    pruned += prune_by(store, PRUNE_DISCOVERIES_BY_AGE, Bound::Number(oldest)).await?;
    pruned += prune_by(store, PRUNE_DISCOVERIES_BY_COUNT, Bound::Number(rows)).await?;
    prune_by(store, runs::PRUNE_EVENTS, Bound::Number(oldest)).await?;
    prune_by(store, runs::PRUNE_RUNS, Bound::Number(oldest)).await?;
    prune_by(store, threads::PRUNE, Bound::Number(oldest)).await?;
    pruned += prune_by(store, model_uses::PRUNE_BY_AGE, Bound::Number(oldest)).await?;
    pruned += prune_by(store, model_uses::PRUNE_BY_COUNT, Bound::Number(rows)).await?;
    prune_by(store, model_uses::PRUNE_DAYS_BY_AGE, Bound::Number(oldest_day)).await?;
    prune_by(store, model_uses::PRUNE_DAYS_BY_COUNT, Bound::Number(rows)).await?;
    if pruned > 0 {
        tracing::info!(pruned, "old records were deleted");
    }
    approvals::prune(store, now).await?;
    past::prune(store, now).await?;
    results::prune(store, now).await?;
    used::prune(store, now).await?;
    sources::sweep(store).await?;
    Ok(pruned)
}

enum Bound {
    Id(String),
    Number(i64),
}

async fn prune_by(store: &StoreInner, sql: &'static str, bound: Bound) -> Result<u64, StoreError> {
    let mut pruned = 0;
    loop {
        let query = match &bound {
            Bound::Id(id) => sqlx::query(sql).bind(id.as_str()),
            Bound::Number(number) => sqlx::query(sql).bind(*number),
        };
        let step = query.bind(PRUNED_AT_ONCE).execute(&mut *store.connection().await).await;
        let step = step.map_err(|source| store.error(source))?.rows_affected();
        pruned += step;
        if step < u64::from(PRUNED_AT_ONCE) {
            return Ok(pruned);
        }
        sleep(PRUNE_PAUSE).await;
    }
}
