use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Principal, PromptName, Timestamp, ToolName, Uri, UserId};

/// The identity of one call, unique among all replicas: 48 bits of time, 80 of chance, so that
/// ids sort by the moment they were made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(u128);

impl CallId {
    /// Joins a moment with 80 bits of the caller's randomness.
    pub fn new(now: Timestamp, random: u128) -> Self {
        const RANDOM_BITS: u32 = 80;
        Self(u128::from(now.as_millis()) << RANDOM_BITS | random & ((1 << RANDOM_BITS) - 1))
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({self})")
    }
}

/// One request for one operation, before anything was decided about it.
#[derive(Debug)]
pub struct Call {
    pub id: CallId,
    /// The call in whose course this one was made.
    pub parent: Option<CallId>,
    pub principal: Arc<Principal>,
    pub operation: Operation,
    pub resume: Option<Resume>,
}

/// What is asked for.
#[derive(Debug, Clone)]
pub enum Operation {
    Tool { name: ToolName, arguments: Box<RawValue> },
    Resource(Uri),
    Prompt { name: PromptName, arguments: Box<RawValue> },
    Complete(Completion),
}

impl Operation {
    /// The name or address that was asked for, as the caller wrote it.
    pub fn subject(&self) -> &str {
        match self {
            Self::Tool { name, .. } => name.as_str(),
            Self::Resource(uri) => uri.as_str(),
            Self::Prompt { name, .. } | Self::Complete(Completion { prompt: name, .. }) => {
                name.as_str()
            }
        }
    }

    /// The arguments' text, or `null` for an operation without any.
    pub fn arguments(&self) -> &str {
        match self {
            Self::Tool { arguments, .. } | Self::Prompt { arguments, .. } => arguments.get(),
            Self::Resource(_) | Self::Complete(_) => "null",
        }
    }
}

/// A request to complete one argument of a prompt.
#[derive(Debug, Clone)]
pub struct Completion {
    pub prompt: PromptName,
    pub argument: String,
    pub value: String,
}

/// How a suspended call goes on: its sealed state, and what was answered meanwhile.
#[derive(Debug)]
pub struct Resume {
    /// The opaque text that the suspension gave out.
    pub state: String,
    /// The answers, in the shape of the question. `null` when there was none to give.
    pub answers: Box<RawValue>,
}

/// How a call ended, or paused, without an error of the gateway's.
#[derive(Debug)]
pub enum Outcome {
    Done(Payload),
    Suspended(Suspension),
    Task(TaskHandle),
}

/// A result as the source gave it.
#[derive(Debug, Clone)]
pub struct Payload {
    /// The protocol's result object, letter for letter.
    pub json: Box<RawValue>,
    /// Whether the source itself calls this result an error.
    pub is_error: bool,
}

/// A call that waits for someone.
#[derive(Debug)]
pub struct Suspension {
    /// What is asked, in the protocol's own shape.
    pub questions: Box<RawValue>,
    /// From a source, its own state; from the dispatcher, that state sealed.
    pub state: String,
}

/// A call that goes on as a task of its source.
#[derive(Debug)]
pub struct TaskHandle {
    pub id: String,
}

/// Whose session at the source a call uses. Sessions are never shared between two identities.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum UpstreamIdentity {
    /// The source holds one credential for everybody.
    Shared,
    User(UserId),
}
