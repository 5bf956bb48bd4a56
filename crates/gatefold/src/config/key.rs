//! One key of a configuration: its name, its values and its purpose.

use std::fmt;

use gatefold_config::schemas::REFERENCE;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Config;

/// One key of a section.
#[derive(Clone)]
pub struct Key {
    pub name: String,
    /// What to call its values, in a few words.
    pub kind: String,
    /// How to write one, if that does not say everything.
    pub(super) constraint: Option<String>,
    /// One sentence.
    pub summary: String,
    /// Further details. May be empty.
    pub details: String,
    /// A value in TOML that differs from the default.
    pub example: String,
    /// The default, if it can be given as one value.
    pub default: Option<Value>,
    /// The behaviour without the key, if the default is not a single value.
    pub unset: String,
    /// Keys of which one must be set as well, if there are any.
    pub needs: Vec<String>,
    pub applies: ApplyMode,
    /// What an editor checks, without words.
    pub(super) schema: Map<String, Value>,
    /// The example as JSON, in a list.
    pub(super) examples: Value,
}

/// When a change of a key takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyMode {
    Reload,
    Restart,
}

/// The keys of a section, as serde reads them. Its default is the section of a default configuration.
pub(super) trait SectionKeys: JsonSchema + Serialize {
    /// The section as a person would write it for a configuration, without what may be secret.
    fn of(config: &Config) -> Self;
}

/// The keys that a struct reads, in the order of its fields.
///
/// A key's name is the field's; the first paragraph of the field's documentation is its summary, the rest its
/// details; the field's type says what values it takes. Where a field has no documentation, that of its type counts.
/// Attributes have what is left, `#[schemars(extend("examples" = [...], ...))]`:
///
/// | keyword | what it says |
/// |---|---|
/// | `examples` | a value that differs from the default |
/// | `x-unset` | what happens without the key, where its default is no single value |
/// | `x-needs` | keys of which one must be set as well |
/// | `x-restart` | that a change takes effect at the next start |
/// | `x-type`, `x-constraint` | what its values are called, and how to write one: see [`gatefold_config::schemas`] |
pub fn keys_of<T: JsonSchema>() -> Vec<Key> {
    let mut schema = schema_of::<T>();
    let Some(Value::Object(properties)) = schema.get_mut("properties").map(Value::take) else {
        return Vec::new();
    };
    let properties = properties.into_iter();
    properties.filter_map(|(name, schema)| Some(Key::new(name, schema.try_into().ok()?))).collect()
}

/// What the documentation of a struct says in its first paragraph, and in the others.
pub(super) fn words_of<T: JsonSchema>() -> (String, String) {
    words(text(&schema_of::<T>(), "description"))
}

/// A schema without references, with the words.
fn schema_of<T: JsonSchema>() -> Schema {
    let mut settings = SchemaSettings::draft07();
    settings.inline_subschemas = true;
    let mut schema = T::json_schema(&mut settings.into_generator());
    leave_out_null(&mut schema);
    schema
}

impl Key {
    fn new(name: String, mut schema: Schema) -> Self {
        let (summary, details) = words(text(&schema, "description"));
        let unset = text(&schema, "x-unset").to_owned();
        let default = schema.get("default").filter(|value| unset.is_empty() && !value.is_null());
        let needs = schema.get("x-needs").and_then(Value::as_array).into_iter().flatten();
        let key = Self {
            kind: kind_of(&schema),
            constraint: constraint_of(&schema),
            summary,
            details,
            example: schema.pointer("/examples/0").map(toml_text).unwrap_or_default(),
            default: default.cloned(),
            unset,
            needs: needs.filter_map(Value::as_str).map(str::to_owned).collect(),
            applies: match schema.get("x-restart") {
                Some(_) => ApplyMode::Restart,
                None => ApplyMode::Reload,
            },
            examples: schema.get("examples").cloned().unwrap_or_default(),
            name,
            schema: Map::new(),
        };
        leave_out_words(&mut schema);
        Self { schema: std::mem::take(schema.ensure_object()), ..key }
    }

    /// The default in TOML, or in words.
    pub fn default_text(&self) -> String {
        self.default.as_ref().map_or_else(|| self.unset.clone(), Value::to_string)
    }

    /// Its value in force, as its section writes it. `None` where that is no single value.
    pub(super) fn value(&self, written: &Value) -> Option<Value> {
        let is_none = match written {
            Value::Null => true,
            Value::Array(items) => items.is_empty() && !self.unset.is_empty(),
            _ => false,
        };
        (!is_none).then(|| written.clone())
    }

