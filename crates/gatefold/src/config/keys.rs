//! Every key of `gatefold.toml`, described once.
//!
//! The schema for editors, `gatefold config explain`, `gatefold init` and the reference are all
//! made from this. Defaults are those of the code, and tests hold the rest against the reader:
//! every key described is read, and every key read is described.

mod find;
mod sections;
mod sources;

use super::kinds::{Kinds, SourceKind, Way};

pub use super::key::{Applies, Emptiness, Key, Kind};
pub use find::{Found, NotFound, find};
pub(in crate::config) use sources::COMMON;

/// The sections of a configuration, in the order in which they are best read. Which keys a source has
/// depends on the kinds that there are.
pub fn sections(kinds: &Kinds) -> Vec<Section> {
    let fixed = FIXED.iter().map(|fixed| Section {
        path: fixed.path,
        summary: fixed.summary.to_owned(),
        details: fixed.details.to_owned(),
        keys: fixed.keys.iter().collect(),
        ways: Vec::new(),
    });
    std::iter::once(sources(kinds)).chain(fixed).collect()
}

/// Every section but that of the sources.
pub(super) const FIXED: &[FixedSection] = &[
    sections::POLICY,
    sections::DISCLOSURE,
    sections::SEARCH,
    sections::LIMITS,
    sections::SERVER,
    sections::STATE,
    sections::AUDIT,
];

fn sources(kinds: &Kinds) -> Section {
    let nouns: Vec<_> = kinds.iter().map(SourceKind::noun).collect();
    let details: Vec<_> = kinds.iter().map(SourceKind::details).collect();
    Section {
        path: "sources.NAME",
        summary: format!(
            "One {}: how it is reached, and how its tools are shown.",
            nouns.join(" or ")
        ),
        details: format!(
            "There may be any number of them. `NAME` is yours to choose. {}",
            details.join(" ")
        ),
        keys: kinds.iter().flat_map(SourceKind::keys).chain(sources::COMMON).collect(),
        ways: kinds.ways().map(|(_, way)| *way).collect(),
    }
}

/// One table of a configuration.
#[derive(Debug)]
pub struct Section {
    /// As its header has it; `NAME` stands for a name that its user chooses.
    pub path: &'static str,
    /// One sentence.
    pub summary: String,
    /// What else there is to know. May be empty.
    pub details: String,
    pub keys: Vec<&'static Key>,
    /// The ways to reach a source, of which it has exactly one.
    pub ways: Vec<Way>,
}

/// A section that is always the same.
pub(super) struct FixedSection {
    path: &'static str,
    summary: &'static str,
    details: &'static str,
    keys: &'static [Key],
}

impl Section {
    /// The path of one of its keys: `limits.call_deadline`.
    pub fn key_path(&self, key: &Key) -> String {
        format!("{}.{}", self.path, key.name)
    }

    /// Whether the key is a way to reach a source.
    pub fn is_way(&self, key: &Key) -> bool {
        self.ways.iter().any(|way| way.key == key.name)
    }

    /// The keys that may not stand beside this one: the other ways, for one of them.
    pub fn excluded_by(&self, key: &Key) -> Vec<&'static str> {
        let ways = self.ways.iter().filter(|_| self.is_way(key)).map(|way| way.key);
        ways.filter(|way| *way != key.name).collect()
    }

    /// What a key rules out, demands and bounds, one sentence each.
    pub fn constraints(&self, key: &Key) -> Vec<String> {
        let excludes = self.excluded_by(key).into_iter();
        let excludes = excludes.map(|other| format!("not beside `{other}`"));
        let needs = key.needs.map(|other| format!("only beside `{other}`"));
        let own = key.kind.constraint().map(str::to_owned);
        own.into_iter().chain(needs).chain(excludes).collect()
    }

    /// Whether its user names such sections.
    pub(super) fn is_named(&self) -> bool {
        self.path.contains('.')
    }
}

#[cfg(test)]
mod tests;
