//! The first levels of a schema that is too long for an answer, and its parts by their paths.

use gatefold_catalog::schema_keywords::{is_schema, lists_schemas, maps_names};
use gatefold_catalog::without_spaces;
use serde_json::{Map, Value, json};

/// The longest schema that is shown whole, in bytes: some 16,000 tokens.
const SCHEMA_BYTES: usize = 64 * 1024;

/// How many levels are shown at most where not all are.
const LEVELS: usize = 8;

/// The longest description of a part that is left out, in bytes.
const SHORT_BYTES: usize = 200;

/// A schema as JSON, whole or in its first levels.
pub(crate) struct ShownSchema {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

/// A schema that stands at a place of an answer. In the place of each part that is left out there is a `$ref` to
/// where it would be.
pub(crate) fn shown(schema: &str, place: &str) -> ShownSchema {
    let whole = without_spaces(schema);
    if whole.len() <= SCHEMA_BYTES {
        return ShownSchema { text: whole, is_cut: false };
    }
    let Ok(mut value) = serde_json::from_str::<Value>(&whole) else {
        return ShownSchema { text: "{}".to_owned(), is_cut: true };
    };
    // References lead there by their names.
    if let Value::Object(members) = &mut value {
        members.shift_remove("$defs");
        members.shift_remove("definitions");
    }
    let texts = (0..=LEVELS).rev().map(|depth| cut(&value, depth, place).to_string());
    let text = texts.into_iter().find(|text| text.len() <= SCHEMA_BYTES);
    let text = text.unwrap_or_else(|| name_properties(&value, place));
    ShownSchema { text, is_cut: true }
}

/// The part of a tool's schemas at a path: one that an answer names, or a reference within the schemas.
pub(crate) fn part(input: &str, output: Option<&str>, path: &str) -> Option<ShownSchema> {
    let path = path.trim();
    let path = path.strip_prefix('#').unwrap_or(path);
    let schemas = [("/parameters", Some(input)), ("/output_schema", output)];
    let named = |(place, schema): (&str, Option<&str>)| {
        let pointer = path.strip_prefix(place)?;
        at(schema?, pointer, place)
    };
    let within = |(place, schema): (&str, Option<&str>)| at(schema?, path, place);
    schemas.into_iter().find_map(named).or_else(|| schemas.into_iter().find_map(within))
}

fn at(schema: &str, pointer: &str, place: &str) -> Option<ShownSchema> {
    let value: Value = serde_json::from_str(schema).ok()?;
    let part = value.pointer(pointer).filter(|part| part.is_object() && !pointer.is_empty())?;
    Some(shown(&part.to_string(), &format!("{place}{pointer}")))
}

/// The same schema with so many levels of parts.
fn cut(schema: &Value, depth: usize, place: &str) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let member = |(key, value): (&String, &Value)| {
        let place = format!("{place}/{}", escaped(key));
        let value = match value {
            Value::Object(named) if maps_names(key) => {
                let part = |(name, part): (&String, &Value)| {
                    let place = format!("{place}/{}", escaped(name));
                    (name.clone(), deeper(part, depth, &place))
                };
                Value::Object(named.iter().map(part).collect())
            }
            Value::Array(parts) if is_list(key) => {
                let parts = parts.iter().enumerate();
                parts
                    .map(|(index, part)| deeper(part, depth, &format!("{place}/{index}")))
                    .collect()
            }
            Value::Object(_) if is_schema(key) => deeper(value, depth, &place),
            other => other.clone(),
        };
        (key.clone(), value)
    };
    Value::Object(members.iter().map(member).collect())
}

fn deeper(part: &Value, depth: usize, place: &str) -> Value {
    if let Some(depth) = depth.checked_sub(1) {
        return cut(part, depth, place);
    }
    let Value::Object(members) = part else { return part.clone() };
    let has_parts = members.keys().any(|key| maps_names(key) || is_list(key) || is_schema(key));
    if has_parts { left_out(members, place) } else { part.clone() }
}

