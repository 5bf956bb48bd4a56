//! Requests in other languages: their words replaced by the English ones that tools are described
//! with.
//!
//! A request is translated word by word, by a lexicon that is compiled in (`models/lexicon.py`
//! makes it). What is English in it stays as it is, and so do names and what the lexicon does not
//! know.

mod file;
mod language;
mod runs;
mod spaceless;

use crate::text;
use file::{Lexicon, LexiconEntry};
use language::Judgement;
use runs::{Run, RunKind};

/// The most bytes of a request that are translated.
const REQUEST_BYTES: usize = 2048;

/// What a word that tools use counts beside its translations, where it is English too and may mean
/// something else there.
const ENGLISH_WORD: f32 = 0.3;

/// What each word counts of an alternative that has several.
const PHRASE: f32 = 0.5;

/// How likely an alternative must be, compared with the likeliest, to count for a request's meaning.
const ALSO_MEANT: f32 = 0.5;

/// The most terms of a translation of one word.
const TERMS: usize = 4;

/// Words between two needs, in the languages of the lexicon.
const CONJUNCTIONS: [&str; 9] =
    ["und", "dann", "danach", "et", "puis", "ensuite", "y", "luego", "despues"];

/// Terms with what else may stand for each, and what that counts compared with the term.
pub(crate) type Alternatives = Vec<(String, Vec<(String, f32)>)>;

/// A request in English words.
#[derive(Debug, Default)]
pub(crate) struct Translation {
    text: String,
    meaning: String,
    alternatives: Alternatives,
}

impl Translation {
    /// A request in English; none where it is English already, as far as the lexicon can tell.
    /// `knows` says whether a tool has a term.
    pub(crate) fn of(request: &str, knows: &dyn Fn(&str) -> bool) -> Option<Self> {
        let request = &request[..request.floor_char_boundary(REQUEST_BYTES)];
        let lexicon = Lexicon::built_in();
        let runs = runs::of(request, |word| lexicon.is_english(word));
        if !runs.iter().any(Run::is_foreign) {
            return None;
        }
        let judgement = Judgement::of(lexicon, &runs);
        if judgement.is_none() && !runs.iter().any(|run| run.kind == RunKind::Spaceless) {
            return None;
        }
        let mut translation = Self::default();
        let mut own = String::new();
        for run in &runs {
            match run.kind {
                RunKind::Other => translation.keep(run.text),
                RunKind::Word => translation.replace(lexicon, judgement, run, knows),
                RunKind::Spaceless => {
                    translation.keep(" ");
                    for entry in spaceless::entries(lexicon, run.text) {
                        translation.mean(lexicon, entry);
                    }
                    spaceless::known(run.text, knows, &mut own);
                }
            }
        }
        translation.text.push_str(&own);
        (translation.text != request).then_some(translation)
    }

    /// The request, each word replaced by its likeliest translation.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The request, each word replaced by whatever it probably means.
    pub(crate) fn meaning(&self) -> &str {
        &self.meaning
    }

    /// What else may stand for the terms of the text.
    pub(crate) fn alternatives(&self) -> &Alternatives {
        &self.alternatives
    }

    fn keep(&mut self, text: &str) {
        self.text.push_str(text);
        self.meaning.push_str(text);
    }

    fn replace(
        &mut self,
        lexicon: &Lexicon,
        judgement: Option<Judgement>,
        run: &Run<'_>,
        knows: &dyn Fn(&str) -> bool,
    ) {
        let own = terms(run.text).into_iter().next().filter(|own| knows(own));
        let entries = judgement.map(|one| one.entries(lexicon, run, own.is_some()));
        let entries = entries.unwrap_or_default();
        if entries.is_empty() {
            return self.keep(run.text);
        }
        if CONJUNCTIONS.contains(&&*run.folded) {
            return self.keep("and");
        }
        let (from, start) = (self.alternatives.len(), self.text.len());
        for entry in entries {
            self.mean(lexicon, entry);
        }
        // A tool described in the request's own language is still found by its own words. One
        // counts as much as all that replace it.
        if let (Some(own), Some((_, others))) = (own, self.alternatives.get_mut(from)) {
            #[expect(clippy::cast_precision_loss, reason = "a few words")]
            let words = self.text[start..].split_whitespace().count() as f32;
            others.push((own, if run.is_english { ENGLISH_WORD } else { words }));
        }
    }

    /// Adds what a word stands for: the likeliest to the text, the others beside it.
    fn mean(&mut self, lexicon: &Lexicon, entry: LexiconEntry) {
        let mut meanings = lexicon.meanings(entry);
        let Some((best, _)) = meanings.next() else { return };
        let best = best.join(" ");
        self.keep(&best);
        let own = terms(&best);
        let mut others: Vec<(String, f32)> = Vec::new();
        for (words, likelihood) in meanings {
            let words = words.join(" ");
            if likelihood >= ALSO_MEANT {
                self.meaning.extend([" ", &words]);
            }
            let terms = terms(&words);
            // Of what merely says more than the likeliest, the other words would count alone.
            if terms.iter().any(|term| own.contains(term)) {
                continue;
            }
            let share = if terms.len() > 1 { PHRASE * likelihood } else { likelihood };
            for term in terms {
                match others.iter_mut().find(|(known, _)| *known == term) {
                    Some((_, known)) => *known = known.max(share),
                    None => others.push((term, share)),
                }
            }
        }
        self.alternatives.extend(own.into_iter().next().map(|first| (first, others)));
        self.keep(" ");
    }
}

fn terms(words: &str) -> Vec<String> {
    let mut found = Vec::new();
    text::terms(words, TERMS, |term, _| found.push(term.to_owned()));
    found
}

#[cfg(test)]
mod tests;
