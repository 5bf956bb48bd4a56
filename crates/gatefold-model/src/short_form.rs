use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::{Api, ModelSpec};

/// A model at a well-known host: `openai:gpt-5`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME`,
/// `llama-server:NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortForm {
    host: &'static KnownHost,
    model: String,
}

/// A text is no short form of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a model's short form, which is a host and a name: {known}", known = ShortForm::forms())]
pub struct ShortFormError(String);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KnownHost {
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    url: &'static str,
    /// The variable with its key, if it wants one.
    pub(crate) variable: Option<&'static str>,
}

const KNOWN: &[KnownHost] = &[
    KnownHost {
        name: "openai",
        api: Api::OpenAiChat,
        url: "https://api.openai.com/v1",
        variable: Some("OPENAI_API_KEY"),
    },
    KnownHost {
        name: "anthropic",
        api: Api::Anthropic,
        url: "https://api.anthropic.com/v1",
        variable: Some("ANTHROPIC_API_KEY"),
    },
    // <https://ai.google.dev/gemini-api/docs/openai>
    KnownHost {
        name: "gemini",
        api: Api::OpenAiChat,
        url: "https://generativelanguage.googleapis.com/v1beta/openai",
        variable: Some("GEMINI_API_KEY"),
    },
    KnownHost {
        name: "ollama",
        api: Api::OpenAiChat,
        url: "http://127.0.0.1:11434/v1",
        variable: None,
    },
    KnownHost {
        name: "llama-server",
        api: Api::OpenAiChat,
        url: "http://127.0.0.1:8080/v1",
        variable: None,
    },
];

impl KnownHost {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|host| host.name == name)
    }

    pub(crate) fn url(&self) -> Url {
        self.url.parse().expect("the addresses above are addresses")
    }
}

impl ShortForm {
    pub(crate) fn new(host: &'static KnownHost, model: impl Into<String>) -> Self {
        Self { host, model: model.into() }
    }

    /// The variable with the key of its host, if it wants one.
    pub fn key_variable(&self) -> Option<&'static str> {
        self.host.variable
    }

    /// All of them, for messages: a model's name stands in the place of `NAME`.
    pub fn forms() -> String {
        let forms: Vec<_> = KNOWN.iter().map(|host| format!("`{}:NAME`", host.name)).collect();
        forms.join(", ")
    }

    /// The model without a key.
    pub fn spec(&self) -> ModelSpec {
        ModelSpec::new(self.host.api, self.host.url(), self.model.clone())
    }
}

impl fmt::Display for ShortForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host.name, self.model)
    }
}

impl FromStr for ShortForm {
    type Err = ShortFormError;

    fn from_str(text: &str) -> Result<Self, ShortFormError> {
        let found = text.split_once(':').and_then(|(name, model)| {
            let host = KnownHost::named(name)?;
            (!model.is_empty()).then(|| Self { host, model: model.to_owned() })
        });
        found.ok_or_else(|| ShortFormError(text.to_owned()))
    }
}
