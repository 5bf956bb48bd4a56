//! Keys that stand in a section of their own and in each source.

use std::time::Duration;

use gatefold_config::{Field, Table, Text, Time, fault};
use gatefold_policy::{Effect, Entries};
use serde::{Deserialize, Deserializer};

/// The limits that each source may set for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// How long a connection that nobody uses stays open.
    pub idle_stop: Duration,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { connect_deadline: Duration::from_secs(15), idle_stop: Duration::from_mins(10) }
    }
}

impl SourceLimits {
    pub(super) fn set(&mut self, keys: &LimitKeys) {
        set(&mut self.connect_deadline, keys.connect_deadline);
        set(&mut self.idle_stop, keys.idle_stop);
    }
}

/// The keys of [`SourceLimits`].
#[derive(Deserialize, Default)]
pub(super) struct LimitKeys {
    connect_deadline: Option<Time>,
    idle_stop: Option<Time>,
}

/// The deadline of calls, of all of them or of one source's.
#[derive(Deserialize, Default)]
pub(super) struct CallKeys {
    pub(super) call_deadline: Option<Time>,
}

/// Patterns over names of tools, prompts and resources.
#[derive(Deserialize, Default)]
#[serde(default)]
struct PatternKeys {
    allow: Vec<EntryPattern>,
    deny: Vec<EntryPattern>,
}

struct EntryPattern(String);

impl<'de> Deserialize<'de> for EntryPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Text(text) = Text::deserialize(deserializer)?;
        if Entries::read(&text).1.is_empty() {
            let hint = "write what it matches: `prompt:*`";
            return Err(fault("has no pattern after the colon", hint));
        }
        Ok(Self(text))
    }
}

/// Reads the patterns under `allow` and `deny`.
pub(super) fn effects(table: &mut Table<'_>) -> Vec<(Effect, String)> {
    let keys: PatternKeys = table.read().unwrap_or_default();
    if let Some(field) = table.peek("allow").filter(Field::is_empty_list) {
        field.fault("is empty, which would hide everything", "list patterns, or remove the key");
    }
    let allow = keys.allow.into_iter().map(|pattern| (Effect::Allow, pattern.0));
    let deny = keys.deny.into_iter().map(|pattern| (Effect::Deny, pattern.0));
    allow.chain(deny).collect()
}

/// Puts what a key says in the place of a default.
pub(super) fn set<T, V: Into<T>>(target: &mut T, value: Option<V>) {
    if let Some(value) = value {
        *target = value.into();
    }
}
