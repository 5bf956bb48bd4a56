//! Every key of `gatefold.toml`, described once: by the struct that reads it (see [`keys_of`]).
//!
//! The schema for editors, `gatefold config explain`, `gatefold init` and the reference are all
//! generated from this. Defaults come from the code.

mod find;

use schemars::JsonSchema;
use serde_json::Value;

use super::Config;
use super::agents::AgentKeys;
use super::key::{SectionKeys, words_of};
use super::kinds::{ConnectionMethod, Kinds, SourceKind};
use super::models::ModelKeys;
use super::profiles::ProfileKeys;
use super::sections::{
    AuditKeys, DisclosureKeys, LimitsKeys, PolicyKeys, ResultsKeys, SearchKeys, SecretsKeys,
    ServerKeys, StateKeys,
};
use super::sources::SourceKeys;
use super::users::UserKeys;

pub use super::key::{ApplyMode, Key, keys_of};
pub use find::{PathTarget, UnknownPath, find};

/// Every section except that of the sources, in the best order for reading.
pub(super) const FIXED: &[FixedSection] = &[
    FixedSection::single::<PolicyKeys>("policy"),
    FixedSection::single::<DisclosureKeys>("disclosure"),
    FixedSection::named::<ProfileKeys>("clients.NAME"),
    FixedSection::named::<ModelKeys>("models.NAME"),
    FixedSection::named::<AgentKeys>("agents.NAME"),
    FixedSection::single::<SearchKeys>("search"),
    FixedSection::single::<LimitsKeys>("limits"),
    FixedSection::single::<ResultsKeys>("results"),
    FixedSection::single::<ServerKeys>("server"),
    FixedSection::named::<UserKeys>("users.NAME"),
    FixedSection::single::<SecretsKeys>("secrets"),
    FixedSection::single::<StateKeys>("state"),
    FixedSection::single::<AuditKeys>("audit"),
];

/// A section that does not depend on the kinds.
pub(super) struct FixedSection {
    path: &'static str,
    words: fn() -> (String, String),
    keys: fn() -> Vec<Key>,
    written: fn(&Config) -> Value,
}

impl FixedSection {
    const fn single<K: SectionKeys>(path: &'static str) -> Self {
        let written = |config: &Config| serde_json::to_value(K::of(config)).unwrap_or_default();
        Self { path, words: words_of::<K>, keys: keys_of::<K>, written }
    }

    const fn named<K: JsonSchema>(path: &'static str) -> Self {
        Self { path, words: words_of::<K>, keys: keys_of::<K>, written: |_| Value::Null }
    }

    fn section(&self) -> Section {
        let (summary, details) = (self.words)();
        Section { path: self.path, summary, details, keys: (self.keys)(), ways: Vec::new() }
    }
}

/// The sections of a configuration. The keys of a source depend on the available kinds.
pub fn sections(kinds: &Kinds) -> Vec<Section> {
    std::iter::once(sources(kinds)).chain(FIXED.iter().map(FixedSection::section)).collect()
}

/// The sections that a configuration has once, as a person would write them for it.
pub(super) fn written(config: &Config) -> Value {
    FIXED.iter().map(|section| (section.path.to_owned(), (section.written)(config))).collect()
}

fn sources(kinds: &Kinds) -> Section {
    // Two kinds may be alike for a reader.
    let mut nouns: Vec<_> = kinds.iter().map(SourceKind::noun).collect();
    nouns.dedup();
    let details = kinds.iter().map(SourceKind::details);
    let details: Vec<_> = details.filter(|text| !text.is_empty()).collect();
    let mut keys = Vec::<Key>::new();
    let of_kinds = kinds.keys().flat_map(|(_, keys)| keys.iter().cloned());
    for key in of_kinds.chain(keys_of::<SourceKeys>()) {
        match keys.iter_mut().find(|known| known.name == key.name) {
            // The first kind that has a key says what it is.
            Some(known) => known.needs.extend(key.needs),
            None => keys.push(key),
        }
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
    pub keys: Vec<Key>,
    /// The ways to reach a source, which has exactly one of them.
    pub ways: Vec<ConnectionMethod>,
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

    /// Keys that exclude this one: the other ways, if it is a way.
    pub fn excluded_by(&self, key: &Key) -> Vec<&'static str> {
        let ways = self.ways.iter().filter(|_| self.is_way(key)).map(|way| way.key);
        ways.filter(|way| *way != key.name).collect()
    }

    /// What a key excludes, requires and allows, one sentence each.
    pub fn constraints(&self, key: &Key) -> Vec<String> {
        let among = |what: &str, others: &[String]| {
            let others: Vec<_> = others.iter().map(|other| format!("`{other}`")).collect();
            (!others.is_empty()).then(|| format!("{what} together with {}", others.join(" or ")))
        };
        let excluded_by: Vec<_> = self.excluded_by(key).into_iter().map(str::to_owned).collect();
        let (excludes, needs) = (among("not", &excluded_by), among("only", &key.needs));
        key.constraint.clone().into_iter().chain(needs).chain(excludes).collect()
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
