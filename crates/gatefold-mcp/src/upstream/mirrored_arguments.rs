//! Arguments that their tool's schema wants mirrored in headers: the annotation `x-mcp-header`
//! (MCP specification 2026-07-28, "Custom Headers from Tool Parameters").

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ::http::header::{HeaderName, HeaderValue};
use gatefold_catalog::{Manifest, object_fields};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::headers::{PARAMETER_ANNOTATION as ANNOTATION, PARAMETER_PREFIX, encoded};

/// The tools that mirror arguments, by their own names. Most servers have none.
pub(crate) type MirroringTools = HashMap<Arc<str>, MirroredArguments>;

/// The most arguments that one tool may mirror: each is a header of every call.
const MIRRORED_ARGUMENTS: usize = 64;

/// Which arguments of one tool are mirrored: the path to each, and its header.
#[derive(Debug)]
pub(crate) struct MirroredArguments(Vec<(Vec<String>, HeaderName)>);

impl MirroredArguments {
    /// Reads a tool's input schema. The error says why the tool must not be used.
    pub(crate) fn read(schema: &Value) -> Result<Self, String> {
        let mut found = Vec::new();
        walk(schema, &mut Vec::new(), SchemaPosition::Root, &mut found)?;
        if found.len() > MIRRORED_ARGUMENTS {
            return Err(format!("it mirrors more than {MIRRORED_ARGUMENTS} arguments in headers"));
        }
        let mut seen = HashSet::new();
        let mut headers = Vec::with_capacity(found.len());
        for (path, header) in found {
            let name = header_name(&header).ok_or_else(|| {
                format!("its `{ANNOTATION}` of `{}` is not a header's name", path.join("."))
            })?;
            if !seen.insert(name.clone()) {
                return Err(format!("two of its arguments have the `{ANNOTATION}` `{header}`"));
            }
            headers.push((path, name));
        }
        Ok(Self(headers))
    }

    /// The headers for a call. Arguments that are absent or null have none.
    pub(crate) fn headers(&self, arguments: &str) -> Vec<(HeaderName, HeaderValue)> {
        let header = |(path, name): &(Vec<String>, HeaderName)| {
            let value = text_of(&value_at(arguments, path)?)?;
            Some((name.clone(), HeaderValue::from_str(&encoded(&value)).ok()?))
        };
        self.0.iter().filter_map(header).collect()
    }
}

/// Where a schema stands. Annotations count only on properties that are reached from the root
/// through nothing but `properties`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPosition {
    Root,
    On,
    Off,
}

fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    chain: SchemaPosition,
    found: &mut Vec<(Vec<String>, String)>,
) -> Result<(), String> {
    match schema {
        Value::Array(items) => {
            items.iter().try_for_each(|item| walk(item, path, SchemaPosition::Off, found))
        }
        Value::Object(schema) => {
            if let Some(header) = schema.get(ANNOTATION) {
                found.push((path.clone(), annotated(header, schema, path, chain)?));
            }
            for (key, value) in schema {
                match (key.as_str(), value) {
                    // These hold values, not schemas.
                    ("default" | "const" | "enum" | "examples", _) => {}
                    ("properties", Value::Object(properties)) => {
                        let chain = if chain == SchemaPosition::Off {
                            SchemaPosition::Off
                        } else {
                            SchemaPosition::On
                        };
                        for (name, property) in properties {
                            path.push(name.clone());
                            walk(property, path, chain, found)?;
                            path.pop();
                        }
                    }
                    (
                        "$defs" | "definitions" | "dependentSchemas" | "patternProperties",
                        Value::Object(schemas),
                    ) => schemas
                        .values()
                        .try_for_each(|s| walk(s, path, SchemaPosition::Off, found))?,
                    _ => walk(value, path, SchemaPosition::Off, found)?,
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn annotated(
    header: &Value,
    schema: &serde_json::Map<String, Value>,
    path: &[String],
    chain: SchemaPosition,
) -> Result<String, String> {
    let path = path.join(".");
    if chain != SchemaPosition::On {
        return Err(format!("its `{ANNOTATION}` is where no argument is (`{path}`)"));
    }
    let is_primitive = matches!(
        schema.get("type").and_then(Value::as_str),
        Some("string" | "integer" | "boolean")
    );
    match header {
        Value::String(header) if is_primitive => Ok(header.clone()),
        Value::String(_) => Err(format!(
            "its argument `{path}` has an `{ANNOTATION}` and is no text, whole number or boolean"
        )),
        _ => Err(format!("its `{ANNOTATION}` of `{path}` is not a text")),
    }
}

fn header_name(annotation: &str) -> Option<HeaderName> {
    // Any token is a header's name, and the prefix alone would be one too.
    if annotation.is_empty() {
        return None;
    }
    HeaderName::try_from(format!("{PARAMETER_PREFIX}{annotation}")).ok()
}

/// The value at a path, exactly as the arguments have it.
fn value_at(arguments: &str, path: &[String]) -> Option<String> {
    let mut value = arguments;
    for step in path {
        let fields = object_fields(value)?;
        value = fields.into_iter().rev().find(|(key, _)| key == step)?.1;
    }
    Some(value.to_owned())
}

/// A number or a boolean as it was written, a string as its content.
fn text_of(value: &str) -> Option<String> {
    match value.trim_start().as_bytes().first()? {
        b'"' => serde_json::from_str(value).ok(),
        b't' | b'f' | b'-' | b'0'..=b'9' => Some(value.trim().to_owned()),
        _ => None,
    }
}

/// The tools of a manifest that mirror arguments.
pub(crate) fn of_manifest(manifest: &Manifest) -> MirroringTools {
    let mut mirroring = MirroringTools::new();
    for tool in manifest.tools().iter().filter(|tool| tool.raw().contains(ANNOTATION)) {
        let schema = serde_json::from_str(tool.input_schema()).unwrap_or(Value::Null);
        if let Ok(mirrored) = MirroredArguments::read(&schema)
            && !mirrored.0.is_empty()
        {
            mirroring.insert(tool.name().into(), mirrored);
        }
    }
    mirroring
}

/// A page without the tools that must not be used. Each of those is reported to `tell`.
pub(crate) fn without_unusable(
    page: Box<RawValue>,
    mut tell: impl FnMut(&str, &str),
) -> Box<RawValue> {
    #[derive(Deserialize)]
    struct ToolPage<'a> {
        #[serde(borrow)]
        tools: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct ToolSchema {
        #[serde(default)]
        name: Value,
        #[serde(default, rename = "inputSchema")]
        schema: Value,
    }
    if !page.get().contains(ANNOTATION) {
        return page;
    }
    let Ok(ToolPage { tools }) = serde_json::from_str(page.get()) else {
        return page;
    };
    let is_usable = |tool: &&RawValue| {
        let Ok(ToolSchema { name, schema }) = serde_json::from_str(tool.get()) else { return true };
        let Err(why) = MirroredArguments::read(&schema) else { return true };
        tell(name.as_str().unwrap_or_default(), &why);
        false
    };
    let usable: Vec<_> = tools.into_iter().filter(is_usable).map(RawValue::get).collect();
    let rest = format!(r#"{{"tools":[{}]}}"#, usable.join(","));
    RawValue::from_string(rest).unwrap_or(page)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema(properties: &Value) -> Value {
        json!({"type": "object", "properties": properties})
    }

    #[test]
    fn arguments_are_mirrored_as_they_were_written() {
        let schema = schema(&json!({
            "n": {"type": "integer", "x-mcp-header": "N"},
            "on": {"type": "boolean", "x-mcp-header": "On"},
            "word": {"type": "string", "x-mcp-header": "Word"},
            "none": {"type": "string", "x-mcp-header": "None"},
            "at": {"type": "object", "properties": {
                "place": {"type": "string", "x-mcp-header": "Place"},
            }},
            "free": {"type": "string"},
        }));
        let mirrored = MirroredArguments::read(&schema).unwrap();
        let arguments = r#"{"n": 12345678901234567890123 ,"on":false,"word":" \u00e9","none":null,
            "at":{"place":"us west"},"free":"x"}"#;
        let mut headers: Vec<_> = mirrored.headers(arguments);
        headers.sort_by_key(|(name, _)| name.to_string());
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        assert_eq!(
            headers,
            [
                "mcp-param-n: 12345678901234567890123",
                "mcp-param-on: false",
                "mcp-param-place: us west",
                "mcp-param-word: =?base64?IMOp?=",
            ]
        );
    }

    #[test]
    fn a_schema_with_an_annotation_that_is_not_legal_is_refused() {
        let on =
            |kind: &str, header: Value| schema(&json!({"a": {"type": kind, ANNOTATION: header}}));
        for bad in [
            on("string", json!("")),
            on("string", json!("My Region")),
            on("string", json!("Region:1")),
            on("string", json!("R\u{e9}gion")),
            on("string", json!("Region\t1")),
            on("string", json!(7)),
            on("number", json!("N")),
            on("object", json!("O")),
            on("null", json!("O")),
            json!({"type": "object", ANNOTATION: "Root"}),
            schema(&json!({"a": {"type": "array", "items": {"type": "string", ANNOTATION: "A"}}})),
            schema(&json!({
                "a": {"type": "string", ANNOTATION: "Same"},
                "b": {"type": "string", ANNOTATION: "same"},
            })),
            json!({"$defs": {"a": {"type": "string", ANNOTATION: "A"}}}),
            schema(
                &(0..=MIRRORED_ARGUMENTS)
                    .map(|n| {
                        (format!("a{n}"), json!({"type": "string", ANNOTATION: format!("A{n}")}))
                    })
                    .collect(),
            ),
        ] {
            assert!(MirroredArguments::read(&bad).is_err(), "{bad}");
        }
        let data = schema(&json!({"a": {"type": "object", "default": {ANNOTATION: "no schema"}}}));
        assert!(MirroredArguments::read(&data).unwrap().0.is_empty());
    }

    #[test]
    fn one_unusable_tool_costs_only_itself() {
        let good = r#"{"name":"good","inputSchema":{"properties":{"n":{"type":"string","x-mcp-header":"N"}}}}"#;
        let bad = r#"{"name":"bad","inputSchema":{"properties":{"n":{"type":"number","x-mcp-header":"N"}}}}"#;
        let page = RawValue::from_string(format!(r#"{{"tools":[{good},{bad}]}}"#)).unwrap();
        let mut told = Vec::new();
        let page = without_unusable(page, |tool, _| told.push(tool.to_owned()));
        assert_eq!(page.get(), format!(r#"{{"tools":[{good}]}}"#));
        assert_eq!(told, ["bad"]);
    }
}
