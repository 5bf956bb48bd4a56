//! The sentences that may answer a question, with their scores.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::calibration::{Calibration, Weights};
use super::terms::{Terms, ratio};
use super::{GroundingSettings, MAX_QUOTE};
use crate::Passage;
use crate::sentences::sentences;

/// The most sentences that are looked at for one question, and that are compared with it by meaning. Comparing
/// takes longest; three times as many changed nothing.
const MAX_SENTENCES: usize = 2000;
const MAX_COMPARED: usize = 16;

/// Sentences of fewer words than this say less than their words promise.
const SHORT: usize = 4;

/// Words with which a sentence begins that is about the one before.
const POINTERS: &[&str] = &[
    "it", "its", "they", "their", "them", "he", "his", "she", "her", "this", "these", "those",
    "that", "such", "both", "dies", "diese", "dieser", "er", "es",
];

/// A sentence.
pub(super) struct CandidateSentence {
    /// Its passage, and the first passage of the same document, by number.
    pub(super) passage: usize,
    pub(super) document: usize,
    pub(super) span: Range<usize>,
    /// What is quoted: with the sentence before where this one points at it.
    pub(super) quote: Range<usize>,
    /// Its words as they are, between single spaces.
    pub(super) words: String,
    pub(super) terms: Terms,
    /// How far it has each word of the question.
    pub(super) credits: Vec<f32>,
    pub(super) score: f32,
}

/// The sentences of passages and the weights of the question's words among them.
pub(super) fn candidates(
    question: &str,
    asked: &Terms,
    passages: &[Passage],
    settings: &GroundingSettings<'_>,
) -> (Vec<CandidateSentence>, Weights) {
    let spans = sentence_spans(passages);
    let text = |(passage, span): &(usize, Range<usize>)| {
        passages[*passage].text.get(span.clone()).unwrap_or_default()
    };
    let terms: Vec<_> = spans.iter().map(|sentence| Terms::of(text(sentence))).collect();
    let weights = Weights::of(asked, &terms);
    let documents = first_passages(passages);
    let headings: Vec<_> = passages.iter().map(heading_terms).collect();
    let best_passage = passages.iter().map(|passage| passage.score).fold(0.0, f32::max);
    let scorer =
        Scorer { asked, weights: &weights, best_passage, calibration: settings.calibration };
    let mut found = Vec::with_capacity(spans.len());
    for (index, (passage, span)) in spans.iter().enumerate() {
        let is_beside = |other: &usize| spans.get(*other).is_some_and(|it| it.0 == *passage);
        let before = index.checked_sub(1).filter(is_beside);
        let after = Some(index + 1).filter(is_beside);
        let whole = before.and_then(|before| {
            let before = &spans[before].1;
            points_back(&passages[*passage], before, span, &terms[index])
                .then_some(before.start..span.end)
        });
        let around = Surroundings {
            headings: &headings[*passage],
            quoted: before.filter(|_| whole.is_some()).map(|before| &terms[before]),
            beside: [before, after].map(|beside| beside.map(|beside| &terms[beside])),
        };
        let credits = scorer.credits(&terms[index], &around);
        let score = scorer.score(&credits, &terms[index], &around, passages[*passage].score);
        found.push((whole.unwrap_or_else(|| span.clone()), credits, score));
    }
    let to_candidate = |(((passage, span), terms), (quote, credits, score))| CandidateSentence {
        passage,
        document: documents[passage],
        words: passages[passage].text[Range::clone(&span)]
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
        span,
        quote,
        terms,
        credits,
        score,
    };
    let mut found: Vec<_> = spans.into_iter().zip(terms).zip(found).map(to_candidate).collect();
    add_similarity(question, &mut found, settings);
    (found, weights)
}

/// The sentences of the passages, each once.
fn sentence_spans(passages: &[Passage]) -> Vec<(usize, Range<usize>)> {
    let mut seen = FxHashSet::default();
    let mut spans = Vec::new();
    for (number, passage) in passages.iter().enumerate() {
        for span in sentences(&passage.text, passage.span.clone()) {
            let is_new = seen.insert((&passage.document, passage.version, span.start));
            if is_new && spans.len() < MAX_SENTENCES {
                spans.push((number, span));
            }
        }
    }
    spans
}

