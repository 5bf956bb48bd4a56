use std::str::FromStr;
use std::time::Duration;

use gatefold_core::Secret;
use url::Url;

use crate::{Api, Fields};

/// A model, where it is, and how it is asked.
#[derive(Debug, Clone)]
pub struct ModelSpec {
    pub api: Api,
    /// The address before `/chat/completions` or `/messages`.
    pub url: Url,
    /// As its endpoint calls it.
    pub model: String,
    pub key: Option<Secret>,
    /// The most tokens of one answer, thinking included.
    pub max_output_tokens: Option<u32>,
    /// Whether a model may make several calls at once; what the endpoint does by itself if unset.
    pub parallel_calls: Option<bool>,
    pub tool_calls: ToolCalls,
    pub temperature: Option<f64>,
    /// Members of every request, as they are. They replace ours.
    pub extra: Fields,
    /// The longest wait for one answer, at each try.
    pub timeout: Duration,
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolCalls {
    /// As its API has it.
    Native,
    /// As a JSON object in its text.
    Json,
    /// Native, until its endpoint says that it cannot.
    #[default]
    Auto,
}

impl ModelSpec {
    /// The longest wait for one answer unless another is set.
    pub const TIMEOUT: Duration = Duration::from_mins(2);

    pub fn new(api: Api, url: Url, model: impl Into<String>) -> Self {
        Self {
            api,
            url,
            model: model.into(),
            key: None,
            max_output_tokens: None,
            parallel_calls: None,
            tool_calls: ToolCalls::Auto,
            temperature: None,
            extra: Fields::default(),
            timeout: Self::TIMEOUT,
        }
    }
}

impl FromStr for ToolCalls {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "native" => Ok(Self::Native),
            "json" => Ok(Self::Json),
            "auto" => Ok(Self::Auto),
            _ => Err(()),
        }
    }
}
