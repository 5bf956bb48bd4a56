//! Past versions of documents: what is kept of them, and for how long.

use std::time::Duration;

use gatefold_core::Timestamp;
use rusqlite::{Connection, params};

use crate::KnowledgeError;
use crate::citation::Version;
use crate::limits::{PAST_BYTES, PAST_TIME, PAST_VERSIONS};

/// How long past versions are kept. One goes when it is neither among a document's last ones nor young,
/// and the oldest go where all of them are too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastLimits {
    pub versions: u32,
    /// Also how long a version is kept after it was cited.
    pub time: Duration,
    /// On disk, compressed. Versions that were cited have as much again to themselves.
    pub bytes: u64,
}

impl Default for PastLimits {
    fn default() -> Self {
        Self { versions: PAST_VERSIONS, time: PAST_TIME, bytes: PAST_BYTES }
    }
}

/// A document's text and structure, compressed.
#[derive(Debug)]
pub(crate) struct VersionRecord {
    pub(crate) version: Version,
    pub(crate) text: Vec<u8>,
    pub(crate) structure: Vec<u8>,
}

/// Adds a version, or makes a past one the present one again.
pub(crate) fn add(
    connection: &Connection,
    name: &str,
    record: &VersionRecord,
) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached(
            "INSERT INTO versions (name, version, text, structure, bytes) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (name, version) DO UPDATE SET replaced = NULL, structure = excluded.structure, \
             bytes = excluded.bytes",
        )?
        .execute(params![
            name,
            record.version.as_bytes(),
            record.text,
            record.structure,
            i64::try_from(record.text.len() + record.structure.len()).unwrap_or(i64::MAX),
        ])?;
    Ok(())
}

/// Makes a version a past one.
pub(crate) fn replace(
    connection: &Connection,
    name: &str,
    version: Version,
    now: Timestamp,
) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached("UPDATE versions SET replaced = ?3 WHERE name = ?1 AND version = ?2")?
        .execute(params![name, version.as_bytes(), millis(now)])?;
    Ok(())
}

/// Notes that a version was cited. Says whether it is there.
pub(crate) fn cite(
    connection: &Connection,
    name: &str,
    version: Version,
    now: Timestamp,
) -> Result<bool, KnowledgeError> {
    let mut statement = connection
        .prepare_cached("UPDATE versions SET cited = ?3 WHERE name = ?1 AND version = ?2")?;
    Ok(statement.execute(params![name, version.as_bytes(), millis(now)])? > 0)
}

/// Deletes past versions that are beyond the limits.
pub(crate) fn prune(
    connection: &Connection,
    limits: &PastLimits,
    now: Timestamp,
) -> Result<(), KnowledgeError> {
    let time = i64::try_from(limits.time.as_millis()).unwrap_or(i64::MAX);
    let oldest = millis(now).saturating_sub(time);
    connection
        .prepare_cached(
            "DELETE FROM versions WHERE replaced < ?1 AND coalesce(cited, 0) <= ?1 AND \
             (SELECT count(*) FROM versions AS later \
              WHERE later.name = versions.name AND later.replaced > versions.replaced) >= ?2",
        )?
        .execute(params![oldest, limits.versions])?;
    for (is_cited, age) in [("coalesce(cited, 0) <= ?1", "replaced"), ("cited > ?1", "cited")] {
        prune_bytes(connection, is_cited, age, oldest, limits.bytes)?;
    }
    Ok(())
}

/// Deletes the oldest past versions of a kind until they take no more than so many bytes.
fn prune_bytes(
    connection: &Connection,
    of_kind: &str,
    age: &str,
    oldest: i64,
    most: u64,
) -> Result<(), KnowledgeError> {
    let past = format!("FROM versions WHERE replaced IS NOT NULL AND {of_kind}");
    let sum = format!("SELECT coalesce(sum(bytes), 0) {past}");
    let sum: i64 = connection.prepare_cached(&sum)?.query_row([oldest], |row| row.get(0))?;
    let mut excess = sum.saturating_sub(i64::try_from(most).unwrap_or(i64::MAX));
    if excess <= 0 {
        return Ok(());
    }
    let mut statement =
        connection.prepare_cached(&format!("SELECT id, bytes {past} ORDER BY {age}, id"))?;
    let mut rows = statement.query([oldest])?;
    let mut surplus: Vec<i64> = Vec::new();
    while excess > 0 {
        let Some(row) = rows.next()? else { break };
        surplus.push(row.get(0)?);
        excess -= row.get::<_, i64>(1)?;
    }
    drop(rows);
    for id in surplus {
        connection.prepare_cached("DELETE FROM versions WHERE id = ?1")?.execute([id])?;
    }
    Ok(())
}

fn millis(time: Timestamp) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
