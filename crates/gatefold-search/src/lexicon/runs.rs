//! The parts of a request: words, writing without spaces, and what lies between.

use std::borrow::Cow;

use crate::text::{fold, is_spaceless};

/// What ends a sentence, or begins one.
const SENTENCE_ENDS: [char; 7] = ['.', '?', '!', ':', '¿', '¡', '\n'];

/// What a run of letters is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunKind {
    /// A word of a script that separates words.
    Word,
    /// Letters of a script without spaces.
    Spaceless,
    /// Marks, numbers, spaces, and names such as `createIssue`, `S3` and `API`.
    Other,
}

/// A part of a request.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) text: &'a str,
    pub(super) kind: RunKind,
    /// A word in lower case and without accents.
    pub(super) folded: Cow<'a, str>,
    /// Whether it tells that the request is English.
    pub(super) is_english: bool,
    /// Whether it begins a sentence.
    pub(super) is_first: bool,
}

impl Run<'_> {
    /// Whether it may be in another language.
    pub(super) fn is_foreign(&self) -> bool {
        match self.kind {
            RunKind::Word => !self.is_english,
            RunKind::Spaceless => true,
            RunKind::Other => false,
        }
    }
}

/// The parts of a request in their order: together they are the request.
pub(super) fn of(request: &str, is_english: impl Fn(&str) -> bool) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let (mut rest, mut is_first) = (request, true);
    while let Some(first) = rest.chars().next() {
        let (same, kind): (fn(char) -> bool, _) = if is_spaceless(first) {
            (is_spaceless, RunKind::Spaceless)
        } else if is_part_of_word(first) {
            (is_part_of_word, RunKind::Word)
        } else {
            (|c| !is_spaceless(c) && !is_part_of_word(c), RunKind::Other)
        };
        let (text, after) = rest.split_at(rest.find(|c| !same(c)).unwrap_or(rest.len()));
        rest = after;
        let kind = if kind == RunKind::Word && is_name(text) { RunKind::Other } else { kind };
        let folded = if kind == RunKind::Word { lower(text) } else { Cow::Borrowed("") };
        let is_english = kind == RunKind::Word && is_english(&folded);
        runs.push(Run { text, kind, folded, is_english, is_first });
        is_first = if text.contains(char::is_alphanumeric) {
            false
        } else {
            is_first || text.contains(SENTENCE_ENDS)
        };
    }
    runs
}

/// A word as the lexicon has it.
pub(super) fn lower(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Cow::Borrowed(word)
    } else if word.is_ascii() {
        Cow::Owned(word.to_ascii_lowercase())
    } else {
        Cow::Owned(fold(&word.to_lowercase()).replace('ß', "ss"))
    }
}

fn is_part_of_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_') && !is_spaceless(c)
}

/// Whether letters are a name or an abbreviation rather than a word.
fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next();
    letters.any(char::is_uppercase)
        || text.contains('_')
        || text.chars().any(char::is_numeric)
        || first.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_its_runs_and_names_are_no_words() {
        let request = "Öffne die Straße_1 in GitHub, 明日のAPI (S3)!";
        let runs = of(request, |word| word == "in");
        let texts: String = runs.iter().map(|run| run.text).collect();
        assert_eq!(texts, request);
        let words: Vec<_> = runs.iter().filter(|run| run.kind == RunKind::Word).collect();
        let folded: Vec<_> = words.iter().map(|run| &*run.folded).collect();
        assert_eq!(folded, ["offne", "die", "in"]);
        assert!(words[2].is_english && !words[0].is_english);
        let firsts: Vec<_> = runs.iter().filter(|run| run.is_first).map(|run| run.text).collect();
        assert_eq!(firsts, ["Öffne"]);
        let spaceless = runs.iter().find(|run| run.kind == RunKind::Spaceless);
        assert_eq!(spaceless.map(|run| run.text), Some("明日の"));
    }
}
