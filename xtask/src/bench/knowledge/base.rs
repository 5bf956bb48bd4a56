//! A base of a set, and the encoder that reads it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use gatefold_encoder::{Model, ModelPlace, TOKENS};
use gatefold_knowledge::{BaseSettings, KnowledgeBase, NewDocument, SentenceEncoder, TextKind};

use super::sets::KnowledgeSet;

/// Opens the base in a folder, with these documents where it has none yet.
pub(super) fn open(
    folder: &Path,
    set: &KnowledgeSet,
    encoder: Option<&Arc<BenchEncoder>>,
) -> Result<KnowledgeBase> {
    let encoder = encoder.map(|encoder| Arc::clone(encoder) as Arc<dyn SentenceEncoder>);
    let settings =
        BaseSettings { encoder: Arc::new(move || encoder.clone()), ..BaseSettings::default() };
    let base = KnowledgeBase::open(folder, settings)?;
    if base.counts()?.documents == 0 {
        put(&base, set.documents.values())?;
    }
    Ok(base)
}

pub(super) fn put<'d>(
    base: &KnowledgeBase,
    documents: impl Iterator<Item = &'d NewDocument>,
) -> Result<()> {
    for document in documents {
        base.put(document)?;
    }
    Ok(base.commit()?)
}

/// The most passages whose vectors are remembered: more than a set has.
const REMEMBERED: usize = 200_000;

/// An encoder that remembers passages: documents that are taken out and put back are not encoded again.
pub(super) struct BenchEncoder {
    model: Model,
    /// At most [`REMEMBERED`].
    passages: Mutex<HashMap<String, Option<Vec<f32>>>>,
}

impl BenchEncoder {
    pub(super) fn open(place: &ModelPlace) -> Result<Arc<Self>> {
        Ok(Arc::new(Self { model: place.open()?, passages: Mutex::default() }))
    }

    fn encode(&self, text: &str) -> Option<Vec<f32>> {
        self.model.encode(text, TOKENS).ok().map(|vector| vector.values().to_vec())
    }
}

impl SentenceEncoder for BenchEncoder {
    fn embed(&self, texts: &[&str], kind: TextKind) -> Option<Vec<Option<Vec<f32>>>> {
        let passage = |text: &str| {
            let known = || self.passages.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(vector) = known().get(text) {
                return vector.clone();
            }
            let vector = self.encode(text);
            let mut known = known();
            if known.len() < REMEMBERED {
                known.insert(text.to_owned(), vector.clone());
            }
            vector
        };
        let embed = |text: &&str| match kind {
            TextKind::Query | TextKind::Sentence => self.encode(text),
            TextKind::Passage => passage(text),
        };
        Some(texts.iter().map(embed).collect())
    }

    fn name(&self) -> &str {
        self.model.digest()
    }
}
