//! Keys that have a section of their own and that each source has too.

use std::fmt;
use std::time::Duration;

use gatefold_config::{ExpectedValue, Field, Table, Text, Time, fault};
use gatefold_policy::{Effect, Entries};
use serde::de::{Error, Expected, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

/// The limits that each source may set for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLimits {
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// The same for a first start through a package runner, which may have to download.
    pub install_deadline: Duration,
    /// How long an unused connection stays open.
    pub idle_stop: Duration,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self {
            connect_deadline: Duration::from_secs(15),
            install_deadline: Duration::from_mins(5),
            idle_stop: Duration::from_mins(10),
        }
    }
}

impl SourceLimits {
    pub(super) fn set(&mut self, keys: &LimitKeys) {
        set(&mut self.connect_deadline, keys.connect_deadline);
        set(&mut self.install_deadline, keys.install_deadline);
        set(&mut self.idle_stop, keys.idle_stop);
    }
}

/// The keys of [`SourceLimits`].
#[derive(Deserialize, Default)]
pub(super) struct LimitKeys {
    connect_deadline: Option<Time>,
    install_deadline: Option<Time>,
    idle_stop: Option<Time>,
}

/// The deadline of calls, for all sources or for one.
#[derive(Deserialize, Default)]
pub(super) struct CallKeys {
    pub(super) call_deadline: Option<Time>,
}

/// Patterns over names of tools, prompts and resources.
#[derive(Deserialize, Default)]
#[serde(default)]
struct PatternKeys {
    allow: Vec<EntryPattern>,
    ask: AskSelections,
    ask_unless: Vec<EntryPattern>,
    deny: Vec<EntryPattern>,
    deny_unless: Vec<EntryPattern>,
}

/// What a section says of some entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EntryEffect {
    pub(super) effect: Effect,
    pub(super) selection: EntrySelection,
    /// Patterns, as [`Entries::read`] reads them, of entries that are not meant.
    pub(super) unless: Vec<String>,
}

impl EntryEffect {
    pub(super) fn new(effect: Effect, pattern: String) -> Self {
        Self { effect, selection: EntrySelection::Pattern(pattern), unless: Vec::new() }
    }
}

/// The entries that a rule is about, as the file writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EntrySelection {
    /// A pattern as [`Entries::read`] reads it.
    Pattern(String),
    /// The word for every tool that may change something.
    Writes,
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

/// The value of `ask` for every tool that may change something.
pub(super) const WRITES: &str = "writes";

/// The value of `ask`: a list of patterns, or one word.
#[derive(Default)]
struct AskSelections(Vec<EntrySelection>);

impl<'de> Deserialize<'de> for AskSelections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AskVisitor).map(Self)
    }
}

struct AskVisitor;

const ASK: ExpectedValue<'_> = ExpectedValue {
    what: "\"writes\" or a list of patterns",
    hint: "write \"writes\", or list patterns: [\"delete_*\"]",
};

impl<'de> Visitor<'de> for AskVisitor {
    type Value = Vec<EntrySelection>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Expected::fmt(&ASK, f)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == WRITES {
            return Ok(vec![EntrySelection::Writes]);
        }
        Err(E::invalid_value(Unexpected::Str(text), &ASK))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut patterns = Vec::new();
        while let Some(EntryPattern(pattern)) = items.next_element()? {
            patterns.push(EntrySelection::Pattern(pattern));
        }
        Ok(patterns)
    }
}

/// Reads the entries under `allow`, `ask` and `deny`, and their exceptions.
pub(super) fn effects(table: &mut Table<'_>) -> Vec<EntryEffect> {
    let keys: PatternKeys = table.read().unwrap_or_default();
    if let Some(field) = table.peek("allow").filter(Field::is_empty_list) {
        field.fault("is empty, which would hide everything", "list patterns, or remove the key");
    }
    let texts = |patterns: Vec<EntryPattern>| -> Vec<String> {
        patterns.into_iter().map(|EntryPattern(text)| text).collect()
    };
    let select = |patterns| texts(patterns).into_iter().map(EntrySelection::Pattern).collect();
    [
        (Effect::Allow, select(keys.allow), Vec::new()),
        (Effect::Ask, keys.ask.0, texts(keys.ask_unless)),
        (Effect::Deny, select(keys.deny), texts(keys.deny_unless)),
    ]
    .into_iter()
    .flat_map(|(effect, selections, unless)| {
        let selections: Vec<EntrySelection> = selections;
        let each = selections.into_iter();
        each.map(move |selection| EntryEffect { effect, selection, unless: unless.clone() })
    })
    .collect()
}

/// Replaces a default by a key's value, if there is one.
pub(super) fn set<T, V: Into<T>>(target: &mut T, value: Option<V>) {
    if let Some(value) = value {
        *target = value.into();
    }
}
