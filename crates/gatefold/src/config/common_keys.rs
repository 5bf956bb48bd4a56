//! Keys that have a section of their own and that each source has too.

use std::fmt;
use std::time::Duration;

use gatefold_config::{ExpectedValue, Field, Table, Text, fault};
use gatefold_policy::{Effect, Entries};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Expected, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// Patterns over names of tools, prompts and resources.
pub(super) struct PatternKeys {
    pub(super) allow: Vec<EntryPattern>,
    pub(super) ask: AskSelections,
    pub(super) ask_unless: Vec<EntryPattern>,
    pub(super) deny: Vec<EntryPattern>,
    pub(super) deny_unless: Vec<EntryPattern>,
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

#[derive(Serialize, JsonSchema)]
#[schemars(with = "Text", extend("not" = { "pattern": "^(tool|prompt|resource):$" }, "x-type" = "pattern",
    "x-constraint" = "`*` is any run of characters, `?` any one"))]
pub(super) struct EntryPattern(pub(super) String);

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
#[derive(Default, JsonSchema)]
#[schemars(schema_with = "ask_schema")]
pub(super) struct AskSelections(pub(super) Vec<EntrySelection>);

fn ask_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            generator.subschema_for::<Vec<EntryPattern>>(),
            { "type": "string", "enum": [WRITES] },
        ],
        "x-type": "\"writes\" or list of patterns",
        "x-constraint": "\"writes\" is every tool that does not say `readOnlyHint: true`; in a pattern, `*` \
                         is any run of characters, `?` any one",
    })
}

impl Serialize for AskSelections {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.contains(&EntrySelection::Writes) {
            return serializer.serialize_str(WRITES);
        }
        serializer.collect_seq(self.0.iter().map(|selection| match selection {
            EntrySelection::Pattern(pattern) => pattern.as_str(),
            EntrySelection::Writes => WRITES,
        }))
    }
}

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
pub(super) fn effects(table: &Table<'_>, keys: PatternKeys) -> Vec<EntryEffect> {
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
