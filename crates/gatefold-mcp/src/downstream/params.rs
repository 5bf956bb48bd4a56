//! Headers that mirror a tool's arguments, where its schema asks for them (SEP-2243).

use ::http::HeaderMap;
use gatefold_exchange::Audience;
use serde_json::Value;

use super::client::Client;
use super::message::ClientRequest;
use super::server::Server;
use crate::protocol::headers::{PARAMETER_ANNOTATION, PARAMETER_PREFIX, decoded};
use crate::protocol::{Era, RpcError, methods};

/// How deep a schema is searched for such properties.
const DEPTH: usize = 16;

/// Checks the headers of a top-level tool's call against its arguments.
pub(super) fn check(
    server: &Server,
    audience: &Audience,
    client: &Client,
    request: &ClientRequest,
    headers: &HeaderMap,
) -> Result<(), RpcError> {
    let (methods::TOOLS_CALL, Some(name), Some(domain)) =
        (request.method.as_str(), &request.params.name, audience.own_source())
    else {
        return Ok(());
    };
    let audience = client.audience_of(audience.clone());
    let Some(scope) = server.scope(&audience, client.principal.clone(), Era::Stateless) else {
        return Ok(());
    };
    let Some(tool) = scope.turn.view().tool_named(domain, name) else {
        return Ok(());
    };
    let schema = tool.definition().input_schema();
    // Few schemas ask for it, so this saves the parsing.
    if !schema.contains(PARAMETER_ANNOTATION) {
        return Ok(());
    }
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return Ok(());
    };
    let arguments = request.params.arguments.as_deref();
    let arguments = arguments.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    compare(&schema, arguments.as_ref(), headers, DEPTH)
}

fn compare(
    schema: &Value,
    arguments: Option<&Value>,
    headers: &HeaderMap,
    depth: usize,
) -> Result<(), RpcError> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    if depth == 0 {
        return Ok(());
    }
    for (name, property) in properties {
        let argument = arguments.and_then(|arguments| arguments.get(name));
        if let Some(header) = property.get(PARAMETER_ANNOTATION).and_then(Value::as_str) {
            mirrors(header, argument, headers)?;
        }
        compare(property, argument, headers, depth - 1)?;
    }
    Ok(())
}

fn mirrors(header: &str, argument: Option<&Value>, headers: &HeaderMap) -> Result<(), RpcError> {
    let name = format!("{PARAMETER_PREFIX}{}", header.to_ascii_lowercase());
    let value = headers.get(&name);
    let expected = argument.filter(|argument| !argument.is_null());
    let (value, expected) = match (value, expected) {
        (None, None) => return Ok(()),
        (value, expected) => (value, expected),
    };
    let value = value.and_then(|value| value.to_str().ok()).and_then(decoded);
    let agrees = match (&value, expected) {
        (Some(value), Some(Value::String(text))) => **value == **text,
        (Some(value), Some(Value::Bool(flag))) => **value == *flag.to_string(),
        (Some(value), Some(Value::Number(number))) => {
            **value == *number.to_string()
                || value.parse::<f64>().ok().is_some_and(|own| number.as_f64() == Some(own))
        }
        _ => false,
    };
    if agrees {
        return Ok(());
    }
    let shown: String = header.chars().take(60).collect();
    Err(RpcError::header_mismatch(match value {
        None => format!("the header `Mcp-Param-{shown}` is missing or not text"),
        Some(_) => format!("the header `Mcp-Param-{shown}` does not say what the argument says"),
    }))
}
