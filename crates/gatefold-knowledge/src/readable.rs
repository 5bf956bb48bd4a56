//! The texts of bases that one reader may see, for checking quotes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::{
    CitableText, Citation, CitedText, CitedTexts, KnowledgeBase, KnowledgeError, Query, Version,
};

/// How many documents are looked at for a quote that is not where the answer says.
const CANDIDATES: usize = 5;

/// How many texts are kept while one answer is checked.
const TEXTS: usize = 32;

/// One base, and what of it the reader may see.
pub struct ReadableBase<'b> {
    /// The base's name in citations.
    pub domain: &'b str,
    pub base: &'b KnowledgeBase,
    /// Whether the reader may see this version of a document.
    pub sees: &'b dyn Fn(&str, Version) -> bool,
}

/// All that a quote may be from. Its methods wait for the disk.
pub struct ReadableTexts<'b> {
    bases: Vec<ReadableBase<'b>>,
    /// By base, document and version, at most [`TEXTS`]. They keep their normal forms, which take longest.
    texts: RefCell<HashMap<(usize, String, Version), Arc<CitableText>>>,
}

impl<'b> ReadableTexts<'b> {
    pub fn new(bases: Vec<ReadableBase<'b>>) -> Self {
        Self { bases, texts: RefCell::default() }
    }

    /// A version of a document of the base at this place.
    fn get(
        &self,
        at: usize,
        name: &str,
        version: Version,
    ) -> Result<Arc<CitableText>, KnowledgeError> {
        let key = (at, name.to_owned(), version);
        if let Some(text) = self.texts.borrow().get(&key) {
            return Ok(Arc::clone(text));
        }
        let ReadableBase { domain, base, .. } = self.bases[at];
        let document = base.document(name, version)?;
        let (text, places) = (document.text.into(), document.places.into());
        let text = Arc::new(CitableText::new(domain.into(), name.into(), version, text, places));
        let mut texts = self.texts.borrow_mut();
        if texts.len() >= TEXTS {
            texts.clear();
        }
        texts.insert(key, Arc::clone(&text));
        Ok(text)
    }
}

impl CitedTexts for ReadableTexts<'_> {
    fn text(&self, citation: &Citation) -> CitedText {
        let Citation { domain, document, version, .. } = citation;
        let is_cited =
            |own: &ReadableBase<'_>| own.domain == domain && (own.sees)(document, *version);
        let Some(at) = self.bases.iter().position(is_cited) else { return CitedText::Unknown };
        match self.get(at, document, *version) {
            Ok(text) => CitedText::Present(text),
            Err(KnowledgeError::Missing { present: Some(present), .. }) => {
                CitedText::Gone { present: Some(present) }
            }
            Err(KnowledgeError::Missing { .. }) => CitedText::Unknown,
            Err(error) => {
                tracing::warn!(%error, "a cited text could not be read");
                CitedText::Unknown
            }
        }
    }

    fn find(&self, words: &str) -> Vec<Arc<CitableText>> {
        let query = Query { text: words, top: CANDIDATES, per_document: 1 };
        let mut found = Vec::new();
        for (at, own) in self.bases.iter().enumerate() {
            let passages = match own.base.search(&query) {
                Ok(found) => found.passages,
                Err(error) => {
                    tracing::warn!(%error, "a quote could not be looked for");
                    continue;
                }
            };
            let seen = passages.into_iter().filter(|one| (own.sees)(&one.document, one.version));
            found.extend(seen.map(|one| (at, one)));
        }
        // Scores mean the same in every base.
        found.sort_by(|(_, one), (_, other)| other.score.total_cmp(&one.score));
        found.truncate(CANDIDATES);
        let texts = found.iter().map(|(at, one)| self.get(*at, &one.document, one.version));
        texts.filter_map(Result::ok).collect()
    }
}
