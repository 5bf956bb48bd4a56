//! The value of the key `builtin`.

use std::collections::BTreeSet;
use std::fmt;

use gatefold_builtin::BuiltinName;
use gatefold_config::{ExpectedValue, parsed};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Expected, SeqAccess, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};

/// The word for every tool that needs nothing.
const ALL: &str = "all";

/// The tools that a source has.
#[derive(JsonSchema)]
#[schemars(schema_with = "tools_schema")]
pub(super) enum ChosenTools {
    All,
    Listed(BTreeSet<BuiltinName>),
}

fn tools_schema(generator: &mut SchemaGenerator) -> Schema {
    let mut tools = generator.subschema_for::<Vec<ToolWord>>();
    tools.insert("minItems".to_owned(), 1.into());
    json_schema!({
        "anyOf": [tools, { "type": "string", "enum": [ALL] }],
        "x-type": "\"all\" or list of tools",
    })
}

impl<'de> Deserialize<'de> for ChosenTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChosenToolsVisitor)
    }
}

struct ChosenToolsVisitor;

const CHOSEN: ExpectedValue<'_> = ExpectedValue {
    what: "\"all\" or a list of tools",
    hint: "write \"all\", or list tools: [\"calculate\", \"datetime\"]",
};

impl<'de> Visitor<'de> for ChosenToolsVisitor {
    type Value = ChosenTools;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Expected::fmt(&CHOSEN, f)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == ALL {
            return Ok(ChosenTools::All);
        }
        Err(E::invalid_value(Unexpected::Str(text), &CHOSEN))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(ToolWord(name)) = items.next_element()? {
            names.insert(name);
        }
        Ok(ChosenTools::Listed(names))
    }
}

/// A tool that needs nothing configured.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = words_of_loops(), "x-type" = "built-in tool",
    "x-types" = "built-in tools"))]
pub(in crate::config) struct LoopTool(pub(in crate::config) BuiltinName);

fn words_of_loops() -> Vec<&'static str> {
    BuiltinName::ALL
        .into_iter()
        .filter(|name| name.needs_nothing())
        .map(BuiltinName::as_str)
        .collect()
}

impl<'de> Deserialize<'de> for LoopTool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words: Vec<_> = words_of_loops().iter().map(|word| format!("\"{word}\"")).collect();
        let hint = format!(
            "write one of {}; any other is a source with `builtin = [NAME]`",
            words.join(", ")
        );
        let read = |text: &str| text.parse().ok().filter(|name: &BuiltinName| name.needs_nothing());
        parsed(deserializer, "a built-in tool that needs nothing", &hint, read).map(Self)
    }
}

impl Serialize for LoopTool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

#[derive(JsonSchema)]
#[schemars(with = "String", extend("enum" = BuiltinName::ALL.map(BuiltinName::as_str)))]
struct ToolWord(BuiltinName);

impl<'de> Deserialize<'de> for ToolWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words: Vec<_> = BuiltinName::ALL.iter().map(|name| format!("\"{name}\"")).collect();
        let hint = format!("write one of {}", words.join(", "));
        parsed(deserializer, "a built-in tool", &hint, |text| text.parse().ok()).map(Self)
    }
}
