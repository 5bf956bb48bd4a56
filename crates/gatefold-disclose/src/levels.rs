//! The first levels of a schema that is too long to be shown, and its parts by their paths.

use std::cell::Cell;

use gatefold_catalog::schema_keywords::{is_schema, lists_schemas, maps_names};
use gatefold_catalog::without_spaces;
use serde_json::{Map, Value, json};

/// The longest schema that is shown whole, in bytes: some 16,000 tokens.
const SCHEMA_BYTES: usize = 64 * 1024;

/// How many levels are shown at most where not all are.
const LEVELS: usize = 8;

/// The longest description of a part that is left out, in bytes.
const SHORT_BYTES: usize = 200;

/// How many references are followed from one to the next.
const REFERENCES: usize = 16;

/// A schema as JSON, whole or in its first levels.
pub(crate) struct ShownSchema {
    pub(crate) text: String,
    pub(crate) is_cut: bool,
}

/// Where the parts of a schema are read that are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// A tool takes their paths.
    ByPath,
    Nowhere,
}

impl Rest {
    /// Where the words for what reads it are known.
    pub(crate) fn by(reader: Option<&str>) -> Self {
        if reader.is_some() { Self::ByPath } else { Self::Nowhere }
    }
}

/// What is said of a schema that is not shown whole.
pub(crate) fn note(reader: Option<&str>) -> String {
    let first = "These are the first levels of a long schema; calls are checked against all of it.";
    match reader {
        Some(reader) => {
            format!("{first} For a part that is left out, call {reader} and its path as `path`.")
        }
        None => first.to_owned(),
    }
}

/// Whether a schema is not shown whole.
pub(crate) fn is_long(schema: &str) -> bool {
    schema.len() > SCHEMA_BYTES && without_spaces(schema).len() > SCHEMA_BYTES
}

/// A schema that stands at a place of an answer or a definition.
///
/// Clients compile it and check calls against it. So what is cut is a schema too, which admits whatever the whole
/// one does, and needs nothing that was left out.
pub(crate) fn shown(schema: &str, place: &str, rest: Rest) -> ShownSchema {
    let whole = without_spaces(schema);
    if whole.len() <= SCHEMA_BYTES {
        return ShownSchema { text: whole, is_cut: false };
    }
    let text = serde_json::from_str(&whole).map_or_else(
        |_| "{}".to_owned(),
        |root| Excerpt { root: &root, base: place, rest, room: Cell::default() }.text(&root, place),
    );
    ShownSchema { text, is_cut: true }
}

/// The part of a tool's schemas at a path: one that an answer names, or a reference within the schemas.
pub(crate) fn part(input: &[&str], output: Option<&str>, path: &str) -> Option<ShownSchema> {
    let path = path.trim();
    let path = path.strip_prefix('#').unwrap_or(path);
    let inputs = input.iter().map(|schema| (PARAMETERS, *schema));
    let schemas: Vec<_> = inputs.chain(output.map(|schema| (OUTPUT, schema))).collect();
    let named = |(place, schema): &(&str, &str)| at(schema, path.strip_prefix(place)?, place);
    let within = |(place, schema): &(&str, &str)| at(schema, path, place);
    schemas.iter().find_map(named).or_else(|| schemas.iter().find_map(within))
}

/// The places of a tool's schemas in an answer.
pub(crate) const PARAMETERS: &str = "/parameters";
pub(crate) const OUTPUT: &str = "/output_schema";

fn at(schema: &str, pointer: &str, base: &str) -> Option<ShownSchema> {
    let root: Value = serde_json::from_str(schema).ok()?;
    let part = root.pointer(pointer).filter(|part| part.is_object() && !pointer.is_empty())?;
    let whole = part.to_string();
    if whole.len() <= SCHEMA_BYTES {
        return Some(ShownSchema { text: whole, is_cut: false });
    }
    let excerpt = Excerpt { root: &root, base, rest: Rest::ByPath, room: Cell::default() };
    let text = excerpt.text(part, &format!("{base}{pointer}"));
    Some(ShownSchema { text, is_cut: true })
}

/// As much of a schema as fits.
struct Excerpt<'a> {
    /// What references lead into, and its place.
    root: &'a Value,
    base: &'a str,
    rest: Rest,
    /// The bytes that are left for what is being written.
    room: Cell<usize>,
}

