//! Answers that are made of nothing but quotes.

mod calibration;
mod candidates;
mod features;
mod terms;

use std::ops::Range;
use std::sync::Arc;

use gatefold_documents::Place;

pub use self::calibration::{Calibration, Features};
use self::candidates::{CandidateSentence, candidates};
use self::terms::Terms;
use crate::{Passage, Version};

/// The most quotes that one answer has.
pub const MAX_GROUNDING_QUOTES: usize = 50;

/// The longest quote of more than one sentence, in bytes.
const MAX_QUOTE: usize = 800;

/// How similar questions and sentences are, from -1 to 1; `None` for what cannot be compared.
pub type Similarity<'similarity> = dyn Fn(&str, &[&str]) -> Vec<Option<f32>> + 'similarity;

/// How an answer is made.
#[derive(Clone, Copy)]
pub struct GroundingSettings<'settings> {
    /// The most quotes, up to [`MAX_GROUNDING_QUOTES`].
    pub quotes: usize,
    pub similarity: Option<&'settings Similarity<'settings>>,
    pub calibration: &'settings Calibration,
}

/// What the passages say to a question, in their own words.
#[derive(Debug, Clone)]
pub struct Grounded {
    /// The best first.
    pub claims: Vec<Claim>,
    /// How likely the claims answer the question, from 0 to 1.
    pub confidence: f32,
    /// Whether that is too little to rely on.
    pub insufficient: bool,
    /// What the confidence was made of.
    pub features: Features,
}

/// Quotes that say the same, the best first.
#[derive(Debug, Clone)]
pub struct Claim {
    pub quotes: Vec<Quote>,
}

/// Words of a document as they are there.
#[derive(Debug, Clone)]
pub struct Quote {
    pub document: Arc<str>,
    pub title: Arc<str>,
    pub version: Version,
    /// The canonical text of the whole document.
    pub text: Arc<str>,
    /// In bytes of `text`.
    pub span: Range<usize>,
    pub headings: Vec<String>,
    /// Where it is, as far as its passage says.
    pub place: Option<Place>,
    /// From 0 to 1, comparable between bases: the confidence of the answer, less by as much as the best quote
    /// is better.
    pub score: f32,
}

impl Quote {
    pub fn excerpt(&self) -> &str {
        self.text.get(self.span.clone()).unwrap_or_default()
    }
}

/// Answers a question with sentences of passages, without a model.
pub fn ground(question: &str, passages: &[Passage], settings: &GroundingSettings<'_>) -> Grounded {
    let asked = Terms::of(question);
    let (candidates, weights) = candidates(question, &asked, passages, settings);
    let calibration = settings.calibration;
    let most = settings.quotes.min(MAX_GROUNDING_QUOTES);
    let chosen = choose(&candidates, most, calibration);
    let mut groups: Vec<Vec<Choice<'_>>> = Vec::new();
    for choice in chosen {
        let says_same = |group: &&mut Vec<Choice<'_>>| {
            let terms = &group[0].candidate.terms;
            terms.says_same(&choice.candidate.terms, calibration.same_claim)
        };
        match groups.iter_mut().find(says_same) {
            Some(group) => group.push(choice),
            None => groups.push(vec![choice]),
        }
    }
    let features = Features::of(&weights, passages, &candidates, &groups);
    let confidence = calibration.confidence(&features);
    let best = groups.first().map_or(1.0, |group| group[0].candidate.score);
    let scale = confidence / best;
    Grounded {
        claims: groups.iter().map(|group| claim(group, passages, scale)).collect(),
        confidence,
        insufficient: groups.is_empty() || confidence < calibration.threshold,
        features,
    }
}

/// A sentence that was chosen, and what is quoted for it.
struct Choice<'all> {
    candidate: &'all CandidateSentence,
    quote: Range<usize>,
}

/// The best sentences, of which no document says one twice.
fn choose<'all>(
    candidates: &'all [CandidateSentence],
    most: usize,
    calibration: &Calibration,
) -> Vec<Choice<'all>> {
    let mut ranked: Vec<_> = candidates.iter().filter(|it| it.score > 0.0).collect();
    ranked.sort_by(|one, other| {
        let by_place = (one.passage, one.span.start).cmp(&(other.passage, other.span.start));
        other.score.total_cmp(&one.score).then(by_place)
    });
    let best = ranked.first().map_or(0.0, |candidate| candidate.score);
    let mut chosen: Vec<Choice<'_>> = Vec::new();
    for candidate in ranked {
        if chosen.len() == most || candidate.score < best * calibration.least_score {
            break;
        }
        let is_known = |choice: &Choice<'_>| {
            choice.candidate.document == candidate.document
                && (overlaps(&choice.quote, &candidate.quote)
                    || choice.candidate.words == candidate.words)
        };
        match chosen.iter().position(is_known).map(|index| &mut chosen[index]) {
            // It points at a sentence that is quoted: both are one quote.
            Some(choice) if choice.quote == (candidate.quote.start..choice.quote.end) => {
                choice.quote.end = choice.quote.end.max(candidate.quote.end);
            }
            Some(_) => {}
            None => chosen.push(Choice { candidate, quote: candidate.quote.clone() }),
        }
    }
    chosen
}

fn overlaps(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn claim(group: &[Choice<'_>], passages: &[Passage], scale: f32) -> Claim {
    let quote = |choice: &Choice<'_>| {
        let passage = &passages[choice.candidate.passage];
        Quote {
            document: Arc::clone(&passage.document),
            title: Arc::clone(&passage.title),
            version: passage.version,
            text: Arc::clone(&passage.text),
            span: choice.quote.clone(),
            headings: passage.headings.clone(),
            // A passage says where it begins; what comes later in it may be on another page.
            place: passage.place.filter(|_| choice.quote.start == passage.span.start),
            score: scale * choice.candidate.score,
        }
    };
    Claim { quotes: group.iter().map(quote).collect() }
}
