//! What is put and removed between two commits.
//!
//! The order makes a crash harmless: documents are committed first, and the index after them with the
//! number of the batch. An index that is behind lacks the documents of later batches and is mended when
//! it is opened; one that is ahead cannot be.

use std::collections::HashSet;

use gatefold_core::Timestamp;
use rusqlite::Connection;

use super::NewDocument;
use super::repair::{IndexState, align, rebuild};
use crate::KnowledgeError;
use crate::chunks::is_sound;
use crate::citation::Version;
use crate::codec::compress;
use crate::index::{ChunkIndex, ChunkWriter};
use crate::layout::{ChunkRecord, IndexedText, encode_structure, lay_out};
use crate::limits::{BATCH_BYTES, BATCH_DOCUMENTS, MAX_DOCUMENTS, MAX_NAME, MAX_REASON, MAX_TITLE};
use crate::storage::past::{self, PastLimits, VersionRecord};
use crate::storage::rows::{self, DocumentRow, DocumentState, FileFacts};
use crate::storage::{self, READY, vectors};

pub(super) struct BatchWriter {
    connection: Connection,
    /// From the first change on.
    index: Option<ChunkWriter>,
    batch: Option<OpenBatch>,
}

#[derive(Debug)]
struct OpenBatch {
    generation: i64,
    documents: usize,
    bytes: usize,
}

