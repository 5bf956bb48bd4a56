//! What passes between the source of a call and the caller's client while the call lasts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::limits::timer::{Timer, TimerPause};

/// A message from a source during a call.
#[derive(Debug, Clone)]
pub enum Event {
    /// Progress in the source's own words: the members `progress`, `total` and `message`.
    Progress(Box<RawValue>),
    /// A log message: the members `level`, `logger` and `data`.
    Log(Box<RawValue>),
    /// The source has ended its stream before the answer and asks us to come back after this time.
    /// A caller whose client can be told so may free its connection as well.
    Pause { retry: Duration },
    /// Any other notification.
    Notice { method: String, params: Box<RawValue> },
}

impl Event {
    /// About how much memory it takes, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Progress(params) | Self::Log(params) => params.get().len(),
            Self::Pause { .. } => 0,
            Self::Notice { method, params } => method.len() + params.get().len(),
        }
    }
}

/// Stops the clock of a call while it lives.
#[derive(Debug, Default)]
pub struct CallPause {
    _timer: Option<TimerPause>,
}

impl CallPause {
    pub(crate) fn of(timer: &Arc<Timer>) -> Self {
        Self { _timer: Some(timer.pause()) }
    }
}

/// How a client is asked something during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionMode {
    /// Over its connection, while its request waits.
    Live,
    /// By ending its request with the question. The client then repeats the request with the
    /// answer.
    ByRetry,
}

/// The client's result object, as it came.
#[derive(Debug)]
pub struct Answer(pub Box<RawValue>);

/// Why a question got no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AskError {
    #[error("the client does not offer {0}")]
    Unsupported(String),
    #[error("the client is gone")]
    Gone,
    #[error("the client did not answer in time")]
    Deadline,
    #[error("the call has asked its client {limit} times, which is the limit")]
    TooMany { limit: usize },
    /// The client answered with a protocol error.
    #[error("the client refused to answer: {message}")]
    Refused { code: i64, message: String },
}
