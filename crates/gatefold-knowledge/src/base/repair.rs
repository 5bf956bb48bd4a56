//! An index that disagrees with the documents, and how it is mended.

use std::fmt::{self, Display};
use std::path::Path;
use std::str::FromStr;

use rusqlite::Connection;

use crate::KnowledgeError;
use crate::index::{ChunkIndex, ChunkWriter, INDEX_FORMAT};
use crate::layout::{CHUNK_FORMAT, IndexedText, lay_out};
use crate::storage::{self, Storage, StorageState, StoredDocument, rows};

/// What an index holds: all batches of a base up to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexState {
    format: u32,
    base: String,
    generation: i64,
}

impl IndexState {
    pub(super) fn of(storage: &StorageState) -> Self {
        Self { format: INDEX_FORMAT, base: storage.base.clone(), generation: storage.generation }
    }

    fn is_of(&self, storage: &StorageState) -> bool {
        self.format == INDEX_FORMAT && self.base == storage.base
    }
}

impl Display for IndexState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.format, self.base, self.generation)
    }
}

/// A state that this version did not write.
#[derive(Debug)]
pub(super) struct UnknownState;

impl FromStr for IndexState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        let mut words = text.split(' ');
        let (format, base, generation) = (words.next(), words.next(), words.next());
        Ok(Self {
            format: format.and_then(|word| word.parse().ok()).ok_or(UnknownState)?,
            base: base.ok_or(UnknownState)?.to_owned(),
            generation: generation.and_then(|word| word.parse().ok()).ok_or(UnknownState)?,
        })
    }
}

pub(super) fn index_state(index: &ChunkIndex) -> Result<Option<IndexState>, KnowledgeError> {
    Ok(index.state()?.and_then(|state| state.parse().ok()))
}

/// Opens the index, an empty one in the place of one that cannot be used.
pub(super) fn open_index(storage: &Storage, folder: &Path) -> Result<ChunkIndex, KnowledgeError> {
    let state = storage.read(storage::state)?;
    let opened = ChunkIndex::open(folder).and_then(|index| {
        let is_usable = match index.state()? {
            None => true,
            Some(text) => text.parse().is_ok_and(|of_index: IndexState| of_index.is_of(&state)),
        };
        Ok(is_usable.then_some(index))
    });
    match opened {
        Ok(Some(index)) => Ok(index),
        Ok(None) | Err(KnowledgeError::Index(_)) => {
            ChunkIndex::delete(folder)?;
            ChunkIndex::open(folder)
        }
        Err(error) => Err(error),
    }
}

/// Has the index hold what the documents have, whatever of it is there.
pub(super) fn align(connection: &mut Connection, index: &ChunkIndex) -> Result<(), KnowledgeError> {
    let state = storage::state(connection)?;
    if state.chunk_format != i64::from(CHUNK_FORMAT) {
        let mut writer = index.writer()?;
        lay_out_all(connection)?;
        return rebuild(connection, &mut writer);
    }
    index.reload()?;
    let held = index.searcher().num_docs();
    let needed = storage::chunk_count(connection)?;
    match index_state(index)? {
        Some(of_index) if of_index == IndexState::of(&state) && held == needed => Ok(()),
        Some(of_index) if of_index.is_of(&state) && of_index.generation < state.generation => {
            let mut writer = index.writer()?;
            mend(connection, &mut writer, of_index.generation)?;
            index.reload()?;
            // What else is wrong with an index is not told by its state.
            if index.searcher().num_docs() == needed {
                return Ok(());
            }
            rebuild(connection, &mut writer)
        }
        None if held == 0 && needed == 0 => Ok(()),
        _ => rebuild(connection, &mut index.writer()?),
    }
}

/// Indexes the documents that were changed after a generation.
fn mend(
    connection: &Connection,
    writer: &mut ChunkWriter,
    generation: i64,
) -> Result<(), KnowledgeError> {
    for removed in storage::removed_since(connection, generation)? {
        writer.delete_document(removed);
    }
    for changed in storage::changed_since(connection, generation)? {
        writer.delete_document(changed);
        add_document(connection, writer, changed)?;
    }
    writer.commit(&IndexState::of(&storage::state(connection)?).to_string())
}

/// Indexes everything anew. Until it is done the index has no state, so that a crash has it done again.
pub(super) fn rebuild(
    connection: &Connection,
    writer: &mut ChunkWriter,
) -> Result<(), KnowledgeError> {
    writer.roll_back()?;
    writer.delete_all()?;
    for document in storage::changed_since(connection, -1)? {
        add_document(connection, writer, document)?;
    }
    writer.commit(&IndexState::of(&storage::state(connection)?).to_string())
}

fn add_document(
    connection: &Connection,
    writer: &ChunkWriter,
    id: i64,
) -> Result<(), KnowledgeError> {
    let Some(document) = storage::stored_document(connection, id)? else { return Ok(()) };
    let StoredDocument { name, title, version, chunks } = document;
    let text = storage::text(connection, &name, version)?
        .ok_or(KnowledgeError::Damaged("the text of a document is missing"))?;
    for chunk in &chunks {
        writer.add(id, chunk, &IndexedText::new(&name, &title, &text, &chunk.chunk))?;
    }
    Ok(())
}

/// Makes the chunks of all documents anew, since this version makes others.
fn lay_out_all(connection: &mut Connection) -> Result<(), KnowledgeError> {
    let transaction = connection.transaction()?;
    for id in storage::changed_since(&transaction, -1)? {
        let Some(stored) = storage::stored_document(&transaction, id)? else { continue };
        let document = storage::document(&transaction, &stored.name, stored.version)?
            .ok_or(KnowledgeError::Damaged("the text of a document is missing"))?;
        let chunks = lay_out(id, &stored.name, &stored.title, &document);
        rows::set_chunks(&transaction, id, &chunks, false)?;
    }
    transaction.execute("UPDATE base SET chunk_format = ?1", [CHUNK_FORMAT])?;
    transaction.commit()?;
    Ok(())
}