impl BatchWriter {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection, index: None, batch: None }
    }

    pub(super) fn is_full(&self) -> bool {
        let is_full =
            |batch: &OpenBatch| batch.bytes >= BATCH_BYTES || batch.documents >= BATCH_DOCUMENTS;
        self.batch.as_ref().is_some_and(is_full)
    }

    pub(super) fn put(
        &mut self,
        index: &ChunkIndex,
        new: &NewDocument,
        now: Timestamp,
    ) -> Result<(), KnowledgeError> {
        self.check_name(&new.file.name)?;
        let document = &new.document;
        if !is_sound(document) {
            let reason = "what was read of it is not in its text; nothing of it is kept";
            return self.put_fault(index, &new.file, "damaged", reason, now);
        }
        let record = VersionRecord {
            version: Version::of(&document.text),
            text: compress(document.text.as_bytes())?,
            structure: encode_structure(document)?,
        };
        if self.is_other_text(&new.file.name, record.version, &document.text)? {
            let reason = "its text has the version of another one; change it by a word";
            return self.put_fault(index, &new.file, "damaged", reason, now);
        }
        let reason = faults(new);
        let title = title(new);
        let state = DocumentState {
            title: &title,
            state: READY,
            reason: &reason,
            version: Some(record.version),
        };
        self.within_batch(index, document.text.len(), |batch| {
            let row = batch.row(&new.file.name)?;
            batch.replace_version(&new.file.name, &row, Some(record.version), now)?;
            past::add(batch.connection, &new.file.name, &record)?;
            rows::update(batch.connection, row.id, &new.file, &state, batch.generation)?;
            let chunks = lay_out(row.id, &new.file.name, &title, document);
            batch.replace_chunks(&row, &chunks, |chunk| {
                IndexedText::new(&new.file.name, &title, &document.text, &chunk.chunk)
            })
        })
    }

    pub(super) fn put_fault(
        &mut self,
        index: &ChunkIndex,
        file: &FileFacts,
        state: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), KnowledgeError> {
        self.check_name(&file.name)?;
        let title = file_title(&file.name);
        let reason = &reason[..reason.floor_char_boundary(MAX_REASON)];
        let state = DocumentState { title, state, reason, version: None };
        self.within_batch(index, 0, |batch| {
            let row = batch.row(&file.name)?;
            batch.replace_version(&file.name, &row, None, now)?;
            rows::update(batch.connection, row.id, file, &state, batch.generation)?;
            batch.replace_chunks(&row, &[], |_| IndexedText::default())
        })
    }

    pub(super) fn remove(
        &mut self,
        index: &ChunkIndex,
        name: &str,
        now: Timestamp,
    ) -> Result<bool, KnowledgeError> {
        if rows::find(&self.connection, name)?.is_none() {
            return Ok(false);
        }
        self.within_batch(index, 0, |batch| {
            let Some(row) = rows::find(batch.connection, name)? else { return Ok(false) };
            batch.replace_version(name, &row, None, now)?;
            for chunk in rows::chunks(batch.connection, row.id)? {
                vectors::delete(batch.connection, chunk.digest)?;
            }
            rows::delete(batch.connection, row.id, batch.generation)?;
            batch.index.delete_document(row.id);
            Ok(true)
        })
    }

    /// Begins a batch with nothing in it, so that no other process can write.
    pub(super) fn begin(&mut self, index: &ChunkIndex) -> Result<(), KnowledgeError> {
        self.within_batch(index, 0, |_| Ok(()))
    }

    pub(super) fn remove_all(&mut self, index: &ChunkIndex) -> Result<(), KnowledgeError> {
        self.within_batch(index, 0, |batch| {
            rows::delete_all(batch.connection)?;
            batch.index.delete_all()
        })
    }

    /// Ends the batch; says whether there was one.
    pub(super) fn commit(
        &mut self,
        index: &ChunkIndex,
        limits: &PastLimits,
        now: Timestamp,
    ) -> Result<bool, KnowledgeError> {
        let Some(batch) = &self.batch else { return Ok(false) };
        let generation = batch.generation;
        let committed = past::prune(&self.connection, limits, now)
            .and_then(|()| rows::commit(&self.connection, generation, generation - 1));
        if let Err(error) = committed {
            self.abandon();
            return Err(error);
        }
        self.batch = None;
        let state = IndexState::of(&storage::state(&self.connection)?);
        let Some(writer) = &mut self.index else { return self.align(index).map(|()| true) };
        if let Err(error) = writer.commit(&state.to_string()) {
            // A new writer starts with what the index lacks.
            self.index = None;
            return Err(error);
        }
        Ok(true)
    }

    /// Does something that belongs to no batch.
    pub(super) fn note<T>(
        &mut self,
        note: impl FnOnce(&Connection) -> Result<T, KnowledgeError>,
    ) -> Result<T, KnowledgeError> {
        if self.batch.is_some() {
            return note(&self.connection);
        }
        let transaction = self.connection.transaction()?;
        let answer = note(&transaction)?;
        transaction.commit()?;
        Ok(answer)
    }

    pub(super) fn set_encoder(&mut self, name: &str) -> Result<(), KnowledgeError> {
        if storage::state(&self.connection)?.encoder != name {
            self.note(|connection| vectors::set_encoder(connection, name))?;
        }
        Ok(())
    }

    /// Mends the index if it disagrees with the documents.
    pub(super) fn align(&mut self, index: &ChunkIndex) -> Result<(), KnowledgeError> {
        if self.batch.is_none() && self.index.is_none() {
            align(&mut self.connection, index)?;
        }
        Ok(())
    }

    pub(super) fn rebuild(&mut self, index: &ChunkIndex) -> Result<(), KnowledgeError> {
        // A writer that failed does not mend itself.
        self.index = None;
        let mut writer = index.writer()?;
        rebuild(&self.connection, &mut writer)?;
        self.index = Some(writer);
        Ok(())
    }

    /// Whether a document may have a name. What is wrong with one document is found before the batch is
    /// touched, and costs no other.
    fn check_name(&self, name: &str) -> Result<(), KnowledgeError> {
        if name.is_empty() || name.len() > MAX_NAME || name.contains(char::is_control) {
            let shown = name[..name.floor_char_boundary(80)].escape_debug().to_string();
            return Err(KnowledgeError::Name(shown));
        }
        let is_new = rows::find(&self.connection, name)?.is_none();
        if is_new && rows::count(&self.connection)? >= MAX_DOCUMENTS {
            return Err(KnowledgeError::Full);
        }
        Ok(())
    }

    /// Whether a version of a document is there with another text. A version is short, so that somebody
    /// who wants that can make two texts of one; a citation must not come to mean the other.
    fn is_other_text(
        &self,
        name: &str,
        version: Version,
        text: &str,
    ) -> Result<bool, KnowledgeError> {
        let stored = storage::text(&self.connection, name, version)?;
        Ok(stored.is_some_and(|stored| stored != text))
    }

    /// Does one thing of a batch, and begins the batch if it is the first. If it fails, all of the
    /// batch is undone, since the index cannot undo a part.
    fn within_batch<T>(
        &mut self,
        index: &ChunkIndex,
        bytes: usize,
        write: impl FnOnce(&WriteStep<'_>) -> Result<T, KnowledgeError>,
    ) -> Result<T, KnowledgeError> {
        if self.batch.is_none() {
            if self.index.is_none() {
                align(&mut self.connection, index)?;
            }
            if self.index.is_none() {
                self.index = Some(index.writer()?);
            }
            let generation = rows::begin(&self.connection)? + 1;
            self.batch = Some(OpenBatch { generation, documents: 0, bytes: 0 });
        }
        let (Some(batch), Some(writer)) = (&mut self.batch, &self.index) else {
            return Err(KnowledgeError::Busy);
        };
        batch.documents += 1;
        batch.bytes += bytes;
        let step =
            WriteStep { connection: &self.connection, index: writer, generation: batch.generation };
        let answer = write(&step);
        if answer.is_err() {
            self.abandon();
        }
        answer
    }

    /// Forgets a batch.
    fn abandon(&mut self) {
        self.batch = None;
        // It fails where the failure has already ended the transaction.
        let _ = self.connection.execute_batch("ROLLBACK");
        let undone = self.index.as_mut().is_none_or(|index| index.roll_back().is_ok());
        if !undone {
            self.index = None;
        }
    }
}

