//! Whether an endpoint says that a conversation is longer than its model takes. There is no standard for it.

use crate::{Fields, RawJson};

/// The codes and types that say so by themselves: OpenAI and those that follow it, llama-server, Z.AI, Anthropic.
const CODES: [&str; 4] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "request_too_large",
];

/// What is said of the rate of requests, not of one of them. Bedrock's words for it have "too many tokens" in them.
const ABOUT_RATES: [&str; 5] = ["rate limit", "rate_limit", "per minute", "throttl", "please wait"];

/// Words that belong together in one message. Of OpenAI, vLLM, SGLang, Mistral, OpenRouter and DeepSeek (`maximum context
/// length`), Anthropic, llama-server, Ollama, Together, xAI, Groq, Google, Bedrock, Moonshot and LM Studio, as they were
/// reported in 2025 and 2026.
const WORDS: [&[&str]; 16] = [
    &["maximum context length"],
    &["prompt", "too long"],
    &["exceed", "context limit"],
    &["exceed", "context size"],
    &["exceed", "context window"],
    &["exceed", "context length"],
    &["longer than", "context length"],
    &["greater than the context length"],
    &["context length of only"],
    &["maximum prompt length"],
    &["reduce the length of the messages"],
    &["input token count", "exceeds"],
    &["maximum allowed input length"],
    &["input is too long"],
    &["exceeded model token limit"],
    &["range of input length"],
];

/// Whether an error's body says that the conversation is too long.
pub(crate) fn is_overflow(body: &Fields, words: &str) -> bool {
    let error = body.get("error").and_then(RawJson::read::<Fields>);
    let kinds = error.iter().flat_map(|error| ["code", "type"].map(|name| error.read(name)));
    if kinds.flatten().any(|kind: String| CODES.iter().any(|code| kind.contains(code))) {
        return true;
    }
    let words = words.to_lowercase();
    let has = |part: &&str| words.contains(*part);
    !ABOUT_RATES.iter().any(has) && WORDS.iter().any(|parts| parts.iter().all(has))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::error_words;

    fn check(body: &serde_json::Value, expected: bool) {
        let body = Fields::parse(body.to_string().as_bytes()).expect("it is an object");
        let words = error_words(&body).unwrap_or_default();
        assert_eq!(is_overflow(&body, &words), expected, "{words}");
    }

    #[test]
    fn each_servers_words_for_too_long_a_conversation_are_known() {
        for words in [
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            "Input length (265330) exceeds model's maximum context length (262144).",
            "prompt is too long: 208310 tokens > 200000 maximum",
            "input length and `max_tokens` exceed context limit: 199999 + 21333 > 200000, decrease input length",
            "request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
            "the input length exceeds the context length",
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            "Please reduce the length of the messages or completion.",
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
            "Input is too long for requested model.",
            "Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)",
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        ] {
            check(&json!({ "error": { "message": words, "type": "invalid_request_error" } }), true);
        }
        for kind in ["context_length_exceeded", "exceed_context_size_error"] {
            check(&json!({ "error": { "message": "too much", "code": 400, "type": kind } }), true);
            check(&json!({ "error": { "message": "too much", "code": kind } }), true);
        }
    }

    #[test]
    fn other_refusals_are_not_taken_for_it() {
        for words in [
            "Too many tokens, please wait before trying again.",
            "Rate limit reached: the prompt is too long for your tokens per minute",
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
            "messages.1: `tool_use` ids were found without `tool_result` blocks",
            "string too long. Expected a string with maximum length 64",
            "",
        ] {
            check(&json!({ "error": { "message": words } }), false);
        }
    }
}