/// For each passage the first one of its document.
fn first_passages(passages: &[Passage]) -> Vec<usize> {
    let mut first = FxHashMap::default();
    let numbered = passages.iter().enumerate();
    numbered.map(|(number, it)| *first.entry(&it.document).or_insert(number)).collect()
}

fn heading_terms(passage: &Passage) -> Terms {
    Terms::of(&format!("{}\n{}", passage.title, passage.headings.join("\n")))
}

/// Whether a sentence is about the one before, in the same paragraph, and both are short enough to be
/// quoted together.
fn points_back(
    passage: &Passage,
    before: &Range<usize>,
    span: &Range<usize>,
    terms: &Terms,
) -> bool {
    let is_same_paragraph = passage
        .text
        .get(before.end..span.start)
        .is_some_and(|between| between.trim().is_empty() && between.matches('\n').count() < 2);
    let length = span.end.saturating_sub(before.start);
    POINTERS.contains(&terms.first.as_str()) && is_same_paragraph && length <= MAX_QUOTE
}

/// What is said around a sentence.
struct Surroundings<'terms> {
    headings: &'terms Terms,
    /// The sentence before, where it is quoted as well.
    quoted: Option<&'terms Terms>,
    beside: [Option<&'terms Terms>; 2],
}

struct Scorer<'question> {
    asked: &'question Terms,
    weights: &'question Weights,
    best_passage: f32,
    calibration: &'question Calibration,
}

impl Scorer<'_> {
    fn credits(&self, terms: &Terms, around: &Surroundings<'_>) -> Vec<f32> {
        let credit = |term: &str| {
            let beside = around.beside.iter().flatten().any(|beside| beside.has(term));
            if terms.has(term) {
                return 1.0;
            }
            let of_quoted = around.quoted.filter(|quoted| quoted.has(term));
            let quoted = of_quoted.map_or(0.0, |_| self.calibration.quoted_word);
            let heading =
                if around.headings.has(term) { self.calibration.heading_word } else { 0.0 };
            let neighbour = if beside { self.calibration.neighbour_word } else { 0.0 };
            quoted.max(heading).max(neighbour)
        };
        self.weights.terms().map(credit).collect()
    }

    fn score(
        &self,
        credits: &[f32],
        terms: &Terms,
        around: &Surroundings<'_>,
        passage_score: f32,
    ) -> f32 {
        let calibration = self.calibration;
        let coverage = self.weights.share(credits);
        let words = terms.len() + around.quoted.map_or(0, Terms::len);
        let completeness = ratio(words.min(SHORT), SHORT);
        let has_number = self.asked.asks_number && !terms.numbers.is_empty();
        let number = if has_number { calibration.sentence_number } else { 0.0 };
        let negation = match (self.asked.is_negative, terms.is_negative) {
            (true, true) => calibration.sentence_negation,
            (true, false) => -calibration.sentence_negation,
            // What is allowed may be answered by what is not.
            (false, _) => 0.0,
        };
        // Without a word of the question, a number or a denial says nothing.
        let of_kind = if coverage > 0.0 { number + negation } else { 0.0 };
        let of_words = calibration.sentence_words * coverage * completeness;
        // A passage that does not fit well may still have the sentence that fits best.
        let relative = passage_score / self.best_passage.max(f32::MIN_POSITIVE);
        let of_passage = calibration.sentence_passage * relative.clamp(0.0, 1.0);
        (of_words + of_kind + of_passage).max(0.0)
    }
}

/// Compares the sentences that fit best by their words with the question by meaning.
fn add_similarity(
    question: &str,
    found: &mut [CandidateSentence],
    settings: &GroundingSettings<'_>,
) {
    let Some(similarity) = settings.similarity else { return };
    let mut best: Vec<_> = (0..found.len()).collect();
    best.sort_by(|one, other| {
        found[*other].score.total_cmp(&found[*one].score).then(one.cmp(other))
    });
    best.truncate(MAX_COMPARED);
    let texts: Vec<_> = best.iter().map(|index| found[*index].words.clone()).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let values = similarity(question, &texts);
    let known: Vec<_> = values.iter().flatten().filter(|value| value.is_finite()).collect();
    let sum: f32 = known.iter().copied().sum();
    let average = sum * ratio(1, known.len());
    for (index, value) in best.into_iter().zip(&values) {
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let added = settings.calibration.sentence_similarity * (value - average);
        found[index].score = (found[index].score + added).max(0.0);
    }
}
