//! How far an answer came, and why it came no further.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gatefold_dispatch::UsedTokens;
use gatefold_model::{Delta, ModelError};

use crate::AgentEvent;
use crate::estimate::tokens_of;

/// Why a model gave no answer.
pub(crate) enum AnswerFailure {
    Cancelled,
    /// It did not within this time.
    Late(Duration),
    Model(ModelError),
}

impl From<AnswerFailure> for AgentEvent {
    fn from(failure: AnswerFailure) -> Self {
        match failure {
            AnswerFailure::Cancelled => Self::Cancelled,
            AnswerFailure::Late(limit) => {
                let reason = format!("the model did not answer within {} s", limit.as_secs());
                Self::NotAnswered { reason, is_final: false }
            }
            AnswerFailure::Model(error) => {
                Self::NotAnswered { reason: error.to_string(), is_final: error.is_final() }
            }
        }
    }
}

/// How far an answer came. It outlives the answer's own future, so that one which is dropped counts.
#[derive(Default)]
pub(crate) struct AnswerProgress {
    /// The place of the model that answers, and one more; 0 before any does.
    answering: AtomicUsize,
    bytes: AtomicUsize,
}

impl AnswerProgress {
    pub(crate) fn begin(&self, place: usize) {
        self.answering.store(place + 1, Ordering::Relaxed);
    }

    pub(crate) fn note(&self, delta: &Delta) {
        let (Delta::Text(text)
        | Delta::Thinking(text)
        | Delta::Call { name: text, .. }
        | Delta::Arguments { json: text, .. }) = delta;
        self.bytes.fetch_add(text.len(), Ordering::Relaxed);
    }

    pub(crate) fn place(&self) -> Option<usize> {
        self.answering.load(Ordering::Relaxed).checked_sub(1)
    }

    /// What an answer took that never became whole. None if no model can have begun it.
    pub(crate) fn used_tokens(&self, prompt: u64, failure: &AnswerFailure) -> Option<UsedTokens> {
        if let (None, AnswerFailure::Model(error)) = (self.place(), failure)
            && error.is_free()
        {
            return None;
        }
        let output = tokens_of(self.bytes.load(Ordering::Relaxed));
        Some(UsedTokens { input: prompt, output, cached: 0, is_estimated: true })
    }
}
