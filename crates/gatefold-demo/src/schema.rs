//! JSON Schemas from argument and result types, in the short form that a model should read.

use std::sync::Arc;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// A type's schema and the sentence that describes it, which the schema then leaves out.
pub(crate) struct Described {
    pub(crate) schema: Arc<Map<String, Value>>,
    pub(crate) description: String,
}

/// The schema of arguments as they come in; their doc comment is the tool's description.
pub(crate) fn of_arguments<A: JsonSchema>() -> Described {
    describe::<A>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of a result as it goes out.
pub(crate) fn of_result<O: JsonSchema>() -> Described {
    describe::<O>(SchemaSettings::draft2020_12().for_serialize())
}

/// One line that names every argument, its type and whether it is needed.
pub(crate) fn signature(schema: &Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "none".to_owned();
    };
    let parts: Vec<_> = properties
        .iter()
        .map(|(name, property)| {
            let optional = if is_required(name) { "" } else { "?" };
            format!("{name}{optional}: {}", type_name(property))
        })
        .collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

fn type_name(property: &Value) -> String {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let names: Vec<_> = values.iter().map(ToString::to_string).collect();
        return names.join("|");
    }
    match property.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
            names.join("|")
        }
        _ => "any".to_owned(),
    }
}

fn describe<T: JsonSchema>(mut settings: SchemaSettings) -> Described {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    shorten(&mut schema);
    let Value::Object(mut schema) = schema else {
        unreachable!("arguments and results are structs, whose schemas are objects")
    };
    let description = match schema.remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    Described { schema: Arc::new(schema), description }
}

/// Leaves out what says nothing to a model: titles, integer formats, and `null` beside an
/// optional type (an argument or a field that is not there is absent, never `null`).
fn shorten(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => {
            if fields.get("title").is_some_and(Value::is_string) {
                fields.remove("title");
            }
            if fields.get("format").is_some_and(Value::is_string) {
                fields.remove("format");
            }
            drop_null(fields);
            fields.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

fn drop_null(fields: &mut Map<String, Value>) {
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    if let Some(Value::Array(names)) = fields.get_mut("type") {
        names.retain(|name| name != "null");
        if let [only] = names.as_slice() {
            let only = only.clone();
            fields.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(options)) = fields.get_mut("anyOf") {
        options.retain(|option| option.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = options.as_slice() {
            let only = only.clone();
            fields.remove("anyOf");
            for (key, value) in only {
                fields.entry(key).or_insert(value);
            }
        }
    }
    // An optional enum lists `null` among its values.
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}
