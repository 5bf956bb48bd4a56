//! What a base keeps, in one SQLite file. The index is made from it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gatefold_core::Timestamp;
use gatefold_documents::Document;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::KnowledgeError;
use crate::citation::Version;
use crate::layout::{CHUNK_FORMAT, ChunkRecord, decode_chunks, decode_document, decode_text};
use crate::limits::{READERS, WRITE_WAIT};

pub(crate) mod past;
pub(crate) mod rows;
pub(crate) mod vectors;

/// The tables' format. A file of a later one is left alone.
const STORAGE_FORMAT: i64 = 1;

const TABLES: &str = "
    CREATE TABLE base (
        id TEXT NOT NULL,
        generation INTEGER NOT NULL,
        chunk_format INTEGER NOT NULL,
        encoder TEXT NOT NULL
    );
    INSERT INTO base VALUES (lower(hex(randomblob(8))), 0, 0, '');
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        state TEXT NOT NULL,
        reason TEXT NOT NULL,
        digest BLOB NOT NULL,
        bytes INTEGER NOT NULL,
        modified INTEGER NOT NULL,
        version BLOB,
        chunks INTEGER NOT NULL,
        is_encoded INTEGER NOT NULL,
        generation INTEGER NOT NULL
    );
    CREATE INDEX documents_generation ON documents (generation);
    CREATE INDEX documents_encoding ON documents (is_encoded, chunks);
    CREATE TABLE layouts (document INTEGER PRIMARY KEY, chunks BLOB NOT NULL);
    CREATE TABLE removals (document INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
    CREATE TABLE versions (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        version BLOB NOT NULL,
        text BLOB NOT NULL,
        structure BLOB NOT NULL,
        bytes INTEGER NOT NULL,
        replaced INTEGER,
        cited INTEGER,
        UNIQUE (name, version)
    );
    CREATE INDEX versions_past ON versions (replaced, cited, bytes) WHERE replaced IS NOT NULL;
    CREATE TABLE vectors (digest INTEGER PRIMARY KEY, vector BLOB NOT NULL);
";

/// The state of a document that has text.
pub const READY: &str = "ready";

/// What a list says of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSummary {
    pub name: String,
    pub title: String,
    /// `None` where the document gives no text.
    pub version: Option<Version>,
    /// [`READY`], or the word of a fault.
    pub state: String,
    /// Why it has no text, or what of it is missing; often empty.
    pub reason: String,
    /// Of the file's bytes.
    pub digest: Vec<u8>,
    /// Of the file.
    pub bytes: u64,
    pub chunks: usize,
    pub modified: Timestamp,
}

/// What a base has in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BaseCounts {
    pub documents: usize,
    /// Of these, the ones without text.
    pub faults: usize,
    pub chunks: usize,
    /// Chunks of documents that the encoder has not read to the end.
    pub chunks_to_encode: usize,
    pub past_versions: usize,
    /// What past versions take on disk.
    pub past_bytes: u64,
}

/// A document with its chunks, as a search needs it.
#[derive(Debug)]
pub(crate) struct StoredDocument {
    pub(crate) name: Arc<str>,
    pub(crate) title: Arc<str>,
    pub(crate) version: Version,
    pub(crate) chunks: Vec<ChunkRecord>,
}

/// What the index should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StorageState {
    pub(crate) base: String,
    pub(crate) generation: i64,
    pub(crate) chunk_format: i64,
    pub(crate) encoder: String,
}

#[derive(Debug)]
pub(crate) struct Storage {
    path: Box<Path>,
    /// Connections that wait for readers, at most [`READERS`].
    idle: Mutex<Vec<Connection>>,
}

