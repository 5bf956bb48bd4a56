//! The words of questions and sentences, as they are compared.

use gatefold_search::words::stem;
use rustc_hash::FxHashSet;

use crate::checking::is_unspaced_script;
use crate::words::is_stop_word;

const NEGATIONS: &[&str] = &[
    "no",
    "not",
    "never",
    "none",
    "neither",
    "nor",
    "without",
    "cannot",
    "except",
    "excluding",
    "unless",
    "lack",
    "lacks",
    "fails",
    "failed",
    "nicht",
    "kein",
    "keine",
    "nie",
    "ohne",
];

/// Words of a question that a number answers.
const COUNTED: &[&str] = &[
    "amount",
    "average",
    "cost",
    "date",
    "deadline",
    "long",
    "many",
    "maximum",
    "minimum",
    "much",
    "number",
    "often",
    "old",
    "percent",
    "percentage",
    "price",
    "rate",
    "revenue",
    "share",
    "size",
    "total",
    "value",
    "when",
    "year",
];

/// The words of a text, each once.
#[derive(Debug, Default)]
pub(super) struct Terms {
    pub(super) words: FxHashSet<String>,
    pub(super) numbers: FxHashSet<String>,
    pub(super) is_negative: bool,
    /// Whether a number would answer it.
    pub(super) asks_number: bool,
    /// Its first word, in lower case.
    pub(super) first: String,
}

impl Terms {
    pub(super) fn of(text: &str) -> Self {
        let mut terms = Self::default();
        for word in text.split(|c: char| !(c.is_alphanumeric() || is_within_word(c))) {
            let word = word.trim_matches(is_within_word);
            if !word.is_empty() {
                terms.add(word);
            }
        }
        terms
    }

    fn add(&mut self, word: &str) {
        let lower = word.to_lowercase().replace('\u{2019}', "'");
        if self.first.is_empty() {
            self.first.clone_from(&lower);
        }
        if lower.starts_with(|c: char| c.is_ascii_digit()) {
            self.numbers.insert(lower.replace([',', '\''], ""));
            return;
        }
        if lower.contains(is_unspaced_script) {
            return self.add_pairs(&lower);
        }
        if NEGATIONS.contains(&lower.as_str()) || lower.ends_with("n't") {
            self.is_negative = true;
            return;
        }
        self.asks_number |= COUNTED.contains(&lower.as_str());
        for part in lower.split(['.', ',', '\'']) {
            if part.len() > 1 && !is_stop_word(part) {
                self.words.insert(stem(part).to_owned());
            }
        }
    }

    /// Pairs of characters, where a script puts no spaces between words.
    fn add_pairs(&mut self, word: &str) {
        let mut last = None;
        for c in word.chars() {
            self.words.extend(last.map(|last: char| [last, c].iter().collect::<String>()));
            last = Some(c);
        }
        if word.chars().count() == 1 {
            self.words.insert(word.to_owned());
        }
    }

    pub(super) fn has(&self, term: &str) -> bool {
        self.words.contains(term) || self.numbers.contains(term)
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() + self.numbers.len()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.words.iter().chain(&self.numbers).map(String::as_str)
    }

    /// Whether two sentences say the same: most of their words are the same, all of their numbers, and
    /// both deny it or none does.
    pub(super) fn says_same(&self, other: &Self, least_overlap: f32) -> bool {
        if self.is_negative != other.is_negative || self.numbers != other.numbers {
            return false;
        }
        let shared = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - shared;
        all > 0 && ratio(shared, all) >= least_overlap
    }
}

/// A character that is part of a word or a number between letters or digits.
fn is_within_word(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '\u{2019}')
}

#[expect(clippy::cast_precision_loss, reason = "counts of words of a few sentences")]
pub(super) fn ratio(part: usize, whole: usize) -> f32 {
    if whole == 0 { 0.0 } else { part as f32 / whole as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_negations_are_told_apart_from_words() {
        let terms = Terms::of("How many of 1,300 employees don\u{2019}t qualify, in 4.5 years?");
        let mut all: Vec<_> = terms.all().collect();
        all.sort_unstable();
        assert_eq!(all, ["1300", "4.5", "employ", "qualif", "year"]);
        assert!(terms.is_negative && terms.asks_number);
        assert_eq!(terms.first, "how");
    }

    #[test]
    fn sentences_say_the_same_only_with_the_same_numbers_and_polarity() {
        let base = Terms::of("Employees get 30 days of paid leave.");
        for (text, is_same) in [
            ("Every employee gets 30 days of paid leave", true),
            ("Employees get 25 days of paid leave.", false),
            ("Employees do not get 30 days of paid leave.", false),
            ("The office opens at 30 Main Street.", false),
        ] {
            assert_eq!(base.says_same(&Terms::of(text), 0.5), is_same, "{text}");
        }
    }
}
