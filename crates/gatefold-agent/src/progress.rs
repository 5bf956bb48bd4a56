//! How far an answer came, and why it came no further.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use gatefold_dispatch::UsedTokens;
use gatefold_model::{Delta, ModelAnswer, ModelError, TryWatcher};

use crate::AgentEvent;
use crate::estimate::{count_tokens, tokens_of};

/// Why a model gave no answer.
pub(crate) enum AnswerFailure {
    Cancelled,
    /// It did not within this time.
    Late(Duration),
    /// It answers no more today to the person whose run it is, as these words say.
    DaySpent(String),
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
            AnswerFailure::DaySpent(reason) => Self::DaySpent { reason },
            AnswerFailure::Model(error @ ModelError::Overflow { .. }) => {
                Self::Overflowed { reason: error.to_string() }
            }
            AnswerFailure::Model(error) => {
                Self::NotAnswered { reason: error.to_string(), is_final: error.is_final() }
            }
        }
    }
}

/// The most failed tries of one request that count: four for each of sixteen models.
const FAILED_TRIES: usize = 64;

/// How far an answer came. It outlives the answer's own future, so that one which is dropped counts.
#[derive(Default)]
pub(crate) struct AnswerProgress {
    /// The place of the model that is asked or answers, and one more; 0 while none is.
    current: AtomicUsize,
    /// The places of those that may have worked on a try that failed, at most [`FAILED_TRIES`].
    failed: Mutex<Vec<usize>>,
    bytes: AtomicUsize,
}

impl TryWatcher for AnswerProgress {
    fn on_try(&self, place: usize) {
        self.current.store(place + 1, Ordering::Relaxed);
    }

    fn on_failure(&self, place: usize, error: &ModelError) {
        self.current.store(0, Ordering::Relaxed);
        if !error.is_free() {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.len() < FAILED_TRIES {
                failed.push(place);
            }
        }
    }
}

impl AnswerProgress {
    pub(crate) fn note(&self, delta: &Delta) {
        let (Delta::Text(text)
        | Delta::Thinking(text)
        | Delta::Call { name: text, .. }
        | Delta::Arguments { json: text, .. }) = delta;
        self.bytes.fetch_add(text.len(), Ordering::Relaxed);
    }

    /// What each model took, by its place: a prompt for each failed try, and at the end the answer, also one
    /// that never became whole. Nothing if no model can have begun.
    pub(crate) fn uses(
        &self,
        prompt: u64,
        answer: Option<&ModelAnswer>,
    ) -> Vec<(usize, UsedTokens)> {
        let guess = |output| UsedTokens { input: prompt, output, cached: 0, is_estimated: true };
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let mut uses: Vec<_> = failed.iter().map(|place| (*place, guess(0))).collect();
        if let Some(place) = self.current.load(Ordering::Relaxed).checked_sub(1) {
            let cut_off = || guess(tokens_of(self.bytes.load(Ordering::Relaxed)));
            let tokens = answer.map_or_else(cut_off, |answer| count_tokens(answer, prompt));
            uses.push((place, tokens));
        }
        uses
    }
}