impl Storage {
    /// Opens the file, or makes it with empty tables.
    pub(crate) fn open(path: &Path) -> Result<Self, KnowledgeError> {
        let mut connection = connect(path)?;
        let format = |connection: &Connection| {
            connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
        };
        if format(&connection)? == 0 {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            // Another process may have made the tables meanwhile.
            if format(&transaction)? == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.execute("UPDATE base SET chunk_format = ?1", [CHUNK_FORMAT])?;
                transaction.pragma_update(None, "user_version", STORAGE_FORMAT)?;
            }
            transaction.commit()?;
        }
        if format(&connection)? > STORAGE_FORMAT {
            return Err(KnowledgeError::NewerFormat);
        }
        Ok(Self { path: path.into(), idle: Mutex::new(vec![connection]) })
    }

    /// A connection that writes.
    pub(crate) fn writer(&self) -> Result<Connection, KnowledgeError> {
        connect(&self.path)
    }

    /// Reads as of one moment.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, KnowledgeError>,
    ) -> Result<T, KnowledgeError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = idle.map_or_else(|| connect(&self.path), Ok)?;
        let transaction = connection.transaction()?;
        let answer = read(&transaction);
        transaction.finish()?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < READERS {
            idle.push(connection);
        }
        answer
    }
}

fn connect(path: &Path) -> Result<Connection, KnowledgeError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(WRITE_WAIT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit that was acknowledged survives a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -8192)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

pub(crate) fn state(connection: &Connection) -> Result<StorageState, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT id, generation, chunk_format, encoder FROM base")?;
    let read = |row: &Row<'_>| {
        Ok(StorageState {
            base: row.get(0)?,
            generation: row.get(1)?,
            chunk_format: row.get(2)?,
            encoder: row.get(3)?,
        })
    };
    Ok(statement.query_row([], read)?)
}

const SUMMARY: &str =
    "SELECT name, title, version, state, reason, digest, bytes, chunks, modified FROM documents";

fn summary_of(row: &Row<'_>) -> rusqlite::Result<DocumentSummary> {
    let version: Option<[u8; 6]> = row.get(2)?;
    Ok(DocumentSummary {
        name: row.get(0)?,
        title: row.get(1)?,
        version: version.map(Version::from_bytes),
        state: row.get(3)?,
        reason: row.get(4)?,
        digest: row.get(5)?,
        bytes: row.get::<_, i64>(6)?.cast_unsigned(),
        chunks: row.get::<_, u32>(7)? as usize,
        modified: Timestamp::from_millis(row.get::<_, i64>(8)?.cast_unsigned()),
    })
}

pub(crate) fn summaries(connection: &Connection) -> Result<Vec<DocumentSummary>, KnowledgeError> {
    let mut statement = connection.prepare_cached(&format!("{SUMMARY} ORDER BY name"))?;
    let summaries = statement.query_map([], summary_of)?.collect::<Result<_, _>>()?;
    Ok(summaries)
}

pub(crate) fn summary(
    connection: &Connection,
    name: &str,
) -> Result<Option<DocumentSummary>, KnowledgeError> {
    let mut statement = connection.prepare_cached(&format!("{SUMMARY} WHERE name = ?1"))?;
    Ok(statement.query_row([name], summary_of).optional()?)
}

pub(crate) fn counts(connection: &Connection) -> Result<BaseCounts, KnowledgeError> {
    let count = |number: i64| usize::try_from(number).unwrap_or_default();
    let documents = "SELECT count(*), count(*) FILTER (WHERE version IS NULL), \
        coalesce(sum(chunks), 0), coalesce(sum(chunks) FILTER (WHERE is_encoded = 0), 0) FROM documents";
    let mut counts = connection.query_row(documents, [], |row| {
        Ok(BaseCounts {
            documents: count(row.get(0)?),
            faults: count(row.get(1)?),
            chunks: count(row.get(2)?),
            chunks_to_encode: count(row.get(3)?),
            ..BaseCounts::default()
        })
    })?;
    let past = "SELECT count(*), coalesce(sum(bytes), 0) FROM versions WHERE replaced IS NOT NULL";
    (counts.past_versions, counts.past_bytes) = connection.query_row(past, [], |row| {
        Ok((count(row.get(0)?), row.get::<_, i64>(1)?.cast_unsigned()))
    })?;
    Ok(counts)
}

