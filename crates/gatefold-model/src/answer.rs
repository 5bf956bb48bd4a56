use serde::{Deserialize, Serialize};

use crate::AssistantMessage;

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswer {
    pub message: AssistantMessage,
    pub stop: StopReason,
    pub usage: TokenUsage,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done, or reached a text at which it was to stop.
    Done,
    /// It waits for the results of its calls.
    Calls,
    /// It had no tokens left; the last part may be cut off.
    Length,
    /// It, or its provider, would not answer.
    Refusal,
    /// In the endpoint's own words; empty if it gave none.
    Other(String),
}

/// The tokens of one request, where the endpoint reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// All tokens of the prompt, those from a cache included.
    pub input: Option<u64>,
    pub output: Option<u64>,
    /// How many of `input` were read from the provider's cache.
    pub cached: Option<u64>,
    /// How many of `input` were written to it.
    pub cache_written: Option<u64>,
    /// How many of `output` were thinking.
    pub thinking: Option<u64>,
    /// Where only the sum is reported.
    pub reported_total: Option<u64>,
}

/// A piece of an answer that is still being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    Text(String),
    Thinking(String),
    /// A call began. Calls count from 0, and may go on in turns.
    Call {
        call: usize,
        name: String,
    },
    /// More of a call's arguments, as the model writes them.
    Arguments {
        call: usize,
        json: String,
    },
}

impl TokenUsage {
    /// The tokens of request and answer, if they are known.
    pub fn total(&self) -> Option<u64> {
        let sum = || Some(self.input?.saturating_add(self.output?));
        self.reported_total.or_else(sum)
    }

    /// The tokens of both requests. What one of them did not report is not known of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |of: fn(&Self) -> Option<u64>| Some(of(&self)?.saturating_add(of(&other)?));
        Self {
            input: sum(|usage| usage.input),
            output: sum(|usage| usage.output),
            cached: sum(|usage| usage.cached),
            cache_written: sum(|usage| usage.cache_written),
            thinking: sum(|usage| usage.thinking),
            reported_total: sum(Self::total),
        }
    }
}
