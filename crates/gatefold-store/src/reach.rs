//! Whether sources were reached with their current configuration.

use std::collections::HashMap;
use std::path::Path;

use gatefold_core::Timestamp;

use crate::database::{Database, millis};
use crate::{Durability, SourceKey, Store, StoreError};

/// The schema version that has `sources.failed_at`.
const REACH_STEP: i64 = 6;

const NOTE: &str =
    "UPDATE sources SET failed_at = ?3 WHERE domain = ?1 AND config_digest = unhex(?2)";

const RECORDS: &str = "SELECT domain, lower(hex(config_digest)), failed_at FROM sources";

/// An attempt to reach a source.
#[derive(Debug, Clone)]
pub struct ReachAttempt {
    pub key: SourceKey,
    /// When it failed. None if the source was reached.
    pub failed_at: Option<Timestamp>,
}

/// What is on record about reaching a source in one configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReachRecord {
    /// It never offered anything in this configuration.
    Never,
    /// It was reached once, and a later check failed.
    Failed,
    Reached,
}

impl Store {
    /// Records the outcomes of attempts. An attempt at a source that was never reached changes
    /// nothing.
    pub async fn note_reach(&self, attempts: &[ReachAttempt]) -> Result<(), StoreError> {
        let store = self.inner();
        let mut connection = store.connection().await;
        for ReachAttempt { key, failed_at } in attempts {
            sqlx::query(NOTE)
                .bind(key.domain.as_str())
                .bind(key.config.to_string())
                .bind(failed_at.map(millis))
                .execute(&mut *connection)
                .await
                .map_err(|source| store.error(source))?;
        }
        Ok(())
    }
}

/// What a state directory has on record about these sources, in their order. Only reads. A database
/// from before this was recorded counts as empty.
pub async fn reach_records(
    state_dir: &Path,
    keys: &[SourceKey],
) -> Result<Vec<ReachRecord>, StoreError> {
    let nothing = vec![ReachRecord::Never; keys.len()];
    if !std::fs::metadata(Database::path(state_dir)).is_ok_and(|metadata| metadata.len() > 0) {
        return Ok(nothing);
    }
    let database = Database::at(state_dir, Durability::Process);
    let mut connection = database.connect_to_read().await?;
    if database.schema(&mut connection).await?.is_none_or(|step| step < REACH_STEP) {
        return Ok(nothing);
    }
    let rows: Vec<(String, String, Option<i64>)> = sqlx::query_as(RECORDS)
        .fetch_all(&mut connection)
        .await
        .map_err(|source| database.error(source))?;
    let known: HashMap<_, _> = rows
        .into_iter()
        .map(|(domain, config, failed_at)| ((domain, config), failed_at.is_some()))
        .collect();
    let record = |key: &SourceKey| match known
        .get(&(key.domain.as_str().to_owned(), key.config.to_string()))
    {
        None => ReachRecord::Never,
        Some(true) => ReachRecord::Failed,
        Some(false) => ReachRecord::Reached,
    };
    Ok(keys.iter().map(record).collect())
}