impl Excerpt<'_> {
    fn text(&self, part: &Value, place: &str) -> String {
        let Some((part, place)) = self.target(part, place) else { return "{}".to_owned() };
        let first_levels = |depth| {
            self.room.set(SCHEMA_BYTES);
            self.cut(part, depth, &place).map(|cut| cut.to_string())
        };
        let mut texts = (0..=LEVELS).rev().filter_map(first_levels);
        let text = texts.find(|text| text.len() <= SCHEMA_BYTES);
        text.unwrap_or_else(|| self.names(part, &place))
    }

    /// The same schema with so many levels of parts, if there is room for them.
    fn cut(&self, schema: &Value, depth: usize, place: &str) -> Option<Value> {
        let Value::Object(members) = schema else { return self.copied(schema) };
        let mut cut = Map::new();
        for (key, value) in members.iter().filter(|(key, _)| !is_left_out(key)) {
            let place = format!("{place}/{}", escaped(key));
            let value = match value {
                Value::Object(named) if maps_names(key) => {
                    let part = |(name, part): (&String, &Value)| {
                        self.take(name.len())?;
                        Some((
                            name.clone(),
                            self.deeper(part, depth, &format!("{place}/{}", escaped(name)))?,
                        ))
                    };
                    Value::Object(named.iter().map(part).collect::<Option<_>>()?)
                }
                Value::Array(parts) if is_list(key) => {
                    let below =
                        |(index, part)| self.deeper(part, depth, &format!("{place}/{index}"));
                    Value::Array(parts.iter().enumerate().map(below).collect::<Option<_>>()?)
                }
                Value::Object(_) if is_schema(key) => self.deeper(value, depth, &place)?,
                other => self.copied(other)?,
            };
            self.take(key.len())?;
            match key.as_str() {
                // Of cut schemas more than one may fit.
                "oneOf" if members.contains_key("anyOf") => {}
                "oneOf" => drop(cut.insert("anyOf".to_owned(), value)),
                key => drop(cut.insert(key.to_owned(), value)),
            }
        }
        Some(Value::Object(cut))
    }

    /// A part, in whose place a reference may stand.
    fn deeper(&self, part: &Value, depth: usize, place: &str) -> Option<Value> {
        let Some((target, target_place)) = self.target(part, place) else {
            return self.left_out(part, part, place);
        };
        let is_leaf = |members: &Map<String, Value>| {
            !members.keys().any(|key| maps_names(key) || is_list(key) || is_schema(key))
        };
        let mut shown = match depth.checked_sub(1) {
            Some(depth) => self.cut(target, depth, &target_place)?,
            None if target.as_object().is_none_or(is_leaf) => self.copied(target)?,
            None => return self.left_out(part, target, &target_place),
        };
        if let (Value::Object(shown), true) = (&mut shown, target_place != place) {
            for key in ["title", "description", "default"] {
                if let Some(own) = part.get(key) {
                    shown.insert(key.to_owned(), self.copied(own)?);
                }
            }
        }
        Some(shown)
    }

    /// What stands for a part that is left out.
    fn left_out(&self, part: &Value, target: &Value, place: &str) -> Option<Value> {
        let member = |key: &str| {
            let own = part.get(key).or_else(|| target.get(key))?;
            (own.to_string().len() <= SHORT_BYTES).then_some(own)
        };
        let mut short = Map::new();
        for key in ["type", "nullable", "title"] {
            short.extend(member(key).map(|value| (key.to_owned(), value.clone())));
        }
        // Some model providers refuse a list without it.
        if member("type").is_some_and(|kind| kind.to_string().contains("\"array\"")) {
            short.insert("items".to_owned(), json!({}));
        }
        let words = self.words(place);
        let description = match member("description").and_then(Value::as_str) {
            Some(own) => format!("{own} {words}"),
            None => words,
        };
        short.insert("description".to_owned(), description.into());
        let short = Value::Object(short);
        self.take(short.to_string().len())?;
        Some(short)
    }

    /// What is said of a part that is left out.
    fn words(&self, place: &str) -> String {
        match self.rest {
            Rest::ByPath => format!("(Left out: path #{place})"),
            Rest::Nowhere => "(Its parts are left out.)".to_owned(),
        }
    }

    /// What a part is, past the references within its schema, and where that is.
    fn target<'b>(&'b self, part: &'b Value, place: &str) -> Option<(&'b Value, String)> {
        let (mut part, mut place) = (part, place.to_owned());
        for _ in 0..REFERENCES {
            let Some(reference) = part.get("$ref") else { return Some((part, place)) };
            let pointer = reference.as_str()?.strip_prefix('#')?;
            part = self.root.pointer(pointer)?;
            place = format!("{}{pointer}", self.base);
        }
        None
    }

    /// As many of the names of its properties as there is room for, and how many there are.
    fn names(&self, schema: &Value, place: &str) -> String {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|all| all.iter().any(|own| own == name));
        let properties = properties.into_iter().flat_map(Map::keys);
        let (first, others): (Vec<_>, Vec<_>) = properties.partition(|name| is_required(name));
        let (mut shown, mut needed) = (Map::new(), Vec::new());
        let count = first.len() + others.len();
        self.room.set(SCHEMA_BYTES / 2);
        for name in first.into_iter().chain(others) {
            let part = match self.rest {
                Rest::ByPath => {
                    json!({ "description": self.words(&format!("{place}/properties/{}", escaped(name))) })
                }
                Rest::Nowhere => json!({}),
            };
            if self.take(2 * name.len() + part.to_string().len()).is_some() {
                needed.extend(is_required(name).then(|| name.clone()));
                shown.insert(name.clone(), part);
            }
        }
        let description = format!("Shows {} of {count} properties.", shown.len());
        json!({ "type": "object", "description": description, "properties": shown, "required": needed })
            .to_string()
    }

    fn copied(&self, value: &Value) -> Option<Value> {
        self.take(value.to_string().len())?;
        Some(value.clone())
    }

    /// `None` where nothing more fits.
    fn take(&self, bytes: usize) -> Option<()> {
        self.room.set(self.room.get().checked_sub(bytes)?);
        Some(())
    }
}

