//! Anthropic's messages.
//!
//! <https://docs.anthropic.com/en/api/messages>

mod answer;
mod stream;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::turns::{ModelStep, SentCall, SentPart, Step, steps};
use super::{StreamDecoder, Target, Wire};
use crate::{
    AssistantPart, Fields, ModelAnswer, ModelError, ModelRequest, Origin, RawJson, ToolChoice,
    ToolDefinition, ToolResult, UserPart,
};

/// The version of the wire that is spoken here.
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");

/// The most tokens of an answer unless the model's own limit is set: this wire wants one, and all
/// models that are still served take this.
const OUTPUT_TOKENS: u32 = 8192;

pub(super) struct Anthropic;

impl Wire for Anthropic {
    fn path(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn headers(&self) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static("anthropic-version"), VERSION)])
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (HeaderName::from_static("x-api-key"), "")
    }

    fn answer_name(&self) -> &'static str {
        "a message"
    }

    fn encode(&self, request: &ModelRequest<'_>, target: &Target<'_>) -> Fields {
        let spec = target.spec;
        let mut body = Fields::default();
        body.set("model", &spec.model);
        body.set("max_tokens", &spec.max_output_tokens.unwrap_or(OUTPUT_TOKENS));
        if !request.system.trim().is_empty() {
            body.set("system", &request.system);
        }
        body.set("messages", &messages(request, target.origin));
        if !request.tools.is_empty() {
            body.set("tools", &request.tools.iter().map(tool).collect::<Vec<_>>());
            body.set("tool_choice", &tool_choice(request.tool_choice, spec.parallel_calls));
        }
        if let Some(temperature) = spec.temperature {
            body.set("temperature", &temperature);
        }
        if target.streams {
            body.set("stream", &true);
        }
        body.merge(&spec.extra);
        body
    }

    fn decode(&self, body: &[u8], origin: &Origin) -> Result<ModelAnswer, ModelError> {
        answer::read(body, origin)
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn StreamDecoder> {
        Box::new(stream::EventDecoder::new(origin.clone()))
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    let mut schema = tool.schema().clone();
    // Alternatives of the whole object are refused here. The tool itself still checks them.
    schema.retain(|name, _| !matches!(name, "anyOf" | "oneOf" | "allOf"));
    json!({ "name": tool.name(), "description": tool.description(), "input_schema": schema })
}

fn tool_choice(choice: ToolChoice<'_>, parallel: Option<bool>) -> Value {
    let mut sent = match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => return json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    };
    if let Some(parallel) = parallel {
        sent["disable_parallel_tool_use"] = json!(!parallel);
    }
    sent
}

/// Results are said by the user on this wire, in the same message as what the user says then.
fn messages(request: &ModelRequest<'_>, origin: &Origin) -> Vec<Fields> {
    let mut messages = Vec::new();
    let mut user: Vec<RawJson> = Vec::new();
    for step in steps(request.history, origin) {
        match step {
            Step::User(parts) => user.extend(parts.into_iter().map(user_block)),
            Step::Model(step) => {
                messages.push(message("user", &user));
                messages.push(message("assistant", &model_blocks(&step)));
                user = step.results.iter().map(|(id, result)| result_block(id, result)).collect();
            }
        }
    }
    if !user.is_empty() {
        messages.push(message("user", &user));
    }
    messages
}

fn message(role: &str, content: &[RawJson]) -> Fields {
    let mut message = Fields::default();
    message.set("role", &role);
    message.set("content", &content);
    message
}

fn user_block(part: &UserPart) -> RawJson {
    RawJson::of(&match part {
        UserPart::Text(text) => json!({ "type": "text", "text": text }),
        UserPart::Image(image) => {
            let source = json!({
                "type": "base64",
                "media_type": image.media_type(),
                "data": image.base64(),
            });
            json!({ "type": "image", "source": source })
        }
    })
}

fn result_block(id: &str, result: &ToolResult) -> RawJson {
    let parts = result.parts.iter().filter(|part| !part.is_blank());
    let content: Vec<_> = parts.map(user_block).collect();
    let mut block = Fields::default();
    block.set("type", &"tool_result");
    block.set("tool_use_id", &id);
    if !content.is_empty() {
        block.set("content", &content);
    }
    if result.is_error {
        block.set("is_error", &true);
    }
    RawJson::of(&block)
}

fn model_blocks(step: &ModelStep<'_>) -> Vec<RawJson> {
    let block = |part: &SentPart<'_>| match part {
        SentPart::Call(call) => call_block(call, step.is_own),
        SentPart::Part(AssistantPart::Text { raw: Some(raw), .. }) if step.is_own => raw.clone(),
        SentPart::Part(AssistantPart::Text { text, .. }) => {
            RawJson::of(&json!({ "type": "text", "text": text }))
        }
        SentPart::Part(
            AssistantPart::Thinking { raw: Some(raw), .. } | AssistantPart::Other(raw),
        ) => raw.clone(),
        SentPart::Part(AssistantPart::Thinking { raw: None, .. } | AssistantPart::Call(_)) => {
            unreachable!("thoughts without a block are not sent, and calls are of the other kind")
        }
    };
    step.parts.iter().map(block).collect()
}

fn call_block(sent: &SentCall<'_>, is_own: bool) -> RawJson {
    let mut block = Fields::default();
    block.set("type", &"tool_use");
    block.set("id", &sent.id);
    block.set("name", &sent.name);
    block.set("input", &sent.call.arguments.object());
    if is_own {
        block.merge(&sent.call.extra);
    }
    RawJson::of(&block)
}
