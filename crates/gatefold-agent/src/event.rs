//! What happens in a run, and what follows from it.

use std::fmt;

use gatefold_model::{ModelAnswer, ToolCall, ToolResult};
use serde::{Deserialize, Serialize};

/// Something that happened. A run is determined by its history and its events, in order.
///
/// Its name is the key round it, not a member beside the others: serde reads no raw JSON behind a tag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEvent {
    /// The model answered.
    Answered { answer: Box<ModelAnswer> },
    /// The model gave no answer, for a reason that a person can be told.
    NotAnswered {
        reason: String,
        /// Whether no other request can do better, because the key or the address is wrong.
        is_final: bool,
    },
    /// The model answers no more today to the person whose run it is, for a reason that they can be told.
    DaySpent { reason: String },
    /// One of the calls of the last answer, counted from 0, has its result.
    Returned { call: usize, result: ToolResult },
    /// Nothing more may be spent of this. Calls under way go on.
    RanShort { of: Shortage },
    /// A person ended the run.
    Cancelled,
    /// Whoever drives the run cannot go on with it, for a reason that a person can be told.
    GivenUp { reason: String },
}

/// What there is no more of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shortage {
    Iterations,
    Tokens,
    Cost,
    Time,
    /// Room for what was said.
    Room,
    /// The same call gave the same result again and again.
    NewResults,
}

/// What a run wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the model to answer the history.
    Ask(ToolUse),
    /// Make this call of the model's last answer, and say what came of it.
    Call {
        call: usize,
        request: ToolCall,
    },
    End(RunEnd),
}

/// Whether the model may call tools in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolUse {
    Allowed,
    /// It is the last answer.
    Over,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum RunEnd {
    Answered,
    /// The model answered without its tools, because something had run short.
    Short {
        of: Shortage,
    },
    /// The model, or its provider, would not answer.
    Refused,
    Failed {
        reason: String,
        /// Whether no other run can do better, because the model's key or address is wrong.
        is_final: bool,
    },
    /// The model answers no more today to the person whose run it is.
    DaySpent {
        reason: String,
    },
    Cancelled,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iterations => "the run has used all its answers",
            Self::Tokens => "the run has used all its tokens",
            Self::Cost => "the run has cost as much as it may",
            Self::Time => "the run has used all its time",
            Self::Room => "the conversation has become too long",
            Self::NewResults => "the same call kept giving the same result",
        })
    }
}
