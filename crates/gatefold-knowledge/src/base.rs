//! A knowledge base: what is put into it, and what comes out.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gatefold_core::{Clock, SystemClock, Timestamp};
use gatefold_documents::Document;
use rusqlite::Connection;

use crate::KnowledgeError;
use crate::citation::Version;
use crate::index::ChunkIndex;
use crate::storage::past::{self, PastLimits};
use crate::storage::rows::{self, FileFacts};
use crate::storage::{self, BaseCounts, DocumentSummary, Storage};

mod batch;
mod disk;
mod encoding;
mod repair;
mod search;
mod texts;

pub use disk::DiskUse;
pub use encoding::{EncoderInForce, SentenceEncoder, TextKind, similarities};
pub use search::{Found, Query};

use batch::BatchWriter;
use encoding::TouchedChunks;
use repair::IndexState;
use texts::TextCache;

/// How a base is kept.
pub struct BaseSettings {
    pub past: PastLimits,
    /// What re-scores the chunks that a search finds.
    pub encoder: EncoderInForce,
    pub clock: Arc<dyn Clock>,
}

impl Default for BaseSettings {
    fn default() -> Self {
        Self {
            past: PastLimits::default(),
            encoder: Arc::new(|| None),
            clock: Arc::new(SystemClock),
        }
    }
}

/// A document that was read, and the file that it was read from.
#[derive(Debug)]
pub struct NewDocument {
    pub file: FileFacts,
    /// The title of a document that says none itself.
    pub title_hint: Option<String>,
    /// What is missing of it, in words, where its faults do not say it; often empty.
    pub note: String,
    pub document: Document,
}

/// One base: a folder on disk. No statistics of one count in another.
///
/// What is put or removed counts from [`commit`](Self::commit) on, and then survives a crash. A batch
/// that grows too large is committed before. Where a change fails, all of its batch is undone. Any
/// number of threads may search while one writes. Of several processes one writes, which it does from
/// its first change until it closes the base.
pub struct KnowledgeBase {
    storage: Storage,
    index: ChunkIndex,
    writer: Mutex<BatchWriter>,
    /// The state of the index that searches see.
    seen: Mutex<Option<IndexState>>,
    texts: TextCache,
    touched: TouchedChunks,
    settings: BaseSettings,
}

const STORAGE_FILE: &str = "documents.sqlite";
const INDEX_FOLDER: &str = "index";

