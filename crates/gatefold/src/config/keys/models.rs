use super::super::key::{Key, Kind, count};
use super::FixedSection;

pub(super) const MODELS: FixedSection = FixedSection {
    path: "models.NAME",
    summary: "One language model: where it is, and how it is asked.",
    details: "`gatefold chat` talks to it, through `--model NAME`, for an agent that names it, or because it \
              is the first of the file that the person may use. `gatefold models check` tries it. `NAME` has up \
              to 64 letters, digits, `-`, `_` and `.`.",
    keys: &[
        Key {
            details: "Without `url`, a short form: `openai:NAME`, `anthropic:NAME`, `gemini:NAME`, \
                      `ollama:NAME` or `llama-server:NAME`, which says where the model is and which variable has \
                      its key.",
            unset: "none: it must be set",
            example: "\"openai:gpt-5\"",
            ..Key::new("model", Kind::Text, "The model's name, as its endpoint knows it.")
        },
        Key {
            unset: "that of the short form",
            example: "\"http://127.0.0.1:11434/v1\"",
            ..Key::new("url", Kind::Url, "The address before `/chat/completions` or `/messages`.")
        },
        Key {
            unset: "openai-chat, or that of the short form",
            example: "\"anthropic\"",
            needs: &["url"],
            ..Key::new(
                "api",
                Kind::Choice(&["openai-chat", "anthropic"]),
                "What the address speaks.",
            )
        },
        Key {
            details: "Best from a variable or from `gatefold secret`. Where that does not exist, only this \
                      model cannot be used.",
            unset: "the variable of a short form's host, such as `OPENAI_API_KEY`; otherwise none",
            example: "\"${secret:MODEL_KEY}\"",
            ..Key::new("key", Kind::Text, "The endpoint's key.")
        },
        Key {
            details: "When a conversation has grown so long that it would not fit with its answer, the \
                      model is asked for its last answer. `/context` in a chat shows how much is taken.",
            unset: "a conversation may have 8 MiB",
            example: "32768",
            ..Key::new(
                "context_tokens",
                count(),
                "How many tokens the model takes, its answer included.",
            )
        },
        Key {
            unset: "the endpoint's own limit; 8,192 where its API wants one",
            example: "8192",
            ..Key::new(
                "max_output_tokens",
                Kind::Count { max: u32::MAX as u64 },
                "The most tokens of one answer, thinking included.",
            )
        },
        Key {
            unset: "what the endpoint does by itself",
            example: "false",
            ..Key::new(
                "parallel_calls",
                Kind::Flag,
                "Whether the model may make several calls in one answer.",
            )
        },
        Key {
            details: "`native` is as its API has them. `json` has the model write each call as a JSON object, \
                      for models whose API knows no calls. `auto` is native until the endpoint says that it \
                      cannot.",
            unset: "auto",
            example: "\"json\"",
            ..Key::new(
                "tool_calls",
                Kind::Choice(&["native", "json", "auto"]),
                "How the model calls tools.",
            )
        },
        Key {
            unset: "the endpoint's own",
            example: "0.2",
            ..Key::new("temperature", Kind::Temperature, "How freely the model chooses its words.")
        },
        Key {
            details: "They go along as they are, and replace Gatefold's own.",
            unset: "none",
            example: "{ reasoning_effort = \"low\" }",
            ..Key::new("extra", Kind::Members, "Further members of every request.")
        },
        Key {
            details: "The name of another model, or a short form. It answers when this one cannot be reached, \
                      is busy or fails, after four tries and before anything of an answer was shown. A wrong key \
                      or a wrong name is told instead. It is left out for a person who may not use it.",
            unset: "nobody answers instead",
            example: "\"ollama:qwen3\"",
            ..Key::new("fallback", Kind::Text, "The model that is asked when this one fails.")
        },
        Key {
            details: "To everybody else it looks like a model that does not exist. `[users.NAME]` says who is \
                      in a group; whoever runs commands is `users.local`.",
            unset: "everybody",
            example: "[\"finance\"]",
            ..Key::new("visible_to", Kind::Texts, "The groups of people who may use the model.")
        },
    ],
};
