//! How tools are defined, and what is said of one that is not.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use super::call::EarlyEnd;

/// A tool whose arguments are these properties.
pub(super) fn tool(name: &'static str, description: &'static str, properties: &Value) -> Tool {
    Tool::new(name, description, object(json!({ "type": "object", "properties": properties })))
}

/// A tool without arguments.
pub(super) fn bare_tool(name: &'static str, description: &'static str) -> Tool {
    tool(name, description, &json!({}))
}

pub(super) fn object(schema: Value) -> Arc<JsonObject> {
    let Value::Object(schema) = schema else { return Arc::default() };
    Arc::new(schema)
}

pub(super) fn unknown(name: &str) -> EarlyEnd {
    EarlyEnd::Fault(ErrorData::invalid_params(format!("unknown tool `{name}`"), None))
}
