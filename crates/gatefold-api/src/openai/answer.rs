//! What a chat completion is answered with, whole and in chunks, as OpenAI's documents have it.

use gatefold_core::Timestamp;
use gatefold_dispatch::{RunId, UsedTokens};
use serde::Serialize;

const FINGERPRINT: &str = concat!("fp_gatefold_", env!("CARGO_PKG_VERSION"));

/// What all parts of one answer say of it.
#[derive(Debug, Clone)]
pub(super) struct AnswerHead {
    pub(super) run: RunId,
    pub(super) at: Timestamp,
    /// As the client called it.
    pub(super) model: String,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FinishReason {
    Stop,
    /// The model had no tokens left, or the agent's limits were reached before it was done.
    Length,
    /// The model, or its provider, would not answer.
    ContentFilter,
}

#[derive(Debug, Serialize)]
struct Completion<'a> {
    id: String,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: [Choice<'a>; 1],
    usage: Usage,
    system_fingerprint: &'static str,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    index: u32,
    message: AnswerMessage<'a>,
    logprobs: Option<()>,
    finish_reason: FinishReason,
}

#[derive(Debug, Serialize)]
struct AnswerMessage<'a> {
    role: &'static str,
    content: &'a str,
    refusal: Option<()>,
    annotations: [(); 0],
}

#[derive(Debug, Serialize)]
struct Chunk<'a> {
    id: String,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [ChunkChoice<'a>],
    system_fingerprint: &'static str,
    /// Absent unless the client asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<ChunkUsage>,
}

/// None in all chunks but the last.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct ChunkUsage(Option<Usage>);

#[derive(Debug, Serialize)]
struct ChunkChoice<'a> {
    index: u32,
    delta: ChunkDelta<'a>,
    logprobs: Option<()>,
    finish_reason: Option<FinishReason>,
}

#[derive(Debug, Default, Serialize)]
struct ChunkDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    audio_tokens: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names are OpenAI's")]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl Usage {
    fn of(tokens: &UsedTokens) -> Self {
        Self {
            prompt_tokens: tokens.input,
            completion_tokens: tokens.output,
            total_tokens: tokens.total(),
            prompt_tokens_details: PromptDetails { cached_tokens: tokens.cached, audio_tokens: 0 },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: 0,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}

impl AnswerHead {
    /// A whole answer, with the tokens of all that its run asked models.
    pub(super) fn whole(
        &self,
        content: &str,
        finish_reason: FinishReason,
        tokens: &UsedTokens,
    ) -> String {
        let message = AnswerMessage { role: "assistant", content, refusal: None, annotations: [] };
        write(&Completion {
            id: self.id(),
            object: "chat.completion",
            created: self.created(),
            model: &self.model,
            choices: [Choice { index: 0, message, logprobs: None, finish_reason }],
            usage: Usage::of(tokens),
            system_fingerprint: FINGERPRINT,
        })
    }

    fn id(&self) -> String {
        format!("chatcmpl-{}", self.run)
    }

    fn created(&self) -> u64 {
        self.at.as_millis() / 1000
    }
}

/// Writes the chunks of one answer.
#[derive(Debug, Clone)]
pub(super) struct ChunkWriter {
    pub(super) head: AnswerHead,
    pub(super) with_usage: bool,
}

impl ChunkWriter {
    pub(super) fn first(&self) -> String {
        self.of_choice(ChunkDelta { role: Some("assistant"), content: Some("") }, None)
    }

    pub(super) fn text(&self, text: &str) -> String {
        self.of_choice(ChunkDelta { role: None, content: Some(text) }, None)
    }

    /// The last chunk of the answer, and the one with the tokens if it was asked for.
    pub(super) fn last(&self, reason: FinishReason, tokens: &UsedTokens) -> Vec<String> {
        let last = self.of_choice(ChunkDelta::default(), Some(reason));
        let usage = self.with_usage.then(|| self.chunk(&[], Some(Usage::of(tokens))));
        [Some(last), usage].into_iter().flatten().collect()
    }

    fn of_choice(&self, delta: ChunkDelta<'_>, finish_reason: Option<FinishReason>) -> String {
        self.chunk(&[ChunkChoice { index: 0, delta, logprobs: None, finish_reason }], None)
    }

    fn chunk(&self, choices: &[ChunkChoice<'_>], usage: Option<Usage>) -> String {
        write(&Chunk {
            id: self.head.id(),
            object: "chat.completion.chunk",
            created: self.head.created(),
            model: &self.head.model,
            choices,
            system_fingerprint: FINGERPRINT,
            usage: self.with_usage.then_some(ChunkUsage(usage)),
        })
    }
}

fn write(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).expect("the keys of an answer are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> AnswerHead {
        let at = Timestamp::from_millis(1_764_000_000_789);
        AnswerHead { run: RunId::new(at, 7), at, model: "support".to_owned() }
    }

    fn tokens() -> UsedTokens {
        UsedTokens { input: 90, cached: 40, output: 10, is_estimated: false }
    }

    #[test]
    fn a_whole_answer_is_shaped_as_openais() {
        let whole = head().whole("Two.", FinishReason::Stop, &tokens());
        insta::assert_snapshot!(whole);
    }

    #[test]
    fn chunks_are_shaped_as_openais() {
        let chunks = |with_usage| {
            let writer = ChunkWriter { head: head(), with_usage };
            let mut chunks = vec![writer.first(), writer.text("Two.")];
            chunks.extend(writer.last(FinishReason::Length, &tokens()));
            chunks.join("\n")
        };
        insta::assert_snapshot!(chunks(false));
        insta::assert_snapshot!(chunks(true));
    }
}
