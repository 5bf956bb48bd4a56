//! Inspects a state directory without opening it as a store.

use std::path::Path;

use sqlx::Row as _;

use crate::blocking::blocking;
use crate::database::Database;
use crate::{Durability, StoreError, layout, owner};

/// The state of a state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// The database's schema version; `None` when there is no database yet.
    pub schema: Option<i64>,
    /// How many stores are open on it, each in a running process.
    pub holders: usize,
}

/// Opens the database for reading and checks it (SQLite's `quick_check`). It writes no record and
/// creates no database, though SQLite may create its two side files beside an existing one. An
/// error says what is wrong with it.
pub async fn examine(state_dir: &Path) -> Result<Health, StoreError> {
    let directory = state_dir.to_owned();
    let looked = blocking(move || (layout::check(&directory), owner::holders(&directory))).await;
    let (sound, holders) = looked;
    sound?;
    let path = Database::path(state_dir);
    // A database that was only just created is empty.
    if !std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > 0) {
        return Ok(Health { schema: None, holders });
    }
    let database = Database::at(state_dir, Durability::Process);
    let mut connection = database.connect_to_read().await?;
    let checked = sqlx::query("PRAGMA quick_check(1)").fetch_one(&mut connection).await;
    let verdict = checked.and_then(|row| row.try_get::<String, _>(0));
    if verdict.map_err(|source| database.error(source))? != "ok" {
        return Err(StoreError::Damaged { path, source: None });
    }
    let schema = database.schema(&mut connection).await?;
    Ok(Health { schema, holders })
}
