//! What a person sees while a model answers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gatefold_agent::{AgentEvent, CALLS_PER_ANSWER, RunEnd, RunWatcher, Shortage};
use gatefold_core::ApprovalId;
use gatefold_model::{Delta, Origin};

use crate::cli::output::Output;

/// Prints an answer as it comes.
pub(super) struct ChatScreen<'o> {
    output: &'o Output,
    /// Whose answers need no mention.
    origin: Origin,
    state: Mutex<ScreenState>,
}

#[derive(Default)]
struct ScreenState {
    /// Whether the last line has not ended.
    is_within_line: bool,
    /// Whether this answer's thinking was mentioned.
    thinks: bool,
    /// The approvals that calls wait for, at most [`CALLS_PER_ANSWER`].
    waiting: Vec<ApprovalId>,
}

impl<'o> ChatScreen<'o> {
    pub(super) fn new(output: &'o Output, origin: Origin) -> Self {
        Self { output, origin, state: Mutex::default() }
    }

    /// Ends the line of an answer, if it has not ended.
    pub(super) fn end_line(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.is_within_line) {
            self.output.line("");
        }
        state.thinks = false;
    }

    /// Tells how the answer ended, if it is not whole.
    pub(super) fn tell_end(&self, end: Option<&RunEnd>, is_kept: bool) {
        let output = self.output;
        match end {
            Some(RunEnd::Short { of: Shortage::Room }) => output.warning(
                "the conversation has become too long for the model: take back some of it with `/undo`, \
                 or begin anew with `/agent`",
            ),
            Some(RunEnd::Short { of }) => {
                output.warning(&format!("the answer may lack something: {of}"));
            }
            Some(RunEnd::Refused) => output.warning("the model, or its provider, would not answer"),
            Some(RunEnd::Failed { reason, is_final }) => {
                output.error(reason);
                if *is_final {
                    output.complain("  help: `gatefold models check` says what is wrong");
                }
            }
            Some(RunEnd::DaySpent { reason }) => {
                output.error(reason);
                output.complain("  help: `/model NAME` goes on with another");
            }
            Some(RunEnd::Cancelled) => output.complain("stopped; Ctrl-C once more ends the chat"),
            Some(RunEnd::Answered) | None => {}
        }
        if !is_kept {
            output.complain("your message was not answered, and is forgotten");
        }
    }

    /// The approvals that the run waits for.
    pub(super) fn waiting(&self) -> Vec<ApprovalId> {
        self.state().waiting.clone()
    }

    fn state(&self) -> MutexGuard<'_, ScreenState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunWatcher for ChatScreen<'_> {
    fn on_delta(&self, delta: &Delta) {
        let mut state = self.state();
        match delta {
            Delta::Text(text) if !text.is_empty() => {
                self.output.piece(text);
                state.is_within_line = !text.ends_with('\n');
            }
            Delta::Thinking(_) if self.output.is_terminal() && !state.thinks => {
                state.thinks = true;
                self.output.line(&self.output.style().faint("thinking"));
            }
            _ => {}
        }
    }

    fn on_wait(&self, _: usize, approval: &ApprovalId) {
        let mut state = self.state();
        if state.waiting.len() < CALLS_PER_ANSWER {
            state.waiting.push(approval.clone());
        }
    }

    fn on_event(&self, event: &AgentEvent) {
        match event {
            AgentEvent::Answered { answer } => {
                self.end_line();
                if answer.message.origin != self.origin {
                    self.output.warning(FALLBACK);
                }
            }
            AgentEvent::Compacted { .. } => {
                self.end_line();
                let line = "made room: `/context` says what the model sees of this conversation";
                self.output.line(&self.output.style().faint(line));
            }
            _ => {}
        }
    }
}

/// What people are told of an answer by another model.
pub(super) const FALLBACK: &str = "the model could not be asked, so its fallback answered";
