//! A whole message.

use serde::Deserialize;

use super::super::{CALLS, error_words, is_passing, sum_of};
use crate::overflow::is_overflow;
use crate::{
    AssistantMessage, AssistantPart, CallArguments, Fields, ModelAnswer, ModelError, Origin,
    RawJson, StopReason, TokenUsage, ToolCall,
};

const NOT_ONE: ModelError = ModelError::NotAnAnswer { expected: "a message" };

pub(super) fn read(body: &[u8], origin: &Origin) -> Result<ModelAnswer, ModelError> {
    let mut message = Fields::parse(body).ok_or(NOT_ONE)?;
    let Some(blocks) = message.take_as::<Vec<RawJson>>("content") else {
        return Err(read_error(&message).unwrap_or(NOT_ONE));
    };
    let stop: Option<String> = message.take_as("stop_reason");
    let usage = message.take_as::<MessageUsage>("usage").unwrap_or_default();
    let parts = blocks.into_iter().map(|block| part(block, None)).collect();
    Ok(answer(origin.clone(), parts, stop.as_deref(), usage))
}

/// What a server reports as an error, if it does.
pub(super) fn read_error(body: &Fields) -> Option<ModelError> {
    let error: Fields = body.get("error")?.read()?;
    let kind: String = error.read("type").unwrap_or_default();
    let words = error_words(body).unwrap_or_default();
    if is_overflow(body, &words) {
        return Some(ModelError::Overflow { words });
    }
    Some(ModelError::Reported { words, is_passing: is_passing(&kind) })
}

/// What a block is. The arguments of a call may have come apart from it.
pub(super) fn part(raw: RawJson, arguments: Option<&str>) -> AssistantPart {
    let Some(mut block) = raw.read::<Fields>() else { return AssistantPart::Other(raw) };
    let kind: String = block.take_as("type").unwrap_or_default();
    match kind.as_str() {
        "text" => {
            let text = block.take_as("text").unwrap_or_default();
            AssistantPart::Text { text, raw: Some(raw) }
        }
        "thinking" | "redacted_thinking" => {
            let text = block.take_as("thinking").unwrap_or_default();
            AssistantPart::Thinking { text, raw: Some(raw) }
        }
        "tool_use" => {
            let input = block.take("input");
            let input = input.as_ref().map_or("", RawJson::text);
            AssistantPart::Call(ToolCall {
                id: block.take_as("id").unwrap_or_default(),
                name: block.take_as("name").unwrap_or_default(),
                arguments: CallArguments::read(arguments.unwrap_or(input)),
                extra: block,
            })
        }
        _ => AssistantPart::Other(raw),
    }
}

pub(super) fn answer(
    origin: Origin,
    parts: Vec<AssistantPart>,
    stop: Option<&str>,
    usage: MessageUsage,
) -> ModelAnswer {
    let mut calls = 0;
    let parts = parts.into_iter().filter(|part| {
        calls += usize::from(matches!(part, AssistantPart::Call(_)));
        calls <= CALLS || !matches!(part, AssistantPart::Call(_))
    });
    let message = AssistantMessage { origin, parts: parts.collect(), extra: Fields::default() };
    let stop = match stop {
        Some("tool_use") => StopReason::Calls,
        Some("end_turn" | "stop_sequence") => StopReason::Done,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refusal,
        other => StopReason::Other(other.unwrap_or_default().to_owned()),
    };
    ModelAnswer { message, stop, usage: usage.into() }
}

/// The wire's own names.
#[expect(clippy::struct_field_names, reason = "they are the wire's")]
#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct MessageUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl MessageUsage {
    /// What is reported later counts from the beginning too.
    pub(super) fn update(&mut self, later: Self) {
        let newer = |new: Option<u64>, old: &mut Option<u64>| *old = new.or(*old);
        newer(later.input_tokens, &mut self.input_tokens);
        newer(later.output_tokens, &mut self.output_tokens);
        newer(later.cache_read_input_tokens, &mut self.cache_read_input_tokens);
        newer(later.cache_creation_input_tokens, &mut self.cache_creation_input_tokens);
    }
}

impl From<MessageUsage> for TokenUsage {
    fn from(usage: MessageUsage) -> Self {
        let (read, written) = (usage.cache_read_input_tokens, usage.cache_creation_input_tokens);
        Self {
            // This wire counts tokens of the cache apart.
            input: sum_of([usage.input_tokens, read, written]),
            output: usage.output_tokens,
            cached: read,
            cache_written: written,
            thinking: None,
            reported_total: None,
        }
    }
}
