//! The JSON Schema of `gatefold.toml`, for editors: what the keys' types say, put together.
//!
//! It has no references to its own parts, because editors drop the descriptions beside a `$ref`.

use serde_json::{Map, Value, json};

use super::keys::{ApplyMode, Key, Section};

/// Where the schema is published, for users who have nothing but their `gatefold.toml`.
pub(super) const ADDRESS: &str =
    concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main/schemas/gatefold.schema.json");

/// The schema of a configuration with these sections.
pub fn schema(sections: &[Section]) -> Value {
    let mut properties = Map::new();
    for section in sections {
        let (name, value) = match section.path.split_once('.') {
            Some((name, _)) => (name, named(section)),
            None => (section.path, table(section)),
        };
        properties.insert(name.to_owned(), value);
    }
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": ADDRESS,
        "title": "Gatefold",
        "description": "The configuration of Gatefold, which stands between language models and \
                        their tools.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// A table of tables whose names the user chooses.
fn named(section: &Section) -> Value {
    json!({
        "description": text(&section.summary, &section.details),
        "type": "object",
        "additionalProperties": table(section),
    })
}

fn table(section: &Section) -> Value {
    let keys = section.keys.iter();
    let properties: Map<_, _> = keys.map(|key| (key.name.clone(), property(key))).collect();
    let mut table = json!({
        "description": text(&section.summary, &section.details),
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let keys = section.keys.iter();
    let needs: Map<_, _> =
        keys.filter_map(|key| Some((key.name.clone(), dependency(&key.needs)?))).collect();
    if !needs.is_empty() {
        table["dependencies"] = needs.into();
    }
    let ways: Vec<_> = section.ways.iter().map(|way| json!({ "required": [way.key] })).collect();
    if !ways.is_empty() {
        table["oneOf"] = ways.into();
    }
    table
}

/// What a key that needs one of these keys depends on.
fn dependency(needs: &[String]) -> Option<Value> {
    match needs {
        [] => None,
        [other] => Some(json!([other])),
        others => {
            let others: Vec<_> =
                others.iter().map(|other| json!({ "required": [other] })).collect();
            Some(json!({ "anyOf": others }))
        }
    }
}

fn property(key: &Key) -> Value {
    let mut details: Vec<String> = Vec::new();
    if !key.details.is_empty() {
        details.push(key.details.clone());
    }
    if !key.unset.is_empty() {
        details.push(format!("Default: {}.", key.unset));
    }
    if key.applies == ApplyMode::Restart {
        details.push("A change takes effect at the next start.".to_owned());
    }
    let mut property = key.schema.clone();
    property.insert("description".to_owned(), text(&key.summary, &details.join(" ")).into());
    if let Some(default) = &key.default {
        property.insert("default".to_owned(), default.clone());
    }
    property.insert("examples".to_owned(), key.examples.clone());
    property.into()
}

fn text(summary: &str, details: &str) -> String {
    if details.is_empty() { summary.to_owned() } else { format!("{summary}\n\n{details}") }
}
