//! The questions that the server asks, as they are on the wire.

#![expect(deprecated, reason = "sampling and roots live on in both eras")]

use rmcp::model::{
    CreateMessageRequest, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams,
    InputRequest, ListRootsRequest, SamplingMessage,
};
use serde_json::{Value, json};

/// A form with these properties; the ones in `required` must be filled in.
pub(super) fn form(message: &str, properties: &Value, required: &[&str]) -> InputRequest {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: serde_json::from_value(schema).expect("the schema is a form's"),
    }))
}

pub(super) fn ask_name(message: &str) -> InputRequest {
    form(message, &json!({ "name": { "type": "string" } }), &["name"])
}

pub(super) fn confirm(message: &str, property: &str) -> InputRequest {
    form(message, &json!({ property: { "type": "boolean" } }), &[property])
}

pub(super) fn sample(prompt: &str, max_tokens: u32) -> InputRequest {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let params = CreateMessageRequestParams::new(messages, max_tokens);
    InputRequest::CreateMessage(CreateMessageRequest::new(params))
}

pub(super) fn roots() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}

/// A form with a default for each primitive type.
pub(super) fn with_defaults() -> InputRequest {
    let properties = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": { "type": "boolean", "default": true },
    });
    form("Please review the defaults", &properties, &[])
}

/// A form with each way to write a choice.
pub(super) fn with_choices() -> InputRequest {
    let titled = |title: &str| {
        json!([
            { "const": "value1", "title": format!("First {title}") },
            { "const": "value2", "title": format!("Second {title}") },
            { "const": "value3", "title": format!("Third {title}") },
        ])
    };
    let plain = ["option1", "option2", "option3"];
    let properties = json!({
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    });
    form("Please choose", &properties, &[])
}

/// The value that was filled in, or null where the user declined.
pub(super) fn filled<'a>(answer: &'a Value, property: &str) -> &'a str {
    answer["content"][property].as_str().unwrap_or_default()
}

/// An answer in words.
pub(super) fn told(answer: &Value) -> String {
    let action = answer["action"].as_str().unwrap_or("none");
    format!("action={action}, content={}", answer["content"])
}

/// The text of a sampled message.
pub(super) fn sampled(answer: &Value) -> String {
    let content = &answer["content"];
    content["text"].as_str().map_or_else(|| content.to_string(), str::to_owned)
}
