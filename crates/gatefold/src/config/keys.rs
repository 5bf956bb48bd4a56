//! Every key of `gatefold.toml`, described once.
//!
//! The schema for editors, `gatefold config explain`, `gatefold init` and the reference are all
//! generated from this. Defaults come from the code, and tests compare the rest with the reader:
//! every described key is read, and every key that is read is described.

mod agents;
mod audit;
mod disclosure;
mod find;
mod models;
mod results;
mod sections;
mod server;
mod sources;
mod state;
mod users;

use super::kinds::{ConnectionMethod, Kinds, SourceKind};

pub use super::key::{ApplyMode, Emptiness, Key, Kind};
pub use find::{PathTarget, UnknownPath, find};
pub(in crate::config) use sources::COMMON;

/// The sections of a configuration, in the best order for reading. The keys of a source depend on
/// the available kinds.
pub fn sections(kinds: &Kinds) -> Vec<Section> {
    let fixed = FIXED.iter().map(|fixed| Section {
        path: fixed.path,
        summary: fixed.summary.to_owned(),
        details: fixed.details.to_owned(),
        keys: fixed.keys.iter().collect(),
        shared: Vec::new(),
        ways: Vec::new(),
    });
    std::iter::once(sources(kinds)).chain(fixed).collect()
}

/// Every section except that of the sources.
pub(super) const FIXED: &[FixedSection] = &[
    sections::POLICY,
    disclosure::DISCLOSURE,
    disclosure::CLIENTS,
    models::MODELS,
    agents::AGENTS,
    sections::SEARCH,
    sections::LIMITS,
    results::RESULTS,
    server::SERVER,
    users::USERS,
    state::SECRETS,
    state::STATE,
    audit::AUDIT,
];

fn sources(kinds: &Kinds) -> Section {
    // Two kinds may be alike for a reader.
    let mut nouns: Vec<_> = kinds.iter().map(SourceKind::noun).collect();
    nouns.dedup();
    let details = kinds.iter().map(SourceKind::details);
    let details: Vec<_> = details.filter(|text| !text.is_empty()).collect();
    let (mut keys, mut shared) = (Vec::<&Key>::new(), Vec::new());
    for key in kinds.iter().flat_map(SourceKind::keys).chain(sources::COMMON) {
        let is_known = keys.iter().any(|known| known.name == key.name);
        if is_known { shared.push(key) } else { keys.push(key) }
    }
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
        keys,
        shared,
        ways: kinds.ways().map(|(_, way)| *way).collect(),
    }
}

/// One table of a configuration.
#[derive(Debug)]
pub struct Section {
    /// As in its header; `NAME` stands for a name that the user chooses.
    pub path: &'static str,
    /// One sentence.
    pub summary: String,
    /// Further details. May be empty.
    pub details: String,
    pub keys: Vec<&'static Key>,
    /// Keys of further kinds of sources, with names that are among `keys`.
    shared: Vec<&'static Key>,
    /// The ways to reach a source, which has exactly one of them.
    pub ways: Vec<ConnectionMethod>,
}

/// A section that does not depend on the kinds.
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

    /// The keys of which one must be set as well, if there are any.
    pub fn needs(&self, key: &Key) -> Vec<&'static str> {
        let shared = self.shared.iter().filter(|other| other.name == key.name);
        shared.fold(key.needs.to_vec(), |mut needs, other| {
            needs.extend(other.needs);
            needs
        })
    }

    /// Keys that exclude this one: the other ways, if it is a way.
    pub fn excluded_by(&self, key: &Key) -> Vec<&'static str> {
        let ways = self.ways.iter().filter(|_| self.is_way(key)).map(|way| way.key);
        ways.filter(|way| *way != key.name).collect()
    }

    /// What a key excludes, requires and allows, one sentence each.
    pub fn constraints(&self, key: &Key) -> Vec<String> {
        let among = |what: &str, others: Vec<&str>| {
            let others: Vec<_> = others.iter().map(|other| format!("`{other}`")).collect();
            (!others.is_empty()).then(|| format!("{what} together with {}", others.join(" or ")))
        };
        let excludes = among("not", self.excluded_by(key));
        let needs = among("only", self.needs(key));
        let own = key.kind.constraint().map(str::to_owned);
        own.into_iter().chain(needs).chain(excludes).collect()
    }

    /// Whether this is the section of the sources.
    pub(super) fn is_source(&self) -> bool {
        !self.ways.is_empty()
    }

    /// Whether the user names such sections.
    pub(super) fn is_named(&self) -> bool {
        self.path.contains('.')
    }
}

#[cfg(test)]
mod tests;
