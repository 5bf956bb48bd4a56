//! One keyword of a schema.

use serde_json::{Map, Number, Value, json};

use super::super::library::Node;
use super::super::value::DocumentValue;
use super::{Direction, Schemas, is_short};

/// The largest default that is kept, in bytes.
const DEFAULT_LIMIT: usize = 4096;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// What a keyword's value is. Keywords that are not listed are dropped: they belong to another dialect, to
/// OpenAPI alone, or to nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    /// A text or a flag that restricts nothing.
    Annotation,
    /// A text that restricts.
    Text,
    Type,
    Number,
    PositiveNumber,
    Count,
    Flag,
    Pattern,
    Values,
    Anything,
    Examples,
    Schema,
    Items,
    SchemaList,
    NamedSchemas,
    /// Its keys are patterns.
    PatternSchemas,
    /// Draft 4's keyword for what are two now.
    Dependencies,
    NamedTexts,
}

impl Keyword {
    pub(super) fn of(key: &str) -> Option<Self> {
        Some(match key {
            "title" | "description" | "deprecated" | "default" => Self::Annotation,
            "examples" => Self::Examples,
            "type" => Self::Type,
            "format" | "contentEncoding" | "contentMediaType" => Self::Text,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Self::Number,
            "multipleOf" => Self::PositiveNumber,
            "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
            | "maxProperties" | "minContains" | "maxContains" => Self::Count,
            "uniqueItems" => Self::Flag,
            "pattern" => Self::Pattern,
            "enum" => Self::Values,
            "const" => Self::Anything,
            "items" => Self::Items,
            "additionalProperties"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema" => Self::Schema,
            "prefixItems" | "allOf" | "anyOf" | "oneOf" => Self::SchemaList,
            "properties" | "dependentSchemas" => Self::NamedSchemas,
            "patternProperties" => Self::PatternSchemas,
            "dependencies" => Self::Dependencies,
            "dependentRequired" => Self::NamedTexts,
            _ => return None,
        })
    }
}

impl<'a> Schemas<'a> {
    /// Writes what a keyword says in 2020-12, or drops a value of the wrong kind.
    pub(super) fn keyword(
        &mut self,
        key: &str,
        keyword: Keyword,
        node: Node<'a>,
        direction: Direction,
        depth: usize,
        out: &mut Map<String, Value>,
    ) {
        let value = node.value;
        let translated = match keyword {
            Keyword::Annotation => annotation(key, value.to_json()),
            Keyword::Text => value.as_str().map(Value::from),
            Keyword::Type => Some(types(&value.to_json())),
            Keyword::Number => number(value),
            Keyword::PositiveNumber => {
                number(value).filter(|number| number.as_f64().is_some_and(|number| number > 0.0))
            }
            Keyword::Count => count(value),
            Keyword::Flag => value.as_bool().map(Value::Bool),
            Keyword::Pattern => value.as_str().filter(|one| self.compiles(one)).map(Value::from),
            Keyword::Values => {
                value.as_array().filter(|list| !list.is_empty()).map(|_| value.to_json())
            }
            Keyword::Anything => Some(value.to_json()),
            Keyword::Examples => examples(value),
            Keyword::Schema if value.is_object() || value.as_bool().is_some() => {
                Some(self.part(node, direction, depth))
            }
            Keyword::Items => self.items(node, direction, depth, out),
            Keyword::SchemaList => self.list(node, direction, depth),
            Keyword::NamedSchemas => self.named(key, node, direction, depth),
            Keyword::PatternSchemas => self.patterned(node, direction, depth),
            Keyword::Dependencies => self.dependencies(node, direction, depth, out),
            Keyword::NamedTexts => named_texts(&value.to_json()),
            Keyword::Schema => None,
        };
        match translated {
            Some(Value::Null) if keyword == Keyword::Type => {}
            Some(value) => _ = out.insert(key.to_owned(), value),
            None if is_known_elsewhere(keyword, value) => {}
            None => self.note(format!("a `{key}` of the wrong kind was dropped")),
        }
    }

    fn part(&mut self, node: Node<'a>, direction: Direction, depth: usize) -> Value {
        match node.value {
            DocumentValue::Bool(flag) => Value::Bool(*flag),
            _ => self.schema(node, direction, depth + 1),
        }
    }

    fn items(
        &mut self,
        node: Node<'a>,
        direction: Direction,
        depth: usize,
        out: &mut Map<String, Value>,
    ) -> Option<Value> {
        match node.value {
            DocumentValue::Array(_) => {
                let list = self.list(node, direction, depth)?;
                out.insert("prefixItems".to_owned(), list);
                Some(json!({}))
            }
            DocumentValue::Object(_) | DocumentValue::Bool(_) => {
                Some(self.part(node, direction, depth))
            }
            _ => None,
        }
    }

    fn list(&mut self, node: Node<'a>, direction: Direction, depth: usize) -> Option<Value> {
        // A single schema in place of a list is a common slip.
        if node.value.is_object() {
            return Some(json!([self.part(node, direction, depth)]));
        }
        let parts: Vec<Value> =
            node.items().map(|part| self.part(part, direction, depth)).collect();
        (!parts.is_empty()).then_some(Value::Array(parts))
    }

    fn named(
        &mut self,
        key: &str,
        node: Node<'a>,
        direction: Direction,
        depth: usize,
    ) -> Option<Value> {
        node.value.is_object().then(|| {
            let is_properties = key == "properties";
            let mut out = Map::new();
            for (name, member) in node.members() {
                if !(is_properties && self.is_left_out(member, direction)) {
                    out.insert(name.to_owned(), self.part(member, direction, depth));
                }
            }
            Value::Object(out)
        })
    }