/// Whether a keyword does not stand in a cut schema: it leads to what is left out, or would refuse more, and not
/// less, as the parts below it or beside it admit more.
fn is_left_out(key: &str) -> bool {
    let leads =
        matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef" | "$id" | "$defs" | "definitions");
    let refuses = matches!(
        key,
        "not"
            | "if"
            | "then"
            | "else"
            | "maxContains"
            | "unevaluatedItems"
            | "unevaluatedProperties"
    );
    leads || refuses
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
        let first = shown(&input, PARAMETERS, Rest::ByPath);
        assert!(first.is_cut && first.text.len() <= SCHEMA_BYTES);
        let value: Value = serde_json::from_str(&first.text).unwrap();
        let below = value.pointer("/properties/p~10/properties/p~11/properties/p~12").unwrap();
        let path = "#/parameters/properties/p~10/properties/p~11/properties/p~12";
        assert_eq!(
            *below,
            json!({ "type": "object", "description": format!("(Left out: path {path})") })
        );
        let part = part(&[&input], None, path).unwrap();
        let expected = schema.pointer(path.strip_prefix("#/parameters").unwrap()).unwrap();
        assert_eq!((part.text, part.is_cut), (expected.to_string(), false));
    }

    #[test]
    fn a_short_schema_stays_whole_and_a_wide_one_keeps_its_names() {
        let short = shown(r#"{ "type": "object" }"#, PARAMETERS, Rest::ByPath);
        assert_eq!((short.text.as_str(), short.is_cut), (r#"{"type":"object"}"#, false));
        let mut wide = deep(1, 2000);
        wide["required"] = json!(["p/1999"]);
        for rest in [Rest::ByPath, Rest::Nowhere] {
            let wide = shown(&wide.to_string(), OUTPUT, rest);
            assert!(wide.is_cut && wide.text.len() <= SCHEMA_BYTES);
            assert!(wide.text.contains("of 2000 properties"), "{}", &wide.text[..200]);
            let value: Value = serde_json::from_str(&wide.text).unwrap();
            assert_eq!(value["required"], json!(["p/1999"]));
            assert!(value["properties"]["p/1999"].is_object());
        }
    }

    /// A schema with this root, and a property that makes it too long.
    fn long(mut root: Value) -> String {
        root["properties"]["filler"] = deep(4, 8);
        root.to_string()
    }

    /// What stands for the property `a` of a long schema with such a root, and whether it takes the values that the
    /// whole takes.
    #[track_caller]
    fn check(root: Value, taken: &[Value]) -> Value {
        let input = long(root);
        let cut = shown(&input, PARAMETERS, Rest::Nowhere);
        assert!(cut.is_cut && cut.text.len() <= SCHEMA_BYTES);
        let (whole, cut): (Value, Value) =
            (serde_json::from_str(&input).unwrap(), serde_json::from_str(&cut.text).unwrap());
        for a in taken {
            let instance = json!({ "a": a });
            assert!(jsonschema::is_valid(&whole, &instance), "{instance}: {whole}");
            assert!(jsonschema::is_valid(&cut, &instance), "{instance}: {cut}");
        }
        cut["properties"]["a"].clone()
    }

    #[test]
    fn what_is_shown_is_a_schema_that_takes_whatever_the_whole_one_takes() {
        let below = |schema: Value| json!({ "properties": { "x": { "properties": { "y": { "properties": { "z": schema } } } } } });
        let at = |value: Value| json!({ "x": { "y": { "z": value } } });
        // The levels below are left out, so that both alternatives would fit.
        let one_of = json!({ "oneOf": [below(json!({ "type": "string" })), below(json!({ "type": "number" }))] });
        check(json!({ "properties": { "a": one_of } }), &[at(json!(1)), at(json!("1"))]);
        let not =
            json!({ "not": { "required": ["x"], "properties": { "x": { "required": ["y"] } } } });
        check(json!({ "properties": { "a": not } }), &[json!({ "x": {} }), json!({})]);
        let unevaluated = json!({ "allOf": [below(json!({}))], "unevaluatedProperties": false });
        check(json!({ "properties": { "a": unevaluated } }), &[at(json!(1))]);
        let list = json!({ "type": ["array", "null"], "items": below(json!({})) });
        let around = |value: Value| json!({ "b": { "c": { "d": value } } });
        let list = ["d", "c", "b"]
            .into_iter()
            .fold(list, |inner, name| json!({ "properties": { name: inner } }));
        let root = json!({ "properties": { "a": list } });
        let shown = check(root, &[around(json!([1])), around(Value::Null)]);
        let list = shown.pointer("/properties/b/properties/c/properties/d").unwrap();
        assert_eq!(
            *list,
            json!({ "type": ["array", "null"], "items": {}, "description": "(Its parts are left out.)" })
        );
    }

    #[test]
    fn a_reference_is_what_it_leads_to_and_one_in_a_circle_ends() {
        let root = json!({
            "properties": { "a": { "$ref": "#/$defs/node", "description": "The first." } },
            "$defs": { "node": {
                "type": "object",
                "description": "A node.",
                "properties": { "next": { "$ref": "#/$defs/node" }, "id": { "$ref": "#/$defs/id" } },
                "required": ["id"]
            }, "id": { "type": "integer" }, "loop": { "$ref": "#/$defs/loop" } }
        });
        let shown = check(root, &[json!({ "id": 1, "next": { "id": 2 } })]);
        assert_eq!(shown["description"], "The first.");
        assert_eq!(shown["properties"]["id"], json!({ "type": "integer" }));
        assert_eq!(shown["properties"]["next"]["description"], "A node.");
        assert!(!shown.to_string().contains("$ref"), "{shown}");
        for reference in ["#/$defs/loop", "#/$defs/none", "https://x.example/y"] {
            let root = json!({ "properties": { "a": { "$ref": reference } }, "$defs": { "loop": { "$ref": "#/$defs/loop" } } });
            let cut = shown_value(&long(root));
            let a = &cut["properties"]["a"];
            assert_eq!(*a, json!({ "description": "(Its parts are left out.)" }), "{reference}");
        }
    }

    fn shown_value(input: &str) -> Value {
        serde_json::from_str(&shown(input, PARAMETERS, Rest::Nowhere).text).unwrap()
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
            let found = part(&[input], output, path).map(|part| part.text);
            assert_eq!(found.as_deref(), expected, "{path}");
        }
    }
}
