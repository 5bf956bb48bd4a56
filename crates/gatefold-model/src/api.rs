use std::fmt;
use std::str::FromStr;

/// A wire that models are reached by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's chat completions, which most servers speak.
    OpenAiChat,
    /// Anthropic's messages.
    Anthropic,
}

/// A text names no wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an API is `openai-chat` or `anthropic`")]
pub struct UnknownApi;

impl Api {
    pub const ALL: [Self; 2] = [Self::OpenAiChat, Self::Anthropic];

    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
        }
    }
}

impl FromStr for Api {
    type Err = UnknownApi;

    fn from_str(text: &str) -> Result<Self, UnknownApi> {
        Self::ALL.into_iter().find(|api| api.name() == text).ok_or(UnknownApi)
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
