use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::signature_text::SignatureText;
use crate::similarity::nearest_texts;
use crate::snapshot::Tool;
use crate::text::one_line;

/// The most parameters, fields of a nested object, alternatives of one type, and levels of nesting
/// that a signature shows.
const MAX_PARAMETERS: usize = 40;
const MAX_FIELDS: usize = 12;
const MAX_ALTERNATIVES: usize = 8;
const MAX_DEPTH: usize = 4;

/// The most schemas of a tool whose types are shown: a few references to each other expand without
/// end.
const MAX_TYPES: usize = 1000;

/// From this depth on, objects are shown without their fields.
const BARE_DEPTH: usize = 2;

/// The most differences that are named.
const MAX_DIFFERENCES: usize = 8;

/// The longest constant that is shown, in characters.
const MAX_CONSTANT: usize = 40;

/// A tool's call and result in one line: `name(query: string, limit?: integer = 10 [1..100], all?:
/// boolean) -> {items: object[]}`.
///
/// The result is left out if the source declares none.
pub fn compact_signature(tool: &Tool) -> Cow<'_, str> {
    match tool.signature(|| written(tool)) {
        Cow::Borrowed(text) => text.whole().into(),
        Cow::Owned(text) => text.whole().to_owned().into(),
    }
}

/// A tool's call in one line: `name(query: string, limit?: integer = 10 [1..100])`.
///
/// Required parameters come first, as the schema orders them, then the others by name. Objects show
/// the fields of their first level.
pub fn call_signature(tool: &Tool) -> Cow<'_, str> {
    match tool.signature(|| written(tool)) {
        Cow::Borrowed(text) => text.call().into(),
        Cow::Owned(text) => text.call().to_owned().into(),
    }
}

fn written(tool: &Tool) -> SignatureText {
    let schema = Schema::of(tool);
    let call = format!("{}({})", tool.id(), schema.fields(&schema.root, 0, MAX_PARAMETERS));
    let output = tool.definition().output_schema().map(Schema::parse);
    let output = output.map(|schema| schema.type_of(&schema.root, 0));
    let output = output.filter(|output| output != "object" && output != "any");
    SignatureText::new(call, output.as_deref())
}

/// How some arguments differ from what a tool's input schema allows, in words; empty if nothing
/// stands out. Only the top level is checked: the source has the last word.
pub fn differences(tool: &Tool, arguments: &str) -> Vec<String> {
    let Ok(Value::Object(arguments)) = serde_json::from_str(arguments) else {
        return vec!["the arguments are not an object".to_owned()];
    };
    let schema = Schema::of(tool);
    let missing = schema.required().into_iter().filter(|name| !arguments.contains_key(*name));
    let missing =
        missing.map(|name| format!("missing required '{}'", one_line(name, MAX_CONSTANT)));
    let mut given: Vec<_> = arguments.iter().collect();
    given.sort_by_key(|(name, _)| *name);
    let wrong = given.into_iter().filter_map(|(name, value)| {
        let shown = one_line(name, MAX_CONSTANT);
        match schema.property(name) {
            None if schema.is_closed() => {
                let known = schema.properties().map(|(name, _)| name);
                let unused = known.filter(|name| !arguments.contains_key(*name));
                Some(match nearest_texts(name, unused).first() {
                    Some(near) => format!("unknown '{shown}' (did you mean '{near}'?)"),
                    None => format!("unknown '{shown}'"),
                })
            }
            Some(property) if !schema.allows(property, value) => {
                let expected = schema.type_of(property, 0);
                Some(format!("'{shown}' must be {expected}, not {}", kind(value)))
            }
            _ => None,
        }
    });
    missing.chain(wrong).take(MAX_DIFFERENCES).collect()
}

/// The members of some arguments that a tool's input schema neither declares nor leaves room for,
/// sorted by name.
pub fn undeclared(tool: &Tool, arguments: &str) -> Vec<String> {
    let schema = Schema::of(tool);
    let given: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    if !schema.is_closed() {
        return Vec::new();
    }
    let unknown = given.into_iter().map(|(name, _)| name);
    let mut unknown: Vec<_> = unknown.filter(|name| schema.property(name).is_none()).collect();
    unknown.sort_unstable();
    unknown
}

/// Whether a tool's input schema declares a parameter, and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Not a declared parameter.
    No,
    /// Accepts a string, perhaps among others.
    Text,
    /// Accepts objects or arrays, but no string.
    Structured,
    /// Accepts something else.
    Other,
}

/// What a tool's input schema declares for each of these parameter names.
pub fn declared<'a>(tool: &Tool, names: impl IntoIterator<Item = &'a str>) -> Vec<ParameterKind> {
    let schema = Schema::of(tool);
    let one = |name: &str| {
        let Some(property) = schema.property(name) else { return ParameterKind::No };
        let takes = |value: Value| schema.allows(property, &value);
        if takes(Value::from("")) {
            ParameterKind::Text
        } else if takes(Value::Object(Map::new())) || takes(Value::Array(Vec::new())) {
            ParameterKind::Structured
        } else {
            ParameterKind::Other
        }
    };
    names.into_iter().map(one).collect()
}

struct Schema {
    root: Value,
    /// How many types may still be shown.
    left: Cell<usize>,
}

impl Schema {
    fn of(tool: &Tool) -> Self {
        Self::parse(tool.definition().input_schema())
    }

    fn parse(text: &str) -> Self {
        Self { root: serde_json::from_str(text).unwrap_or_default(), left: Cell::new(MAX_TYPES) }
    }