/// One thing of a batch.
struct WriteStep<'w> {
    connection: &'w Connection,
    index: &'w ChunkWriter,
    generation: i64,
}

impl WriteStep<'_> {
    fn row(&self, name: &str) -> Result<DocumentRow, KnowledgeError> {
        match rows::find(self.connection, name)? {
            Some(row) => Ok(row),
            None => rows::add(self.connection, name),
        }
    }

    fn replace_version(
        &self,
        name: &str,
        row: &DocumentRow,
        by: Option<Version>,
        now: Timestamp,
    ) -> Result<(), KnowledgeError> {
        match row.version {
            Some(version) if by != Some(version) => {
                past::replace(self.connection, name, version, now)
            }
            _ => Ok(()),
        }
    }

    /// Writes the chunks that changed, and no other.
    fn replace_chunks(
        &self,
        row: &DocumentRow,
        chunks: &[ChunkRecord],
        indexed: impl Fn(&ChunkRecord) -> IndexedText,
    ) -> Result<(), KnowledgeError> {
        let old = rows::chunks(self.connection, row.id)?;
        let old_keys: HashSet<u64> = old.iter().map(|chunk| chunk.key).collect();
        let new_keys: HashSet<u64> = chunks.iter().map(|chunk| chunk.key).collect();
        let digests: HashSet<u64> = chunks.iter().map(|chunk| chunk.digest).collect();
        for chunk in &old {
            if !new_keys.contains(&chunk.key) {
                self.index.delete_chunk(chunk.key);
            }
            if !digests.contains(&chunk.digest) {
                vectors::delete(self.connection, chunk.digest)?;
            }
        }
        let mut is_encoded = row.is_encoded;
        for chunk in chunks.iter().filter(|chunk| !old_keys.contains(&chunk.key)) {
            self.index.add(row.id, chunk, &indexed(chunk))?;
            is_encoded = false;
        }
        if old != chunks {
            rows::set_chunks(self.connection, row.id, chunks, is_encoded)?;
        }
        Ok(())
    }
}

fn title(new: &NewDocument) -> String {
    let own = new.document.title.as_deref().map(clean_title);
    let hint = new.title_hint.as_deref().map(clean_title);
    let known = [own, hint].into_iter().flatten().find(|title| !title.is_empty());
    known.unwrap_or_else(|| file_title(&new.file.name).to_owned())
}

/// A title in one line of bounded length.
fn clean_title(title: &str) -> String {
    let head = &title[..title.floor_char_boundary(MAX_TITLE)];
    let visible: String =
        head.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name of a file without its folder.
fn file_title(name: &str) -> &str {
    name.trim_end_matches('/').rsplit('/').next().filter(|title| !title.is_empty()).unwrap_or(name)
}

/// What is missing of a document that has some text.
fn faults(new: &NewDocument) -> String {
    if !new.note.is_empty() {
        return new.note[..new.note.floor_char_boundary(MAX_REASON)].to_owned();
    }
    let mut reason = String::new();
    for fault in &new.document.faults {
        let note = fault.to_string();
        if reason.len() + note.len() > MAX_REASON {
            break;
        }
        if !reason.is_empty() {
            reason.push(' ');
        }
        reason.push_str(&note);
    }
    reason
}
