//! Searching: passages, and answers made of quotes.

use std::collections::HashSet;

use super::super::arguments::{GroundArguments, RetrieveArguments};
use super::super::shown::{ShownClaim, ShownClaims, ShownPart, ShownPassages, two_digits};
use super::{Desk, DeskError, DeskResult};
use crate::ranking::FITS;
use crate::{
    Calibration, Found, GroundingSettings, KnowledgeError, MAX_TOP, Passage, Query, TextKind,
    ground,
};

/// The most passages of one document.
const PER_DOCUMENT: usize = 3;

/// How many passages are shown where none fits.
const WEAK: usize = 2;

/// How many passages an answer of quotes is made of.
const GROUNDING_PASSAGES: usize = 20;

impl Desk {
    /// The answer of `kb_retrieve`.
    pub(in super::super) fn retrieve(&self, arguments: &RetrieveArguments) -> DeskResult {
        let query = needed(&arguments.query, "query")?;
        let offset = arguments.offset().map_err(DeskError::Arguments)?;
        let end = offset.saturating_add(arguments.top()).min(MAX_TOP);
        let Found { mut passages, nearest_titles } = self.search(query, end + 1)?;
        let fits = passages.first().is_some_and(|best| best.score >= FITS);
        if !fits {
            passages.truncate(WEAK);
        }
        let has_more = passages.len() > end && end < MAX_TOP;
        passages.truncate(end);
        let shown = passages.get(offset..).unwrap_or_default();
        let parts = shown.iter().map(|passage| self.cite_passage(passage)).collect();
        let answer = ShownPassages {
            fits,
            passages: parts,
            nearest_titles: if fits { Vec::new() } else { self.visible_titles(nearest_titles)? },
            next_cursor: has_more.then(|| end.to_string()),
            notes: self.notes(),
        };
        Ok(answer.payload(&self.hint()))
    }

    /// The answer of `grounded_retrieve`.
    pub(in super::super) fn ground(&self, arguments: &GroundArguments) -> DeskResult {
        let question = needed(&arguments.question, "question")?;
        let Found { passages, nearest_titles } = self.search(question, GROUNDING_PASSAGES)?;
        let similarity = |question: &str, texts: &[&str]| self.similarities(question, texts);
        let calibration = Calibration::default();
        let grounded = ground(
            question,
            &passages,
            &GroundingSettings {
                quotes: arguments.quotes(),
                similarity: self.encoder.is_some().then_some(&similarity),
                calibration: &calibration,
            },
        );
        let quotes = |claim: &crate::Claim| {
            let shown = claim.quotes.iter().map(|quote| {
                self.cited.add(&quote.document, quote.version);
                ShownPart::of_quote(self.domain.as_str(), quote)
            });
            ShownClaim { quotes: shown.collect() }
        };
        let answer = ShownClaims {
            insufficient: grounded.insufficient,
            confidence: two_digits(grounded.confidence),
            claims: grounded.claims.iter().map(quotes).collect(),
            nearest_titles: if grounded.insufficient {
                self.visible_titles(nearest_titles)?
            } else {
                Vec::new()
            },
            notes: self.notes(),
        };
        Ok(answer.payload(&self.hint()))
    }

    /// The passages that the caller may read, at most so many.
    fn search(&self, text: &str, top: usize) -> Result<Found, KnowledgeError> {
        let query = Query { text, top, per_document: PER_DOCUMENT };
        let sees = |own: &Passage| self.access.sees(&own.document, Some(own.version));
        let mut found = self.base.search(&query)?;
        if !found.passages.iter().all(sees) {
            // Hidden documents are left out of the whole ranking, not of its top.
            found = self.base.search(&Query { top: MAX_TOP, ..query })?;
            found.passages.retain(sees);
            found.passages.truncate(top);
        }
        Ok(found)
    }

    fn cite_passage(&self, passage: &Passage) -> ShownPart {
        self.cited.add(&passage.document, passage.version);
        ShownPart::of_passage(self.domain.as_str(), passage)
    }

    /// Those of these titles that a document has which the caller may see.
    fn visible_titles(&self, mut titles: Vec<String>) -> Result<Vec<String>, KnowledgeError> {
        if titles.is_empty() {
            return Ok(titles);
        }
        let all = self.base.documents()?;
        let is_seen = |title: &str| {
            let mut own = all.iter().filter(|document| document.title == title);
            own.any(|document| self.access.sees(&document.name, document.version))
        };
        titles.retain(|title| is_seen(title));
        let mut seen = HashSet::new();
        titles.retain(|title| seen.insert(title.clone()));
        Ok(titles)
    }

    /// How similar sentences are to a question, where there is an encoder.
    fn similarities(&self, question: &str, texts: &[&str]) -> Vec<Option<f32>> {
        let Some(encoder) = &self.encoder else { return vec![None; texts.len()] };
        let asked = encoder.embed(&[question], TextKind::Query);
        let asked = asked.and_then(|asked| asked.into_iter().next().flatten());
        let Some(asked) = asked else { return vec![None; texts.len()] };
        let vectors = encoder.embed(texts, TextKind::Sentence).unwrap_or_default();
        vectors.iter().map(|vector| cosine(&asked, vector.as_deref()?)).collect()
    }
}

fn cosine(one: &[f32], other: &[f32]) -> Option<f32> {
    let product = |a: &[f32], b: &[f32]| std::iter::zip(a, b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (product(one, one) * product(other, other)).sqrt();
    (one.len() == other.len() && lengths > 0.0).then(|| product(one, other) / lengths)
}

fn needed<'t>(text: &'t str, name: &str) -> Result<&'t str, DeskError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DeskError::Arguments(format!("'{name}' is blank; say what to look for")));
    }
    Ok(text)
}