    fn required(&self) -> Vec<&str> {
        required(&self.root)
    }

    fn properties(&self) -> impl Iterator<Item = (&str, &Value)> {
        properties(&self.root)
    }

    fn property(&self, name: &str) -> Option<&Value> {
        self.root.get("properties")?.get(name)
    }

    /// Whether an undeclared name is an error. Without `additionalProperties` it is legal but most
    /// likely a mistake.
    fn is_closed(&self) -> bool {
        let open =
            self.root.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
        let elsewhere = ["patternProperties", "anyOf", "oneOf", "allOf", "$ref", "if"];
        !open && !elsewhere.iter().any(|key| self.root.get(key).is_some())
    }

    /// Follows a reference within the schema.
    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let Some(pointer) = reference.and_then(|text| text.strip_prefix('#')) else { break };
            let Some(target) = self.root.pointer(pointer) else { break };
            schema = target;
        }
        schema
    }

    /// An object's fields with their types, required ones first.
    fn fields(&self, object: &Value, depth: usize, most: usize) -> String {
        let mut names = required(object);
        let known: HashSet<_> = names.iter().copied().collect();
        let properties: HashMap<_, _> = properties(object).collect();
        let mut optional: Vec<_> =
            properties.keys().copied().filter(|name| !known.contains(name)).collect();
        optional.sort_unstable();
        let required = names.len();
        names.extend(optional);
        let shown = names.iter().enumerate().take(most).map(|(at, name)| {
            let mark = if at < required { "" } else { "?" };
            let property = properties.get(name).copied().unwrap_or(&Value::Null);
            let name = one_line(name, MAX_CONSTANT);
            format!("{name}{mark}: {}", self.parameter(property, depth))
        });
        let mut shown: Vec<_> = shown.collect();
        if names.len() > most {
            shown.push(format!("+{} more", names.len() - most));
        }
        shown.join(", ")
    }

    fn parameter(&self, property: &Value, depth: usize) -> String {
        let schema = self.resolved(property);
        let default = property.get("default").or(schema.get("default"));
        let default = default.filter(|value| !value.is_null()).map(constant);
        let default = default.map(|value| format!(" = {value}")).unwrap_or_default();
        format!("{}{default}{}", self.type_of(schema, depth), range(schema))
    }

    fn type_of(&self, schema: &Value, depth: usize) -> String {
        let Some(left) = self.left.get().checked_sub(1) else { return "any".to_owned() };
        self.left.set(left);
        let schema = self.resolved(schema);
        if let Some(value) = schema.get("const") {
            return constant(value);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return alternatives(values.iter().map(constant));
        }
        let parts = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array());
        match (schema.get("type"), parts) {
            (_, Some(parts)) if depth < MAX_DEPTH => {
                let type_of = |part| (self.left.get() > 0).then(|| self.type_of(part, depth + 1));
                alternatives(parts.iter().map_while(type_of))
            }
            (Some(Value::Array(types)), _) => {
                alternatives(types.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            (Some(Value::String(name)), _) if name == "array" => match schema.get("items") {
                Some(items) if depth < MAX_DEPTH => array_of(&self.type_of(items, depth + 1)),
                _ => "array".to_owned(),
            },
            (Some(Value::String(name)), _) if name != "object" => one_line(name, MAX_CONSTANT),
            (None, _) if schema.get("properties").is_none() => "any".to_owned(),
            _ if depth >= BARE_DEPTH || properties(schema).next().is_none() => "object".to_owned(),
            _ => format!("{{{}}}", self.fields(schema, BARE_DEPTH, MAX_FIELDS)),
        }
    }

    /// Whether a schema allows a value of this type; true if that is not obvious.
    fn allows(&self, schema: &Value, value: &Value) -> bool {
        let schema = self.resolved(schema);
        let fits = |name: &str| match name {
            "integer" => {
                value.as_str().is_none()
                    && value.to_string().parse::<f64>().is_ok_and(|n| n.fract() == 0.0)
            }
            name => name == kind(value),
        };
        let parts = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array());
        match (schema.get("type"), parts) {
            (Some(Value::String(name)), _) => fits(name),
            (Some(Value::Array(names)), _) => names.iter().filter_map(Value::as_str).any(fits),
            (None, Some(parts)) => {
                parts.iter().any(|part| part.get("$ref").is_some() || self.allows(part, value))
            }
            _ => true,
        }
    }
}

fn required(object: &Value) -> Vec<&str> {
    let required = object.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn properties(object: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let properties = object.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn constant(value: &Value) -> String {
    one_line(&value.to_string(), MAX_CONSTANT)
}

fn alternatives(all: impl Iterator<Item = String>) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut left_out = 0;
    for alternative in all {
        if shown.len() == MAX_ALTERNATIVES {
            left_out += 1;
        } else if !shown.contains(&alternative) {
            shown.push(alternative);
        }
    }
    if left_out > 0 {
        shown.push(format!("+{left_out} more"));
    }
    if shown.is_empty() { "any".to_owned() } else { shown.join("|") }
}

fn array_of(item: &str) -> String {
    if item.contains('|') { format!("({item})[]") } else { format!("{item}[]") }
}

fn range(schema: &Value) -> String {
    let bound = |key: &str| schema.get(key).filter(|bound| bound.is_number()).map(Value::to_string);
    match (bound("minimum"), bound("maximum")) {
        (None, None) => String::new(),
        (low, high) => {
            format!(" [{}..{}]", low.unwrap_or_default(), high.unwrap_or_default())
        }
    }
}
