//! The index of words: what it has of a chunk, and how it is written.
//!
//! It is derived. What it calls its state names the base and the last batch that it holds, so that
//! whoever opens it knows what it lacks.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriter, IndexWriterOptions};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexReader, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term};

use crate::KnowledgeError;
use crate::layout::{ChunkRecord, IndexedText};
use crate::limits::INDEX_MEMORY;
use crate::words::{EXACT, STEMMED, exact_analyzer, stemming_analyzer};

pub(crate) mod candidates;

/// What the index has of a chunk. A change of it makes every index anew.
pub(crate) const INDEX_FORMAT: u32 = 2;

/// A text of a chunk, in both analyses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextField {
    pub(crate) stemmed: Field,
    pub(crate) exact: Field,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// Title and file name, headings, body.
    pub(crate) texts: [TextField; 3],
    /// The file's name alone, stemmed.
    pub(crate) name: Field,
    document: Field,
    key: Field,
    digest: Field,
}

pub(crate) const DOCUMENT: &str = "document";
pub(crate) const KEY: &str = "key";
pub(crate) const DIGEST: &str = "digest";

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let mut text = |name: &str, analysis: &str| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(analysis)
            .set_index_option(IndexRecordOption::WithFreqs);
        schema.add_text_field(
            &format!("{name}_{analysis}"),
            TextOptions::default().set_indexing_options(indexing),
        )
    };
    let texts = ["title", "headings", "body"]
        .map(|name| TextField { stemmed: text(name, STEMMED), exact: text(name, EXACT) });
    let name = text("name", STEMMED);
    let fields = Fields {
        texts,
        name,
        document: schema.add_u64_field(DOCUMENT, INDEXED | FAST),
        key: schema.add_u64_field(KEY, INDEXED | FAST),
        digest: schema.add_u64_field(DIGEST, FAST),
    };
    (schema.build(), fields)
}

pub(crate) struct ChunkIndex {
    index: Index,
    reader: IndexReader,
    pub(crate) fields: Fields,
}

impl ChunkIndex {
    /// Opens the index in a folder, or makes an empty one there.
    pub(crate) fn open(folder: &Path) -> Result<Self, KnowledgeError> {
        let failed = |source| KnowledgeError::Folder { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(failed)?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(folder).map_err(TantivyError::from)?;
        let index = Index::open_or_create(directory, schema)?;
        index.tokenizers().register(EXACT, exact_analyzer());
        index.tokenizers().register(STEMMED, stemming_analyzer());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, fields })
    }

    /// Deletes what is in a folder.
    pub(crate) fn delete(folder: &Path) -> Result<(), KnowledgeError> {
        match fs::remove_dir_all(folder) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(KnowledgeError::Folder { path: folder.to_owned(), source })
            }
            _ => Ok(()),
        }
    }

    /// What the last commit said the index holds.
    pub(crate) fn state(&self) -> Result<Option<String>, KnowledgeError> {
        Ok(self.index.load_metas()?.payload)
    }

    pub(crate) fn reload(&self) -> Result<(), KnowledgeError> {
        Ok(self.reader.reload()?)
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// The one writer of this index.
    pub(crate) fn writer(&self) -> Result<ChunkWriter, KnowledgeError> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(INDEX_MEMORY)
            .build();
        let writer = self.index.writer_with_options(options).map_err(|error| match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => KnowledgeError::Busy,
            other => other.into(),
        })?;
        Ok(ChunkWriter { writer, fields: self.fields })
    }
}

pub(crate) struct ChunkWriter {
    writer: IndexWriter<TantivyDocument>,
    fields: Fields,
}

impl ChunkWriter {
    pub(crate) fn add(
        &self,
        document: i64,
        record: &ChunkRecord,
        indexed: &IndexedText,
    ) -> Result<(), KnowledgeError> {
        let mut entry = TantivyDocument::default();
        let texts = [&indexed.title, &indexed.headings, &indexed.body];
        for (field, text) in self.fields.texts.iter().zip(texts) {
            entry.add_text(field.stemmed, text);
            entry.add_text(field.exact, text);
        }
        entry.add_text(self.fields.name, &indexed.name);
        entry.add_u64(self.fields.document, document.cast_unsigned());
        entry.add_u64(self.fields.key, record.key);
        entry.add_u64(self.fields.digest, record.digest);
        self.writer.add_document(entry)?;
        Ok(())
    }

    pub(crate) fn delete_chunk(&self, key: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.key, key));
    }

    pub(crate) fn delete_document(&self, document: i64) {
        let term = Term::from_field_u64(self.fields.document, document.cast_unsigned());
        self.writer.delete_term(term);
    }

    pub(crate) fn delete_all(&self) -> Result<(), KnowledgeError> {
        self.writer.delete_all_documents()?;
        Ok(())
    }

    /// Writes everything to disk, and the name of this state with it.
    pub(crate) fn commit(&mut self, state: &str) -> Result<(), KnowledgeError> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(state);
        commit.commit()?;
        Ok(())
    }

    /// Forgets what was not committed.
    pub(crate) fn roll_back(&mut self) -> Result<(), KnowledgeError> {
        self.writer.rollback()?;
        Ok(())
    }
}
