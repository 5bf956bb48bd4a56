use std::time::Duration;

use gatefold_core::with_causes;
use gatefold_egress::EgressError;
use http::StatusCode;

/// Why a model gave no answer, or not all of one.
///
/// The words are for people: they may name an address, and have what the endpoint said. A model is
/// told [`ModelError::for_model`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    #[error("the model's address must begin with `http://` or `https://`")]
    Address,
    #[error("the model's key cannot be part of a header")]
    Key,
    #[error("the conversation ends with the model's own words, so there is nothing to answer")]
    NothingAsked,
    #[error("no model may be asked")]
    NoneOpen,
    #[error("the model cannot be asked: {}", with_causes(.0))]
    Unreachable(#[source] EgressError),
    /// The endpoint would refuse the same request again.
    #[error("the model's endpoint answered {status}{}", after_colon(words))]
    Refused { status: StatusCode, words: String },
    /// The conversation is longer than the model takes.
    #[error("the conversation is longer than the model takes{}", after_colon(words))]
    Overflow { words: String },
    /// Another time the endpoint may do better.
    #[error("the model's endpoint answered {status}{}", after_colon(words))]
    Busy { status: StatusCode, words: String, retry_after: Option<Duration> },
    /// An error in place of an answer, or in the middle of one.
    #[error("the model's endpoint reported an error{}", after_colon(words))]
    Reported { words: String, is_passing: bool },
    #[error("the model's endpoint did not answer with {expected}")]
    NotAnAnswer { expected: &'static str },
    #[error("the model's endpoint answered without a message")]
    Empty,
    #[error("the model's answer ended before it was complete")]
    Cut,
    #[error("the model's answer has more {what} than the limit: {limit}")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("the model did not write the JSON that it was asked for: {fault}")]
    Unreadable { fault: String },
}

impl ModelError {
    /// Whether no other request can do better: the key or the address is wrong.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Address | Self::Key => true,
            Self::Refused { status, .. } => {
                let wrong =
                    [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND];
                wrong.contains(status) || status.is_redirection()
            }
            _ => false,
        }
    }

    /// What a model reads of it, for instance one whose helper this was: no addresses, and nothing
    /// that an endpoint said.
    pub fn for_model(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "the model is busy; try again later",
            Self::Cut => "the answer was cut off",
            Self::TooLarge { .. } => "the answer was too long",
            Self::Overflow { .. } => "the conversation is longer than the model takes",
            Self::Unreadable { .. } => "the answer could not be read",
            _ => "the model did not answer",
        }
    }

    /// Whether no model can have worked on the request, so that it cost nothing.
    pub fn is_free(&self) -> bool {
        match self {
            Self::Address
            | Self::Key
            | Self::NothingAsked
            | Self::NoneOpen
            | Self::Refused { .. }
            | Self::Overflow { .. }
            | Self::Busy { .. } => true,
            Self::Unreachable(error) => {
                !matches!(error, EgressError::Timeout { .. } | EgressError::Failed { .. })
            }
            _ => false,
        }
    }

    /// Whether the same request may go better after a while.
    ///
    /// A connection that broke in the middle may hold the next time. A server that was late once
    /// would be late again, and refused connections were tried again already.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Empty | Self::Cut => true,
            Self::Reported { is_passing, .. } => *is_passing,
            Self::Unreachable(error) => matches!(error, EgressError::Failed { .. }),
            _ => false,
        }
    }

    /// Whether another model may be asked instead. What is wrong with the request or with the key
    /// would only be hidden by that.
    pub(crate) fn allows_fallback(&self) -> bool {
        self.is_passing() || matches!(self, Self::Unreachable(_) | Self::Reported { .. })
    }

    pub(crate) fn asked_wait(&self) -> Option<Duration> {
        match self {
            Self::Busy { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The endpoint's own words, if it said some.
    pub(crate) fn words_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Refused { words, .. }
            | Self::Overflow { words }
            | Self::Busy { words, .. }
            | Self::Reported { words, .. } => Some(words),
            _ => None,
        }
    }
}

fn after_colon(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(": {words}") }
}
