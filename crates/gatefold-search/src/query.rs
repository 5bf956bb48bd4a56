//! A request as the index looks it up.

use crate::lexicon::{Alternatives, Translation};
use crate::text::{self, Kind};
use crate::tuning::Tuning;
use crate::words;

/// The most words of a request that are read.
const QUERY_WORDS: usize = 256;

/// The most different terms of a request that count.
const QUERY_TERMS: usize = 64;

/// The most clauses of a request that are looked up on their own.
const CLAUSES: usize = 6;

/// The fewest distinctive terms of a clause.
const CLAUSE_TERMS: usize = 2;

/// Words between two needs.
const CONJUNCTIONS: [&str; 5] = ["and", "then", "also", "additionally", "plus"];

/// What a clause ends with, in several scripts.
const CLAUSE_ENDS: [char; 12] = ['.', ',', ';', '?', '!', '。', '，', '；', '？', '！', '؟', '،'];

/// How often a repeated word of a request counts at most.
const REPEATS: u8 = 2;

/// The terms of a request.
#[derive(Debug, Default)]
pub(crate) struct Query {
    terms: Vec<(String, Kind, u8)>,
    text: String,
    alternatives: Alternatives,
}

impl Query {
    /// The distinctive terms of a text; all of them when none is distinctive.
    pub(crate) fn of(text: &str) -> Self {
        let mut query =
            Self { text: text::bounded(text, QUERY_WORDS).to_owned(), ..Self::default() };
        text::terms(text, QUERY_WORDS, |term, kind| query.push(term, kind));
        if query.terms.is_empty() {
            text::walk(text, QUERY_WORDS, |word, _| query.push(words::stem(word), Kind::Word));
        }
        query
    }

    /// The parts of a request that each ask for something; none when there is only one.
    pub(crate) fn clauses(text: &str) -> Vec<Self> {
        let mut clauses = Vec::new();
        let mut clause = Self::default();
        for word in text::bounded(text, QUERY_WORDS).split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let joins = CONJUNCTIONS.iter().any(|known| bare.eq_ignore_ascii_case(known));
            if !joins {
                text::terms(word, QUERY_WORDS, |term, kind| clause.push(term, kind));
                clause.text.extend([word, " "]);
            }
            // A clause that says too little is joined to the next.
            if (joins || word.ends_with(CLAUSE_ENDS)) && clause.terms.len() >= CLAUSE_TERMS {
                clauses.push(std::mem::take(&mut clause));
            }
            if clauses.len() == CLAUSES {
                return clauses;
            }
        }
        clauses.extend((clause.terms.len() >= CLAUSE_TERMS).then_some(clause));
        if clauses.len() < 2 { Vec::new() } else { clauses }
    }

    fn push(&mut self, term: &str, kind: Kind) {
        match self.terms.iter().position(|(known, ..)| known == term) {
            Some(at) => self.terms[at].2 = (self.terms[at].2 + 1).min(REPEATS),
            None if self.terms.len() < QUERY_TERMS => self.terms.push((term.to_owned(), kind, 1)),
            None => {}
        }
    }

    /// The same query, with what else may stand for its terms.
    pub(crate) fn with_alternatives(mut self, translation: Option<&Translation>) -> Self {
        let all = translation.map(Translation::alternatives).into_iter().flatten();
        let own = all.filter(|(term, _)| self.terms.iter().any(|(known, ..)| known == term));
        self.alternatives = own.cloned().collect();
        self
    }

    /// What else may stand for a term, and what that counts compared with the term.
    pub(crate) fn alternatives(&self, term: &str) -> impl Iterator<Item = &(String, f32)> {
        let own = self.alternatives.iter().filter(move |(known, _)| known == term);
        own.flat_map(|(_, others)| others)
    }

    /// The text itself, as much of it as is read.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Each term and what it weighs.
    pub(crate) fn terms(&self, tuning: &Tuning) -> impl Iterator<Item = (&str, f32)> {
        let compound = tuning.compound;
        self.terms.iter().map(move |(term, kind, count)| {
            let weight = if *kind == Kind::Compound { compound } else { 1.0 };
            (term.as_str(), weight * f32::from(*count))
        })
    }
}
