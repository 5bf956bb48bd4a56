//! Writes of one document, within a batch.

use gatefold_core::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::KnowledgeError;
use crate::citation::Version;
use crate::layout::{ChunkRecord, decode_chunks, encode_chunks};

/// A file or an answer that a document was read from.
#[derive(Debug, Clone)]
pub struct FileFacts {
    /// The document's name in its base: a path relative to the base's folder, or an address.
    pub name: String,
    /// Of the file's bytes.
    pub digest: Vec<u8>,
    /// Of the file.
    pub bytes: u64,
    pub modified: Timestamp,
}

/// What a row says of a document besides its file.
#[derive(Debug)]
pub(crate) struct DocumentState<'s> {
    pub(crate) title: &'s str,
    pub(crate) state: &'s str,
    pub(crate) reason: &'s str,
    pub(crate) version: Option<Version>,
}

/// What stood in a document's row.
#[derive(Debug)]
pub(crate) struct DocumentRow {
    pub(crate) id: i64,
    pub(crate) version: Option<Version>,
    pub(crate) is_encoded: bool,
}

pub(crate) fn find(
    connection: &Connection,
    name: &str,
) -> Result<Option<DocumentRow>, KnowledgeError> {
    let mut statement = connection
        .prepare_cached("SELECT id, version, is_encoded FROM documents WHERE name = ?1")?;
    let row = statement.query_row([name], |row| {
        let version: Option<[u8; 6]> = row.get(1)?;
        let version = version.map(Version::from_bytes);
        Ok(DocumentRow { id: row.get(0)?, version, is_encoded: row.get(2)? })
    });
    Ok(row.optional()?)
}

pub(crate) fn count(connection: &Connection) -> Result<usize, KnowledgeError> {
    let mut statement = connection.prepare_cached("SELECT count(*) FROM documents")?;
    let count: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Makes a row for a new document.
pub(crate) fn add(connection: &Connection, name: &str) -> Result<DocumentRow, KnowledgeError> {
    connection
        .prepare_cached(
            "INSERT INTO documents (name, title, state, reason, digest, bytes, modified, chunks, \
             is_encoded, generation) VALUES (?1, '', '', '', x'', 0, 0, 0, 0, 0)",
        )?
        .execute([name])?;
    let id = connection.last_insert_rowid();
    Ok(DocumentRow { id, version: None, is_encoded: false })
}

pub(crate) fn update(
    connection: &Connection,
    id: i64,
    file: &FileFacts,
    state: &DocumentState<'_>,
    generation: i64,
) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached(
            "UPDATE documents SET title = ?2, state = ?3, reason = ?4, version = ?5, digest = ?6, \
             bytes = ?7, modified = ?8, generation = ?9 WHERE id = ?1",
        )?
        .execute(params![
            id,
            state.title,
            state.state,
            state.reason,
            state.version.map(|version| *version.as_bytes()),
            file.digest,
            file.bytes.cast_signed(),
            file.modified.as_millis().cast_signed(),
            generation,
        ])?;
    Ok(())
}

/// Notes a file's size and time if its bytes are those of its document; says whether they are.
pub(crate) fn confirm(connection: &Connection, file: &FileFacts) -> Result<bool, KnowledgeError> {
    let mut statement = connection.prepare_cached(
        "UPDATE documents SET bytes = ?3, modified = ?4 WHERE name = ?1 AND digest = ?2",
    )?;
    let (bytes, modified) = (file.bytes.cast_signed(), file.modified.as_millis().cast_signed());
    Ok(statement.execute(params![file.name, file.digest, bytes, modified])? > 0)
}

pub(crate) fn chunks(connection: &Connection, id: i64) -> Result<Vec<ChunkRecord>, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT chunks FROM layouts WHERE document = ?1")?;
    let layout: Option<Vec<u8>> = statement.query_row([id], |row| row.get(0)).optional()?;
    layout.map_or_else(|| Ok(Vec::new()), |layout| decode_chunks(&layout))
}

pub(crate) fn set_chunks(
    connection: &Connection,
    id: i64,
    chunks: &[ChunkRecord],
    is_encoded: bool,
) -> Result<(), KnowledgeError> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO layouts (document, chunks) VALUES (?1, ?2)")?
        .execute(params![id, encode_chunks(chunks)?])?;
    connection
        .prepare_cached("UPDATE documents SET chunks = ?2, is_encoded = ?3 WHERE id = ?1")?
        .execute(params![id, u32::try_from(chunks.len()).unwrap_or(u32::MAX), is_encoded])?;
    Ok(())
}

/// Deletes a document. Its version becomes a past one by [`super::past::replace`].
pub(crate) fn delete(
    connection: &Connection,
    id: i64,
    generation: i64,
) -> Result<(), KnowledgeError> {
    for query in ["DELETE FROM documents WHERE id = ?1", "DELETE FROM layouts WHERE document = ?1"]
    {
        connection.prepare_cached(query)?.execute([id])?;
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO removals (document, generation) VALUES (?1, ?2)")?
        .execute([id, generation])?;
    Ok(())
}

pub(crate) fn delete_all(connection: &Connection) -> Result<(), KnowledgeError> {
    connection.execute_batch(
        "DELETE FROM documents; DELETE FROM layouts; DELETE FROM removals; DELETE FROM versions; \
         DELETE FROM vectors;",
    )?;
    Ok(())
}

/// Begins a batch. It is the next generation after the one that is returned.
pub(crate) fn begin(connection: &Connection) -> Result<i64, KnowledgeError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    Ok(super::state(connection)?.generation)
}

/// Ends a batch. Removals that the index has are forgotten.
pub(crate) fn commit(
    connection: &Connection,
    generation: i64,
    indexed: i64,
) -> Result<(), KnowledgeError> {
    connection.prepare_cached("DELETE FROM removals WHERE generation <= ?1")?.execute([indexed])?;
    connection.prepare_cached("UPDATE base SET generation = ?1")?.execute([generation])?;
    connection.execute_batch("COMMIT")?;
    Ok(())
}