    fn patterned(&mut self, node: Node<'a>, direction: Direction, depth: usize) -> Option<Value> {
        node.value.is_object().then(|| {
            let mut out = Map::new();
            for (pattern, member) in node.members() {
                if self.compiles(pattern) {
                    out.insert(pattern.to_owned(), self.part(member, direction, depth));
                }
            }
            Value::Object(out)
        })
    }

    fn dependencies(
        &mut self,
        node: Node<'a>,
        direction: Direction,
        depth: usize,
        out: &mut Map<String, Value>,
    ) -> Option<Value> {
        let (mut schemas, mut texts) = (Map::new(), Map::new());
        for (name, member) in node.members() {
            match member.value {
                DocumentValue::Array(_) => {
                    _ = texts.insert(name.to_owned(), member.value.to_json());
                }
                DocumentValue::String(_) => {
                    _ = texts.insert(name.to_owned(), json!([member.value]));
                }
                _ => _ = schemas.insert(name.to_owned(), self.part(member, direction, depth)),
            }
        }
        if !schemas.is_empty() {
            out.insert("dependentSchemas".to_owned(), schemas.into());
        }
        if let Some(texts) = named_texts(&texts.into()) {
            out.insert("dependentRequired".to_owned(), texts);
        }
        None
    }

    /// Whether the checker of arguments can compile a pattern.
    fn compiles(&mut self, pattern: &str) -> bool {
        if let Some(known) = self.patterns.get(pattern) {
            return *known;
        }
        let schema = json!({ "pattern": pattern });
        let compiles = jsonschema::draft202012::new(&schema).is_ok();
        self.patterns.insert(pattern.to_owned(), compiles);
        compiles
    }
}

/// Whether a dropped value means something that is said by another keyword, or nothing at all.
fn is_known_elsewhere(keyword: Keyword, value: &DocumentValue) -> bool {
    keyword == Keyword::Dependencies
        || keyword == Keyword::Number && value.as_bool().is_some()
        || keyword == Keyword::Examples
        || keyword == Keyword::Annotation
        || value.is_null()
        || value.as_array().is_some_and(<[_]>::is_empty)
}

fn annotation(key: &str, value: Value) -> Option<Value> {
    let fits = match key {
        "deprecated" => value == Value::Bool(true),
        // A null is no default where null is not allowed, and says nothing where it is.
        "default" => !value.is_null() && value.to_string().len() <= DEFAULT_LIMIT,
        _ => value.as_str().is_some_and(|text| !text.trim().is_empty()),
    };
    fits.then_some(value)
}

/// One type or several. Null stands for any type.
fn types(value: &Value) -> Value {
    let Value::Array(list) = value else {
        return value.as_str().and_then(one_type).map_or(Value::Null, Value::from);
    };
    let mut types: Vec<Value> = Vec::new();
    for one in list {
        // Swagger tools write a null that stands for `"null"`.
        let name = if one.is_null() { Some("null") } else { one.as_str().and_then(one_type) };
        // An unknown type among others could be any.
        let Some(name) = name else { return Value::Null };
        if !types.contains(&name.into()) {
            types.push(name.into());
        }
    }
    match &types[..] {
        [] => Value::Null,
        [one] => one.clone(),
        _ => types.into(),
    }
}

/// A type by its name, also by names that are often written in its place.
fn one_type(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let known = TYPES.iter().find(|known| **known == lower).copied();
    known.or(match lower.as_str() {
        "int" | "int32" | "int64" | "long" => Some("integer"),
        "float" | "double" | "decimal" => Some("number"),
        "bool" => Some("boolean"),
        "str" | "text" | "date" | "datetime" | "date-time" | "uuid" | "file" | "byte"
        | "binary" => Some("string"),
        "list" => Some("array"),
        _ => None,
    })
}

fn number(value: &DocumentValue) -> Option<Value> {
    match value {
        DocumentValue::Number(number) => Some(Value::Number((**number).clone())),
        DocumentValue::String(text) => {
            serde_json::from_str::<Number>(text.trim()).ok().map(Value::Number)
        }
        _ => None,
    }
}

fn count(value: &DocumentValue) -> Option<Value> {
    let number = number(value)?;
    if let Some(count) = number.as_u64() {
        return Some(count.into());
    }
    let whole = number.as_f64().filter(|count| *count >= 0.0 && count.fract() == 0.0)?;
    serde_json::from_str::<Number>(&format!("{whole:.0}"))
        .ok()
        .filter(Number::is_u64)
        .map(Value::Number)
}

/// Examples as a list: OpenAPI names them, with the value inside.
fn examples(value: &DocumentValue) -> Option<Value> {
    let list: Vec<&DocumentValue> = match value {
        DocumentValue::Array(list) => list.iter().collect(),
        DocumentValue::Object(named) => {
            named.iter().filter_map(|(_, one)| one.get("value")).collect()
        }
        _ => return None,
    };
    let kept = list.into_iter().map(DocumentValue::to_json).filter(is_short).take(3);
    let kept: Vec<Value> = kept.collect();
    (!kept.is_empty()).then_some(Value::Array(kept))
}

fn named_texts(value: &Value) -> Option<Value> {
    let mut out = Map::new();
    for (name, texts) in value.as_object()? {
        let texts: Vec<&str> = texts.as_array()?.iter().filter_map(Value::as_str).collect();
        out.insert(name.clone(), json!(texts));
    }
    (!out.is_empty()).then_some(Value::Object(out))
}
