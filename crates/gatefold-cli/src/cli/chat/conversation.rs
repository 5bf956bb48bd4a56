//! What was said in a chat, and how it is taken back.

use gatefold_agent::AgentRun;
use gatefold_model::{History, Turn, UserMessage};

/// What was said so far, and where each thing that the person said stands in it.
#[derive(Default)]
pub(super) struct Conversation {
    history: Option<History>,
    /// How many turns there were before each thing that the person said.
    said_at: Vec<usize>,
}

impl Conversation {
    /// All of it with what the person says now, for a run to answer. It counts only once it is
    /// [answered](Self::keep).
    pub(super) fn with(&self, message: UserMessage) -> History {
        match &self.history {
            Some(history) => {
                let mut history = history.clone();
                history.say(message);
                history
            }
            None => History::new(message),
        }
    }

    /// Takes over what a run made of it. Returns whether there was anything: a message that nobody
    /// answered is left out, because it would be said twice.
    pub(super) fn keep(&mut self, run: AgentRun) -> bool {
        let before = self.turns().len();
        let history = run.into_history();
        let is_answered =
            history.turns().iter().skip(before).any(|turn| matches!(turn, Turn::Round(_)));
        if is_answered {
            self.said_at.push(before);
            self.history = Some(history);
        }
        is_answered
    }

    /// Takes back the last thing that the person said, with all that followed. Returns whether there
    /// was one.
    pub(super) fn undo(&mut self) -> bool {
        let Some(at) = self.said_at.pop() else { return false };
        let kept = self.turns()[..at].to_vec();
        // Nothing is left before the first.
        self.history = History::try_from(kept).ok();
        true
    }

    pub(super) fn turns(&self) -> &[Turn] {
        self.history.as_ref().map(History::turns).unwrap_or_default()
    }
}