    /// Whether references (`${VAR}`) are replaced in it: true for everything that contains strings.
    pub fn takes_variables(&self) -> bool {
        let kind = self.schema.get("type").and_then(Value::as_str);
        !matches!(kind, Some("boolean" | "integer" | "number"))
    }

    /// Whether the value is a table with further keys, or a list of such tables.
    pub fn is_table(&self) -> bool {
        let is_object = |schema: &Value| schema["type"] == "object";
        self.schema.get("type").is_some_and(|kind| kind == "object")
            || self.schema.get("items").is_some_and(is_object)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

fn text<'s>(schema: &'s Schema, keyword: &str) -> &'s str {
    schema.get(keyword).and_then(Value::as_str).unwrap_or_default()
}

/// The first paragraph of a documentation, and the others, each on one line.
fn words(documentation: &str) -> (String, String) {
    let (summary, details) = documentation.split_once("\n\n").unwrap_or((documentation, ""));
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (on_one_line(summary), on_one_line(details))
}

/// What to call such values.
fn kind_of(schema: &Schema) -> String {
    if let Some(kind) = schema.get("x-type").and_then(Value::as_str) {
        return kind.to_owned();
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
    }
    match text(schema, "type") {
        "array" => format!("list of {}", part(schema, "items").map_or_else(String::new, kinds_of)),
        "object" => {
            let values = schema.get("patternProperties").and_then(Value::as_object);
            let values = values.and_then(|values| values.values().next()?.try_into().ok());
            values.map_or_else(
                || "table".to_owned(),
                |values| format!("table of {}", kinds_of(values)),
            )
        }
        "integer" => "whole number".to_owned(),
        other => other.to_owned(),
    }
}

/// The same of several.
fn kinds_of(schema: &Schema) -> String {
    let plural = schema.get("x-types").and_then(Value::as_str);
    plural.map_or_else(|| format!("{}s", kind_of(schema)), str::to_owned)
}

fn part<'s>(schema: &'s Schema, keyword: &str) -> Option<&'s Schema> {
    schema.get(keyword)?.try_into().ok()
}

/// How to write such a value, if what it is called does not say everything.
fn constraint_of(schema: &Schema) -> Option<String> {
    let own = |schema: &Schema| Some(schema.get("x-constraint")?.as_str()?.to_owned());
    let Some(items) = part(schema, "items") else { return own(schema) };
    let is_filled = text(items, "pattern") == r"\S";
    let of_items = own(schema).or_else(|| own(items));
    let constraint = of_items.or_else(|| is_filled.then(|| "none of them empty".to_owned()))?;
    let is_never_empty = schema.get("minItems").is_some();
    Some(if is_never_empty {
        format!("{constraint}; the list may not be empty")
    } else {
        constraint
    })
}

/// A value as TOML has it on one line. Strings are alike in both.
fn toml_text(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml_text).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members =
                members.iter().map(|(key, value)| format!("{key} = {}", toml_text(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// TOML has no null: an `Option` is a key that may be left out.
fn leave_out_null(schema: &mut Schema) {
    transform_subschemas(&mut leave_out_null, schema);
    let Some(keywords) = schema.as_object_mut() else { return };
    if let Some(Value::Array(words)) = keywords.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(kind) = keywords.get_mut("type")
        && let Value::Array(kinds) = kind
    {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            *kind = only.clone();
        }
    }
    let Some(Value::Array(ways)) = keywords.get_mut("anyOf") else { return };
    let ways_with_null = ways.len();
    ways.retain(|way| way["type"] != "null");
    if ways.len() < ways_with_null
        && let [Value::Object(only)] = ways.as_slice()
    {
        let mut only = only.clone();
        only.extend(std::mem::take(keywords).into_iter().filter(|(keyword, _)| keyword != "anyOf"));
        *keywords = only;
    }
}

/// Leaves what editors need: no words of ours, and no documentation of types. A string of a few may also have a
/// reference.
fn leave_out_words(schema: &mut Schema) {
    transform_subschemas(&mut leave_out_words, schema);
    let Some(keywords) = schema.as_object_mut() else { return };
    let is_word = |keyword: &str| {
        keyword.starts_with("x-") || matches!(keyword, "description" | "default" | "examples")
    };
    keywords.retain(|keyword, _| !is_word(keyword));
    if keywords.get("type").is_some_and(|kind| kind == "string")
        && let Some(words) = keywords.get("enum")
    {
        let reference = json!({ "type": "string", "pattern": REFERENCE });
        *keywords = Map::from_iter([("anyOf".to_owned(), json!([{ "enum": words }, reference]))]);
    }
}