/// What stands for a part that is left out.
fn left_out(members: &Map<String, Value>, place: &str) -> Value {
    let mut short = Map::new();
    for key in ["type", "title", "description"] {
        if let Some(value) = members.get(key).filter(|value| value.to_string().len() <= SHORT_BYTES)
        {
            short.insert(key.to_owned(), value.clone());
        }
    }
    short.insert("$ref".to_owned(), format!("#{place}").into());
    Value::Object(short)
}

/// As many of its properties as there is room for, each left out, and how many there are.
fn name_properties(schema: &Value, place: &str) -> String {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let (mut shown, mut room) = (Map::new(), SCHEMA_BYTES / 2);
    let mut count = 0;
    for (name, _) in properties {
        count += 1;
        let part = json!({ "$ref": format!("#{place}/properties/{}", escaped(name)) });
        let bytes = 2 * name.len() + part.to_string().len();
        if bytes <= room {
            room -= bytes;
            shown.insert(name.clone(), part);
        }
    }
    json!({ "type": "object", "description": format!("Shows {} of {count} properties.", shown.len()), "properties": shown })
        .to_string()
}

/// A key in a JSON pointer (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Whether a list below this keyword is one of schemas.
fn is_list(key: &str) -> bool {
    key == "items" || lists_schemas(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema whose property `a` has many levels, and as many properties on each.
    fn deep(levels: usize, width: usize) -> Value {
        let mut schema = json!({ "type": "string", "description": "d".repeat(90) });
        for _ in 0..levels {
            let properties = (0..width).map(|index| (format!("p/{index}"), schema.clone()));
            schema = json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() });
        }
        schema
    }

    #[test]
    fn a_long_schema_is_shown_in_its_first_levels_and_each_part_by_its_path() {
        let schema = deep(4, 8);
        let input = schema.to_string();
        assert!(input.len() > 5 * SCHEMA_BYTES);
        let first = shown(&input, "/parameters");
        assert!(first.is_cut && first.text.len() <= SCHEMA_BYTES);
        let value: Value = serde_json::from_str(&first.text).unwrap();
        let below = value.pointer("/properties/p~10/properties/p~11/properties/p~12").unwrap();
        let path = below["$ref"].as_str().unwrap();
        assert_eq!(path, "#/parameters/properties/p~10/properties/p~11/properties/p~12");
        let part = part(&input, None, path).unwrap();
        let expected = schema.pointer(path.strip_prefix("#/parameters").unwrap()).unwrap();
        assert_eq!((part.text, part.is_cut), (expected.to_string(), false));
    }

    #[test]
    fn a_short_schema_stays_whole_and_a_wide_one_keeps_its_names() {
        let short = shown(r#"{ "type": "object" }"#, "/parameters");
        assert_eq!((short.text.as_str(), short.is_cut), (r#"{"type":"object"}"#, false));
        let wide = shown(&deep(1, 2000).to_string(), "/output_schema");
        assert!(wide.is_cut && wide.text.len() <= SCHEMA_BYTES);
        assert!(wide.text.contains("of 2000 properties"), "{}", &wide.text[..200]);
    }

    #[test]
    fn a_path_is_one_of_an_answer_or_one_within_the_schemas() {
        let input =
            r##"{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"string"}}}"##;
        let output = Some(r#"{"properties":{"b":{"type":"number"}}}"#);
        for (path, expected) in [
            ("#/parameters/properties/a", Some(r##"{"$ref":"#/$defs/x"}"##)),
            ("/output_schema/properties/b", Some(r#"{"type":"number"}"#)),
            ("#/$defs/x", Some(r#"{"type":"string"}"#)),
            ("/properties/b", Some(r#"{"type":"number"}"#)),
            ("/properties/c", None),
            ("#/parameters", None),
            ("", None),
            ("properties", None),
        ] {
            let found = part(input, output, path).map(|part| part.text);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }
}
