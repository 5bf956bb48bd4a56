//! How claims about tools are written and checked.

use gatefold_demo::Server;
use serde_json::{Map, Value};
use tempfile::TempDir;

/// One call and what it must return: an object that the structured result contains, or a text that
/// the error contains.
pub(crate) struct Step {
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    pub(crate) expected: Value,
}

/// Turns claims into tests, each on fresh data, and lists the tools that were called with success.
macro_rules! claims {
    ($server:literal; $(fn $name:ident() { $($tool:ident $arguments:tt => $expected:tt;)+ })+) => {
        pub(crate) const SERVER: &str = $server;

        pub(crate) fn exercised() -> Vec<&'static str> {
            [$(steps::$name()),+]
                .iter()
                .flatten()
                .filter(|step| step.expected.is_object())
                .map(|step| step.tool)
                .collect()
        }

        mod steps {
            use crate::claims::Step;

            $(pub(super) fn $name() -> Vec<Step> {
                vec![$(Step {
                    tool: stringify!($tool),
                    arguments: serde_json::json!($arguments),
                    expected: serde_json::json!($expected),
                }),+]
            })+
        }

        $(#[tokio::test]
        async fn $name() {
            crate::claims::check(SERVER, &steps::$name()).await;
        })+
    };
}

/// Calls the tools in order on a fresh server.
pub(crate) async fn check(server: &str, steps: &[Step]) {
    let (server, _scratch) = fresh(server).await;
    for step in steps {
        check_step(&server, step).await;
    }
}

pub(crate) async fn fresh(server: &str) -> (Server, TempDir) {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let server = Server::open(server, scratch.path()).await.expect("a server");
    (server, scratch)
}

pub(crate) async fn check_step(server: &Server, step: &Step) {
    let Step { tool, arguments, expected } = step;
    let call = format!("{tool} {arguments}");
    let result = server.call(tool, arguments.clone()).await.expect(tool);
    let text = result["content"][0]["text"].as_str().expect("the first block is text");
    if let Some(message) = expected.as_str() {
        assert_eq!(result["isError"], true, "{call}: {text}");
        assert!(text.contains(message), "{call}\n  gave: {text}\n  not:  {message}");
        return;
    }
    assert_eq!(result["isError"], false, "{call}: {text}");
    let structured = &result["structuredContent"];
    assert_eq!(text, structured.to_string(), "{call}: text and structure say the same");
    assert_follows(structured, &schema_of(server, tool), &call);
    if let Err(difference) = contains(structured, expected) {
        panic!("{call}\n  {difference}\n  in: {structured:#}");
    }
}

fn schema_of(server: &Server, tool: &str) -> Value {
    let tools = server.tools();
    let definition = tools.as_array().expect("a list").iter().find(|entry| entry["name"] == tool);
    definition.expect("a tool that can be called is listed")["outputSchema"].clone()
}

/// Objects may hold more than expected, lists may not.
fn contains(actual: &Value, expected: &Value) -> Result<(), String> {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => {
            for (key, value) in expected {
                let found = actual.get(key).unwrap_or(&Value::Null);
                contains(found, value).map_err(|inner| format!("{key}: {inner}"))?;
            }
            Ok(())
        }
        (Value::Array(actual), Value::Array(expected)) if actual.len() == expected.len() => actual
            .iter()
            .zip(expected)
            .try_for_each(|(actual, expected)| contains(actual, expected)),
        _ if actual == expected => Ok(()),
        _ => Err(format!("expected {expected}, found {actual}")),
    }
}

/// Checks names and types; the output schemas of these servers use nothing else.
fn assert_follows(value: &Value, schema: &Value, call: &str) {
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        other => panic!("{call}: the schema type {other:?} is not expected in a result"),
    };
    assert!(fits, "{call}: {value} does not follow {schema}");
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    for name in schema["required"].as_array().into_iter().flatten() {
        let present = name.as_str().is_some_and(|name| value.get(name).is_some());
        assert!(present, "{call}: lacks {name}");
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let property = properties.get(name).unwrap_or_else(|| panic!("{call}: {name} is extra"));
        assert_follows(field, property, call);
    }
    for item in value.as_array().into_iter().flatten() {
        assert_follows(item, &schema["items"], call);
    }
}
