//! A request as the index looks it up.

use std::borrow::Cow;

use crate::abbreviations;
use crate::lexicon::{Alternatives, Translation};
use crate::services;
use crate::sources::MissingService;
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

/// The most words read of what a service is.
const SERVICE_WORDS: usize = 16;

/// How often a repeated word of a request counts at most.
const REPEATS: u8 = 2;

/// The terms of a request.
#[derive(Debug, Default)]
pub(crate) struct Query {
    terms: Vec<QueryTerm>,
    text: String,
    /// What it means, where it is a translation.
    meant: Option<String>,
    alternatives: Alternatives,
    /// What the services are that it names and no source has.
    missing: String,
}

#[derive(Debug)]
struct QueryTerm {
    text: String,
    role: Role,
    count: u8,
}

/// What a term of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    Compound,
    /// A word that stands for others.
    Abbreviation,
    /// One of those.
    Expansion,
    /// One of those that say what a service is which no source has.
    Service,
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
        let long = if kind == Kind::Word { abbreviations::of(term) } else { &[] };
        let role = match kind {
            Kind::Compound => Role::Compound,
            Kind::Word if long.is_empty() => Role::Word,
            Kind::Word => Role::Abbreviation,
        };
        self.push_as(term, role);
        for word in long {
            self.push_as(word, Role::Expansion);
        }
    }

    fn push_as(&mut self, term: &str, role: Role) {
        match self.terms.iter().position(|known| known.text == term) {
            // What the request itself says is no expansion any more, and gains nothing from one.
            Some(at) if self.terms[at].role == Role::Expansion => self.terms[at].role = role,
            Some(_) if role == Role::Expansion => {}
            Some(at) => self.terms[at].count = (self.terms[at].count + 1).min(REPEATS),
            None if self.terms.len() < QUERY_TERMS => {
                self.terms.push(QueryTerm { text: term.to_owned(), role, count: 1 });
            }
            None => {}
        }
    }

    /// What a request in another language asks for, or this text where there is none: with what else
    /// may stand for its terms.
    pub(crate) fn translated(request: &str, translation: Option<&Translation>) -> Self {
        let text = translation.map_or(request, Translation::text);
        let meant = translation.map(|translation| translation.meaning().to_owned());
        Self { meant, ..Self::of(text) }.with_alternatives(translation)
    }

    /// The same query, with what services are that it names and no source has: tools of another
    /// service of that kind may do.
    pub(crate) fn with_services(mut self, missing: &[MissingService]) -> Self {
        for MissingService { text, .. } in missing.iter().filter(|one| !one.is_told_of) {
            text::terms(text, SERVICE_WORDS, |term, _| {
                if self.terms.iter().all(|known| known.text != term) {
                    self.push_as(term, Role::Service);
                }
            });
            self.missing.extend([" ", text]);
        }
        self
    }

    /// The same query, with what else may stand for its terms.
    pub(crate) fn with_alternatives(mut self, translation: Option<&Translation>) -> Self {
        let all = translation.map(Translation::alternatives).into_iter().flatten();
        let own = all.filter(|(term, _)| self.terms.iter().any(|known| known.text == *term));
        self.alternatives = own.cloned().collect();
        self
    }

    /// What else may stand for a term, and what that counts compared with the term.
    pub(crate) fn alternatives(&self, term: &str) -> impl Iterator<Item = &(String, f32)> {
        let own = self.alternatives.iter().filter(move |(known, _)| known == term);
        own.flat_map(|(_, others)| others)
    }

    /// The text itself, as much of it as is read, or what it means in English, and what it says short
    /// in full.
    pub(crate) fn meaning(&self) -> Cow<'_, str> {
        let meant = self.meant.as_deref().unwrap_or(&self.text);
        let mut long = self.missing.clone();
        for term in self.terms.iter().filter(|term| term.role == Role::Expansion) {
            long.extend([" ", &term.text]);
        }
        services::names_in(&self.text, QUERY_WORDS, |key, _| {
            if let Some(name) = services::full_name(key) {
                long.extend([" ", name]);
            }
        });
        if long.is_empty() { meant.into() } else { (meant.to_owned() + &long).into() }
    }

    /// Each term and what it weighs.
    pub(crate) fn terms(&self, tuning: &Tuning) -> impl Iterator<Item = (&str, f32)> {
        self.terms.iter().map(|term| (term.text.as_str(), term.weight(tuning)))
    }

    /// Like [`Query::terms`], without those that say what a service is.
    pub(crate) fn own_terms(&self, tuning: &Tuning) -> impl Iterator<Item = (&str, f32)> {
        let own = self.terms.iter().filter(|term| term.role != Role::Service);
        own.map(|term| (term.text.as_str(), term.weight(tuning)))
    }
}

impl QueryTerm {
    fn weight(&self, tuning: &Tuning) -> f32 {
        let weight = match self.role {
            Role::Word => 1.0,
            Role::Compound => tuning.compound,
            Role::Abbreviation => tuning.abbreviation.0,
            Role::Expansion => tuning.abbreviation.1,
            Role::Service => tuning.missing,
        };
        weight * f32::from(self.count)
    }
}
