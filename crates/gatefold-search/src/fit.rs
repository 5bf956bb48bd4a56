//! Whether the best tool of a search is what was asked for: a grade, from what speaks for and against
//! it, weighed as in a logistic regression.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::asked::Asked;
use crate::index::Index;
use crate::services::REQUEST_WORDS;
use crate::tuning::FitTuning;
use crate::{text, words};

/// How well the tools that a search found fit the request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Nothing fits; the tools are merely the likeliest.
    #[default]
    None,
    /// It is unlikely that one of them is what was asked for.
    Weak,
    Likely,
    /// The first is named, or fits well and far better than the second.
    Exact,
}

impl Fit {
    /// The grade after an encoder told whether anything fits; the same if it did not.
    pub(crate) fn told(self, judged: Option<bool>) -> Self {
        match (judged, self) {
            (Some(true), Self::None) | (Some(false), Self::Likely) => Self::Weak,
            (Some(false), Self::None | Self::Weak) => Self::None,
            (Some(false), Self::Exact) => Self::Likely,
            (_, fit) => fit,
        }
    }

    /// The grade's name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Likely => "likely",
            Self::Exact => "exact",
        }
    }
}

/// What speaks for and against a tool, each between 0 and 1.
#[derive(Debug, Clone, Copy, Default)]
struct Evidence {
    /// How similar its meaning is to the request's.
    meaning: f32,
    /// The share of the request's weight in words that it has.
    covered: f32,
    /// The share of the weight of the words that say what is to be worked on: of those that nothing
    /// has, and of the rarest if the tool lacks it.
    unknown: f32,
    rarest_missing: f32,
    /// Whether the request names its source.
    is_named: f32,
    /// Whether the request names a service that no source has.
    names_other: f32,
}

/// The best that any tool has, and how many compete.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BestScores {
    pub(crate) words: f32,
    pub(crate) meaning: f32,
    pub(crate) tools: usize,
}

impl Index {
    /// How likely it is that the tool at a place, the best, is what was asked for. `second` is the
    /// share of its score that the next tool has. `judged` is how far above its bar the best tool is
    /// that an encoder judged, which may be another one. It counts as evidence, and then it moves the
    /// grade: the first tells sure judgements from narrow ones, the second takes narrow ones seriously.
    pub(crate) fn fit(
        &self,
        asked: &Asked<'_>,
        place: usize,
        best: &BestScores,
        second: f32,
        judged: Option<f32>,
        shows: &dyn Fn(usize) -> bool,
    ) -> Fit {
        let tuning = &self.tuning.fit;
        let odds = self.evidence(asked, place, shows).odds(best, tuning);
        let odds = odds + judged.map_or(0.0, |margin| tuning.judged * margin);
        let grade = if odds < tuning.weak {
            Fit::None
        } else if odds < tuning.likely {
            Fit::Weak
        } else if odds < tuning.exact || second > tuning.second {
            Fit::Likely
        } else {
            Fit::Exact
        };
        grade.told(judged.map(|margin| margin >= 0.0))
    }

    fn evidence(&self, asked: &Asked<'_>, place: usize, shows: &dyn Fn(usize) -> bool) -> Evidence {
        let mut found = Evidence::default();
        let (mut all, mut objects) = (0.0, 0.0);
        let mut rarest = (0.0, true);
        let values = values(&asked.text);
        for (term, weight) in asked.whole.own_terms(&self.tuning) {
            let mut part = self.part(term, weight, place, shows);
            for (other, share) in asked.whole.alternatives(term) {
                let other = self.part(other, weight * share, place, shows);
                part.is_known |= other.is_known;
                part.has = part.has.max(share * other.has);
            }
            // A name that no tool knows is something to be passed to one.
            if !part.is_known && values.contains(term) {
                continue;
            }
            all += part.worth;
            found.covered += part.worth * part.has;
            if words::is_verb_stem(term) {
                continue;
            }
            objects += part.worth;
            found.unknown += if part.is_known { 0.0 } else { part.worth };
            if part.worth > rarest.0 {
                rarest = (part.worth, part.has > 0.0);
            }
        }
        let share = |part: f32, all: f32| if all > 0.0 { (part / all).min(1.0) } else { 0.0 };
        let similarity = |vector| self.vectors.similarity(place, vector).max(0.0);
        Evidence {
            meaning: asked.vector.as_ref().map_or(0.0, similarity),
            covered: share(found.covered, all),
            unknown: share(found.unknown, objects),
            rarest_missing: if rarest.1 { 0.0 } else { share(rarest.0, objects) },
            is_named: if asked.named.binary_search(&self.domains[place]).is_ok() {
                1.0
            } else {
                0.0
            },
            names_other: if asked.missing.is_empty() { 0.0 } else { 1.0 },
        }
    }
}

impl Evidence {
    #[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
    fn odds(&self, best: &BestScores, tuning: &FitTuning) -> f32 {
        // Among many tools, one is similar to any request by chance.
        let rivals = (best.tools as f32 / FEW_TOOLS).max(1.0).ln();
        tuning.bias
            + tuning.meaning * self.meaning
            + tuning.best_meaning * best.meaning
            + tuning.best_words * best.words
            + tuning.covered * self.covered
            + tuning.unknown * self.unknown
            + tuning.rarest_missing * self.rarest_missing
            + tuning.named * self.is_named
            + tuning.names_other * self.names_other
            + tuning.rivals * rivals
    }
}

/// The number of tools up to which their number says nothing.
const FEW_TOOLS: f32 = 100.0;

/// Words that are rather values than what a tool is about: numbers, and capitalised words within a
/// sentence.
fn values(request: &str) -> FxHashSet<String> {
    let mut values = FxHashSet::default();
    let words = text::bounded(request, REQUEST_WORDS).split_whitespace().take(REQUEST_WORDS);
    for (at, word) in words.enumerate() {
        let first = word.chars().find(|c| c.is_alphanumeric());
        if first.is_some_and(|c| c.is_numeric() || at > 0 && c.is_uppercase()) {
            text::terms(word, REQUEST_WORDS, |term, _| {
                values.insert(term.to_owned());
            });
        }
    }
    values
}