pub(crate) fn chunk_count(connection: &Connection) -> Result<u64, KnowledgeError> {
    let sum = "SELECT coalesce(sum(chunks), 0) FROM documents";
    let sum: i64 = connection.query_row(sum, [], |row| row.get(0))?;
    Ok(sum.cast_unsigned())
}

/// A document that has text, with its chunks.
pub(crate) fn stored_document(
    connection: &Connection,
    id: i64,
) -> Result<Option<StoredDocument>, KnowledgeError> {
    let mut statement = connection.prepare_cached(
        "SELECT name, title, version, layouts.chunks FROM documents \
         JOIN layouts ON document = documents.id WHERE documents.id = ?1 AND version IS NOT NULL",
    )?;
    let found = statement.query_row([id], |row| {
        let (name, title): (String, String) = (row.get(0)?, row.get(1)?);
        Ok((name, title, row.get::<_, [u8; 6]>(2)?, row.get::<_, Vec<u8>>(3)?))
    });
    let Some((name, title, version, layout)) = found.optional()? else { return Ok(None) };
    Ok(Some(StoredDocument {
        name: name.into(),
        title: title.into(),
        version: Version::from_bytes(version),
        chunks: decode_chunks(&layout)?,
    }))
}

pub(crate) fn title(connection: &Connection, id: i64) -> Result<Option<String>, KnowledgeError> {
    let mut statement = connection.prepare_cached("SELECT title FROM documents WHERE id = ?1")?;
    Ok(statement.query_row([id], |row| row.get(0)).optional()?)
}

pub(crate) fn text(
    connection: &Connection,
    name: &str,
    version: Version,
) -> Result<Option<String>, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT text FROM versions WHERE name = ?1 AND version = ?2")?;
    let bytes: Option<Vec<u8>> =
        statement.query_row(params![name, version.as_bytes()], |row| row.get(0)).optional()?;
    bytes.map(|bytes| decode_text(&bytes)).transpose()
}

pub(crate) fn document(
    connection: &Connection,
    name: &str,
    version: Version,
) -> Result<Option<Document>, KnowledgeError> {
    let mut statement = connection
        .prepare_cached("SELECT text, structure FROM versions WHERE name = ?1 AND version = ?2")?;
    let found: Option<(Vec<u8>, Vec<u8>)> = statement
        .query_row(params![name, version.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((text, structure)) = found else { return Ok(None) };
    decode_document(decode_text(&text)?, &structure).map(Some)
}

pub(crate) fn present_version(
    connection: &Connection,
    name: &str,
) -> Result<Option<Version>, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT version FROM documents WHERE name = ?1")?;
    let version: Option<Option<[u8; 6]>> =
        statement.query_row([name], |row| row.get(0)).optional()?;
    Ok(version.flatten().map(Version::from_bytes))
}

/// Documents that have text and were changed after a generation, by their numbers.
pub(crate) fn changed_since(
    connection: &Connection,
    generation: i64,
) -> Result<Vec<i64>, KnowledgeError> {
    numbers(connection, "SELECT id FROM documents WHERE generation > ?1", generation)
}

/// Documents that were removed after a generation, by their numbers.
pub(crate) fn removed_since(
    connection: &Connection,
    generation: i64,
) -> Result<Vec<i64>, KnowledgeError> {
    numbers(connection, "SELECT document FROM removals WHERE generation > ?1", generation)
}

fn numbers(connection: &Connection, query: &str, after: i64) -> Result<Vec<i64>, KnowledgeError> {
    let mut statement = connection.prepare_cached(query)?;
    let numbers = statement.query_map([after], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(numbers)
}

pub(crate) fn has_version(
    connection: &Connection,
    name: &str,
    version: Version,
) -> Result<bool, KnowledgeError> {
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM versions WHERE name = ?1 AND version = ?2")?;
    Ok(statement.exists(params![name, version.as_bytes()])?)
}