impl KnowledgeBase {
    /// Opens the base in a folder of its own, or makes an empty one there. Makes the index anew where
    /// it is missing, damaged or of another format, which takes a while for a large base.
    pub fn open(folder: &Path, settings: BaseSettings) -> Result<Self, KnowledgeError> {
        let failed = |source| KnowledgeError::Folder { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let storage = Storage::open(&folder.join(STORAGE_FILE))?;
        let index = repair::open_index(&storage, &folder.join(INDEX_FOLDER))?;
        let writer = BatchWriter::new(storage.writer()?);
        let base = Self {
            storage,
            index,
            writer: Mutex::new(writer),
            seen: Mutex::new(None),
            texts: TextCache::default(),
            touched: TouchedChunks::default(),
            settings,
        };
        base.align()?;
        Ok(base)
    }

    /// Puts a document in the place of what has its name.
    pub fn put(&self, document: &NewDocument) -> Result<(), KnowledgeError> {
        let now = self.settings.clock.now();
        self.write(|writer| writer.put(&self.index, document, now))
    }

    /// Notes that a file gives no text. `state` is one word for lists, `reason` a sentence.
    pub fn put_fault(
        &self,
        file: &FileFacts,
        state: &str,
        reason: &str,
    ) -> Result<(), KnowledgeError> {
        let now = self.settings.clock.now();
        self.write(|writer| writer.put_fault(&self.index, file, state, reason, now))
    }

    /// Whether a document was made of a file with these bytes. If so, the file's time and size are noted.
    pub fn confirm(&self, file: &FileFacts) -> Result<bool, KnowledgeError> {
        self.writer().note(|connection| rows::confirm(connection, file))
    }

    /// Removes a document; says whether there was one. Its past versions stay as long as those of others.
    pub fn remove(&self, name: &str) -> Result<bool, KnowledgeError> {
        let now = self.settings.clock.now();
        self.write(|writer| writer.remove(&self.index, name, now))
    }

    /// Makes what was put and removed count. Once it returns, that survives a crash.
    pub fn commit(&self) -> Result<(), KnowledgeError> {
        let mut writer = self.writer();
        self.commit_batch(&mut writer)
    }

    /// Removes all documents and all their versions, at once.
    pub fn remove_all(&self) -> Result<(), KnowledgeError> {
        let mut writer = self.writer();
        writer.remove_all(&self.index)?;
        self.texts.clear();
        self.commit_batch(&mut writer)
    }

    /// Makes the index anew from the documents.
    pub fn rebuild(&self) -> Result<(), KnowledgeError> {
        let mut writer = self.writer();
        self.commit_batch(&mut writer)?;
        writer.rebuild(&self.index)?;
        self.index.reload()
    }

    /// Deletes a base with all that it keeps, unless another process writes to it.
    pub fn delete(folder: &Path) -> Result<(), KnowledgeError> {
        let base = Self::open(folder, BaseSettings::default())?;
        base.writer().begin(&base.index)?;
        let failed = |source| KnowledgeError::Folder { path: folder.to_owned(), source };
        fs::remove_dir_all(folder).map_err(failed)
    }

    /// All documents, by name.
    pub fn documents(&self) -> Result<Vec<DocumentSummary>, KnowledgeError> {
        self.storage.read(storage::summaries)
    }

    pub fn summary(&self, name: &str) -> Result<Option<DocumentSummary>, KnowledgeError> {
        self.storage.read(|connection| storage::summary(connection, name))
    }

    pub fn counts(&self) -> Result<BaseCounts, KnowledgeError> {
        self.storage.read(storage::counts)
    }

    /// The text of a version, the present one or a past one.
    pub fn text(&self, name: &str, version: Version) -> Result<Arc<str>, KnowledgeError> {
        self.storage.read(|connection| self.text_within(connection, name, version))
    }

    /// A version with its blocks and places, without its faults.
    pub fn document(&self, name: &str, version: Version) -> Result<Document, KnowledgeError> {
        self.storage.read(|connection| match storage::document(connection, name, version)? {
            Some(document) => Ok(document),
            None => Err(missing(connection, name, version)?),
        })
    }

    /// Keeps a version for a while because it was cited; says whether it is there.
    pub fn keep_cited(&self, name: &str, version: Version) -> Result<bool, KnowledgeError> {
        let now = self.settings.clock.now();
        self.writer().note(|connection| past::cite(connection, name, version, now))
    }

    fn text_within(
        &self,
        connection: &Connection,
        name: &str,
        version: Version,
    ) -> Result<Arc<str>, KnowledgeError> {
        // Whether it is still there is asked for first: a text that is gone may be in the cache.
        if !storage::has_version(connection, name, version)? {
            return Err(missing(connection, name, version)?);
        }
        if let Some(text) = self.texts.get(name, version) {
            return Ok(text);
        }
        let Some(text) = storage::text(connection, name, version)? else {
            return Err(missing(connection, name, version)?);
        };
        let text: Arc<str> = text.into();
        self.texts.add(name, version, &text);
        Ok(text)
    }

    fn writer(&self) -> MutexGuard<'_, BatchWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes within a batch, and ends the batch if it is full.
    fn write<T>(
        &self,
        write: impl FnOnce(&mut BatchWriter) -> Result<T, KnowledgeError>,
    ) -> Result<T, KnowledgeError> {
        let mut writer = self.writer();
        let answer = write(&mut writer)?;
        if writer.is_full() {
            self.commit_batch(&mut writer)?;
        }
        Ok(answer)
    }

    fn commit_batch(&self, writer: &mut BatchWriter) -> Result<(), KnowledgeError> {
        if writer.commit(&self.index, &self.settings.past, self.now())? {
            self.index.reload()?;
        }
        Ok(())
    }

    fn now(&self) -> Timestamp {
        self.settings.clock.now()
    }

    /// Brings storage and index in line after opening.
    fn align(&self) -> Result<(), KnowledgeError> {
        let mut writer = self.writer();
        match writer.align(&self.index) {
            // The process that writes brings them in line.
            Err(KnowledgeError::Busy) => {}
            aligned => aligned?,
        }
        drop(writer);
        self.index.reload()
    }
}

fn missing(
    connection: &Connection,
    name: &str,
    version: Version,
) -> Result<KnowledgeError, KnowledgeError> {
    let present = storage::present_version(connection, name)?;
    Ok(KnowledgeError::Missing { name: name.to_owned(), version, present })
}
