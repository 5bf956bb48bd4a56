//! Vectors of chunks, which an encoder makes in the background.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use super::KnowledgeBase;
use crate::KnowledgeError;
use crate::layout::encoded_text;
use crate::limits::{ENCODED_AT_ONCE, TOUCHED};
use crate::storage::vectors::{self, StoredVector};
use crate::storage::{self, StoredDocument};

/// Whether a text asks or answers. Some encoders put other words in front of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    Query,
    Passage,
    /// A sentence of a passage, which a question waits for.
    Sentence,
}

/// What makes vectors of texts.
pub trait SentenceEncoder: Send + Sync {
    /// A vector for each text, all of one length; `None` for a text that it cannot read, and for all of
    /// them where it cannot be asked for now.
    fn embed(&self, texts: &[&str], kind: TextKind) -> Option<Vec<Option<Vec<f32>>>>;

    /// Which encoder it is. Vectors of another are forgotten.
    fn name(&self) -> &str;
}

/// The encoder that is in force: another configuration may have another, or none.
pub type EncoderInForce = Arc<dyn Fn() -> Option<Arc<dyn SentenceEncoder>> + Send + Sync>;

/// How similar each text is to a question, from -1 to 1; `None` where the encoder cannot read both.
pub fn similarities(
    encoder: &dyn SentenceEncoder,
    question: &str,
    texts: &[&str],
) -> Vec<Option<f32>> {
    let asked = encoder.embed(&[question], TextKind::Query);
    let asked = asked.and_then(|asked| asked.into_iter().next().flatten());
    let Some(asked) = asked else { return vec![None; texts.len()] };
    let vectors = encoder.embed(texts, TextKind::Sentence).unwrap_or_default();
    vectors.iter().map(|vector| cosine(&asked, vector.as_deref()?)).collect()
}

fn cosine(one: &[f32], other: &[f32]) -> Option<f32> {
    let product = |a: &[f32], b: &[f32]| std::iter::zip(a, b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (product(one, one) * product(other, other)).sqrt();
    (one.len() == other.len() && lengths > 0.0).then(|| product(one, other) / lengths)
}

/// Chunks without a vector that searches met.
#[derive(Debug, Default)]
pub(super) struct TouchedChunks {
    /// Met last first, at most [`TOUCHED`].
    chunks: Mutex<VecDeque<TouchedChunk>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TouchedChunk {
    pub(super) document: i64,
    pub(super) digest: u64,
}

impl TouchedChunks {
    pub(super) fn add(&self, met: impl Iterator<Item = TouchedChunk>) {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        for chunk in met {
            if !chunks.contains(&chunk) {
                chunks.push_front(chunk);
            }
        }
        chunks.truncate(TOUCHED);
    }

    fn take(&self, most: usize) -> Vec<TouchedChunk> {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let count = chunks.len().min(most);
        chunks.drain(..count).collect()
    }
}

/// Chunks that are to be encoded at once.
#[derive(Debug, Default)]
struct EncodingBatch {
    digests: Vec<u64>,
    texts: Vec<String>,
    /// Documents that are encoded to their end by these, and their generations.
    ends: Vec<(i64, i64)>,
}

impl KnowledgeBase {
    /// Encodes chunks, about as many as `budget` says, those first that searches met. Says how many
    /// there may be left. It takes as long as the encoder does: call it on a thread of its own.
    pub fn encode_some(&self, budget: usize) -> Result<usize, KnowledgeError> {
        let Some(encoder) = (self.settings.encoder)() else { return Ok(0) };
        self.writer().set_encoder(encoder.name())?;
        let mut spent = 0;
        while spent < budget {
            let most = ENCODED_AT_ONCE.min(budget - spent);
            let Some(batch) = self.storage.read(|connection| self.next_batch(connection, most))?
            else {
                break;
            };
            let texts: Vec<&str> = batch.texts.iter().map(String::as_str).collect();
            let made = match &texts[..] {
                [] => Some(Vec::new()),
                texts => encoder.embed(texts, TextKind::Passage),
            };
            // What is not noted is taken up again the next time.
            let Some(mut made) = made else { return Ok(0) };
            made.resize(texts.len(), None);
            self.writer().note(|connection| {
                for (digest, vector) in batch.digests.iter().zip(&made) {
                    vectors::set(connection, *digest, &StoredVector::new(vector.as_deref()))?;
                }
                let finish = |end: &(i64, i64)| vectors::finish_document(connection, end.0, end.1);
                batch.ends.iter().try_for_each(finish)
            })?;
            spent += batch.texts.len().max(1);
        }
        self.storage.read(vectors::chunks_left)
    }

    fn next_batch(
        &self,
        connection: &Connection,
        most: usize,
    ) -> Result<Option<EncodingBatch>, KnowledgeError> {
        let mut batch = EncodingBatch::default();
        let touched = self.touched.take(most);
        for chunk in &touched {
            if let Some(stored) = storage::stored_document(connection, chunk.document)? {
                let is_it = |digest| digest == chunk.digest;
                self.add_missing(connection, &stored, is_it, most, &mut batch)?;
            }
        }
        if !touched.is_empty() {
            return Ok(Some(batch));
        }
        let documents = vectors::next_documents(connection, ENCODED_AT_ONCE)?;
        if documents.is_empty() {
            return Ok(None);
        }
        for document in documents {
            if let Some(stored) = storage::stored_document(connection, document)? {
                self.add_missing(connection, &stored, |_| true, most, &mut batch)?;
            }
            if batch.texts.len() >= most {
                break;
            }
            batch.ends.push((document, vectors::generation(connection, document)?));
        }
        Ok(Some(batch))
    }

    /// Adds chunks of a document that have no vector.
    fn add_missing(
        &self,
        connection: &Connection,
        stored: &StoredDocument,
        is_meant: impl Fn(u64) -> bool,
        most: usize,
        batch: &mut EncodingBatch,
    ) -> Result<(), KnowledgeError> {
        for record in stored.chunks.iter().filter(|record| is_meant(record.digest)) {
            if batch.texts.len() >= most {
                break;
            }
            if batch.digests.contains(&record.digest)
                || vectors::find(connection, record.digest)?.is_some()
            {
                continue;
            }
            let text = self.text_within(connection, &stored.name, stored.version)?;
            batch.digests.push(record.digest);
            batch.texts.push(encoded_text(&stored.title, &text, &record.chunk));
        }
        Ok(())
    }
}
