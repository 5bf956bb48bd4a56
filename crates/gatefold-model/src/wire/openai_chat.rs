//! OpenAI's chat completions, and the many servers that answer to them.
//!
//! <https://platform.openai.com/docs/api-reference/chat>

mod answer;
mod stream;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName};
use serde_json::{Value, json};

use super::turns::{ModelStep, SentCall, SentPart, Step, steps};
use super::{StreamDecoder, Target, Wire};
use crate::{
    AssistantPart, Fields, ModelAnswer, ModelError, ModelRequest, Origin, RawJson, ToolChoice,
    ToolResult, UserPart,
};

/// OpenAI's own host, whose newer models refuse the older name of a limit that other servers know.
const OPENAI_HOST: &str = "api.openai.com";

/// Members in which servers give thoughts. Some want them back with calls, and some refuse them
/// elsewhere.
const THOUGHTS: [&str; 2] = ["reasoning_content", "reasoning"];

pub(super) struct OpenAiChat;

impl Wire for OpenAiChat {
    fn path(&self) -> &'static [&'static str] {
        &["chat", "completions"]
    }

    fn headers(&self) -> HeaderMap {
        HeaderMap::new()
    }

    fn key_header(&self) -> (HeaderName, &'static str) {
        (AUTHORIZATION, "Bearer ")
    }

    fn answer_name(&self) -> &'static str {
        "a chat completion"
    }

    fn encode(&self, request: &ModelRequest<'_>, target: &Target<'_>) -> Fields {
        let spec = target.spec;
        let mut body = Fields::default();
        body.set("model", &spec.model);
        body.set("messages", &messages(request, target.origin));
        if !request.tools.is_empty() {
            body.set("tools", &tools(request));
            body.set("tool_choice", &tool_choice(request.tool_choice));
            if let Some(parallel) = spec.parallel_calls {
                body.set("parallel_tool_calls", &parallel);
            }
        }
        if let Some(answer) = request.schema {
            let schema = json!({ "name": answer.name, "schema": answer.schema });
            body.set("response_format", &json!({ "type": "json_schema", "json_schema": schema }));
        }
        if let Some(limit) = spec.max_output_tokens {
            let is_openai = spec.url.host_str() == Some(OPENAI_HOST);
            let name = if is_openai { "max_completion_tokens" } else { "max_tokens" };
            body.set(name, &limit);
        }
        if let Some(temperature) = spec.temperature {
            body.set("temperature", &temperature);
        }
        if target.streams {
            body.set("stream", &true);
            body.set("stream_options", &json!({ "include_usage": true }));
        }
        body.merge(&spec.extra);
        body
    }

    fn decode(&self, body: &[u8], origin: &Origin) -> Result<ModelAnswer, ModelError> {
        answer::read(body, origin)
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn StreamDecoder> {
        Box::new(stream::ChunkDecoder::new(origin.clone()))
    }
}

fn tools(request: &ModelRequest<'_>) -> Vec<Value> {
    let function = |tool: &crate::ToolDefinition| {
        json!({
            "type": "function",
            "function": {
                "name": tool.name(),
                "description": tool.description(),
                "parameters": tool.schema(),
            },
        })
    };
    request.tools.iter().map(function).collect()
}

fn tool_choice(choice: ToolChoice<'_>) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

fn messages(request: &ModelRequest<'_>, origin: &Origin) -> Vec<Fields> {
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        messages.push(message("system", &request.system));
    }
    for step in steps(request.history, origin) {
        match step {
            Step::User(parts) => messages.push(message("user", &user_content(&parts))),
            Step::Model(step) => {
                messages.push(model_message(&step));
                messages.extend(result_messages(&step.results));
            }
        }
    }
    messages
}

fn message(role: &str, content: &impl serde::Serialize) -> Fields {
    let mut message = Fields::default();
    message.set("role", &role);
    message.set("content", content);
    message
}

/// One text where there are only texts: small servers know nothing else.
fn user_content(parts: &[&UserPart]) -> Value {
    let texts = parts.iter().map(|part| match part {
        UserPart::Text(text) => Some(text.as_str()),
        UserPart::Image(_) => None,
    });
    if let Some(texts) = texts.collect::<Option<Vec<_>>>() {
        return json!(texts.join("\n\n"));
    }
    parts.iter().map(|part| user_part(part)).collect()
}

fn user_part(part: &UserPart) -> Value {
    match part {
        UserPart::Text(text) => json!({ "type": "text", "text": text }),
        UserPart::Image(image) => {
            let url = format!("data:{};base64,{}", image.media_type(), image.base64());
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
    }
}

fn model_message(step: &ModelStep<'_>) -> Fields {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in &step.parts {
        match part {
            SentPart::Part(AssistantPart::Text { text: more, .. }) => text.push_str(more),
            SentPart::Part(_) => {}
            SentPart::Call(call) => calls.push(sent_call(call, step.is_own)),
        }
    }
    let content = if text.is_empty() { Value::Null } else { json!(text) };
    let mut message = message("assistant", &content);
    if step.is_own {
        let mut extra = step.said.extra.clone();
        extra.retain(|name, _| !calls.is_empty() || !THOUGHTS.contains(&name));
        message.merge(&extra);
    }
    if !calls.is_empty() {
        message.set("tool_calls", &calls);
    }
    message
}

fn sent_call(sent: &SentCall<'_>, is_own: bool) -> Fields {
    let mut call = Fields::default();
    call.set("id", &sent.id);
    call.set("type", &"function");
    let arguments = sent.call.arguments.object_text();
    call.set("function", &json!({ "name": sent.name, "arguments": arguments }));
    if is_own {
        call.merge(&sent.call.extra);
    }
    call
}

/// The results, and then their images in a message of their own: results are texts on this wire.
fn result_messages(results: &[(String, &ToolResult)]) -> Vec<Fields> {
    let (mut messages, mut images) = (Vec::new(), Vec::new());
    for (id, result) in results {
        let texts = result.parts.iter().filter_map(|part| match part {
            UserPart::Text(text) => Some(text.as_str()),
            UserPart::Image(_) => None,
        });
        let texts: Vec<_> = texts.collect();
        let own: Vec<_> =
            result.parts.iter().filter(|part| matches!(part, UserPart::Image(_))).collect();
        let mut answer = message("tool", &texts.join("\n"));
        answer.set("tool_call_id", id);
        messages.push(answer);
        if !own.is_empty() {
            let title = format!("Images of the result of {id}:");
            images.push(json!({ "type": "text", "text": title }));
            images.extend(own.into_iter().map(user_part));
        }
    }
    if !images.is_empty() {
        messages.push(message("user", &images));
    }
    messages
}

/// Keeps of a message's unknown members what says something.
fn sendable(mut extra: Fields) -> Fields {
    extra.retain(|name, value| super::is_filled(value) && !UNSENDABLE.contains(&name));
    extra
}

/// Members of answers that requests do not take.
const UNSENDABLE: [&str; 3] = ["audio", "function_call", "annotations"];

/// A message's text, which some servers give in parts.
fn text_of(content: &RawJson) -> String {
    match content.read::<Value>() {
        Some(Value::String(text)) => text,
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect()
        }
        _ => String::new(),
    }
}
