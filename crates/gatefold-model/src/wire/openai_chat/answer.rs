//! A whole chat completion.

use serde::Deserialize;

use super::super::{CALLS, error_words};
use super::{THOUGHTS, sendable, text_of};
use crate::overflow::is_overflow;
use crate::{
    AssistantMessage, AssistantPart, CallArguments, Fields, ModelAnswer, ModelError, Origin,
    RawJson, StopReason, TokenUsage, ToolCall,
};

const NOT_ONE: ModelError = ModelError::NotAnAnswer { expected: "a chat completion" };

pub(super) fn read(body: &[u8], origin: &Origin) -> Result<ModelAnswer, ModelError> {
    let mut completion = Fields::parse(body).ok_or(NOT_ONE)?;
    let Some(choices) = completion.take_as::<Vec<Fields>>("choices") else {
        return Err(read_error(&completion).unwrap_or(NOT_ONE));
    };
    let mut choice = choices.into_iter().next().ok_or(ModelError::Empty)?;
    let mut message = choice.take_as::<Fields>("message").ok_or(NOT_ONE)?;
    let text = message.take("content").as_ref().map(text_of).unwrap_or_default();
    let calls = message.take_as::<Vec<Fields>>("tool_calls").unwrap_or_default();
    message.retain(|name, value| name != "role" && super::super::is_filled(value));
    let content = MessageContent {
        text,
        refusal: message.take_as("refusal").unwrap_or_default(),
        calls: calls.into_iter().take(CALLS).map(read_call).collect(),
        extra: message,
    };
    let finish: Option<String> = choice.take_as("finish_reason");
    let usage = completion.take_as::<CompletionUsage>("usage").unwrap_or_default();
    Ok(content.into_answer(origin.clone(), finish.as_deref(), usage))
}

/// What a server reports as an error, if it does.
pub(super) fn read_error(body: &Fields) -> Option<ModelError> {
    let error = body.get("error").filter(|error| !error.is_null())?;
    let words = error_words(body).unwrap_or_default();
    if is_overflow(body, &words) {
        return Some(ModelError::Overflow { words });
    }
    let error: Fields = error.read().unwrap_or_default();
    let kind = |name: &str| error.read::<String>(name).unwrap_or_default();
    let status = error.read::<u16>("code").or_else(|| kind("code").parse().ok());
    let is_passing = status.is_some_and(|status| status == 429 || status >= 500)
        || [kind("type"), kind("code")].iter().any(|kind| super::super::is_passing(kind));
    Some(ModelError::Reported { words, is_passing })
}

fn read_call(mut call: Fields) -> ToolCall {
    let mut function = call.take_as::<Fields>("function").unwrap_or_default();
    call.retain(|name, value| !matches!(name, "type" | "index") && !value.is_null());
    let id = call.take_as("id").unwrap_or_default();
    let arguments = function.take("arguments").map(|arguments| written_text(&arguments));
    ToolCall {
        id,
        name: function.take_as("name").unwrap_or_default(),
        arguments: CallArguments::read(&arguments.unwrap_or_default()),
        extra: call,
    }
}

/// Arguments are a text with JSON in it. Some servers give the object itself.
pub(super) fn written_text(arguments: &RawJson) -> String {
    arguments.read::<String>().unwrap_or_else(|| arguments.text().to_owned())
}

/// The parts of a message, however they came.
#[derive(Default)]
pub(super) struct MessageContent {
    pub(super) text: String,
    pub(super) refusal: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) extra: Fields,
}

impl MessageContent {
    pub(super) fn into_answer(
        self,
        origin: Origin,
        finish: Option<&str>,
        usage: CompletionUsage,
    ) -> ModelAnswer {
        let stop = match finish {
            _ if !self.refusal.is_empty() => StopReason::Refusal,
            Some("length") => StopReason::Length,
            Some("content_filter") => StopReason::Refusal,
            // Some servers say `stop` after calls, and some say nothing.
            Some("stop" | "tool_calls" | "function_call") | None if !self.calls.is_empty() => {
                StopReason::Calls
            }
            Some("stop" | "tool_calls" | "function_call") => StopReason::Done,
            other => StopReason::Other(other.unwrap_or_default().to_owned()),
        };
        let extra = sendable(self.extra);
        let thought = THOUGHTS.iter().find_map(|name| extra.read::<String>(name));
        let thought = thought.map(|text| AssistantPart::Thinking { text, raw: None });
        let texts = [self.text, self.refusal].into_iter().filter(|text| !text.is_empty());
        let mut parts: Vec<_> = thought.into_iter().chain(texts.map(AssistantPart::text)).collect();
        parts.extend(self.calls.into_iter().map(AssistantPart::Call));
        let message = AssistantMessage { origin, parts, extra };
        ModelAnswer { message, stop, usage: usage.into() }
    }
}

#[derive(Default, Deserialize)]
pub(super) struct CompletionUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    total_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    reasoning_tokens: Option<u64>,
}

impl From<CompletionUsage> for TokenUsage {
    fn from(usage: CompletionUsage) -> Self {
        Self {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            cached: usage.prompt_tokens_details.and_then(|details| details.cached_tokens),
            cache_written: None,
            thinking: usage.completion_tokens_details.and_then(|details| details.reasoning_tokens),
            reported_total: usage.total_tokens,
        }
    }
}
