//! The value of the key `builtin`.

use std::collections::BTreeSet;
use std::fmt;

use gatefold_builtin::BuiltinName;
use gatefold_config::{ExpectedValue, parsed};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Expected, SeqAccess, Unexpected, Visitor};

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
