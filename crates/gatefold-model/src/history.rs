//! A conversation that every provider takes.

use serde::{Deserialize, Serialize};

use crate::{AssistantMessage, UserMessage, UserPart};

/// Something that would leave a history in two halves.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    #[error("the model made {calls} calls, and {results} of them have a result")]
    Unanswered { calls: usize, results: usize },
    #[error("a history begins with what a person says")]
    NoBeginning,
    #[error("the model said something that nobody asked for")]
    Unasked,
}

/// All that was said, from the first request on.
///
/// It begins with a request, and each thing that a model said answers something. A call is in it
/// only with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Turn>", into = "Vec<Turn>")]
pub struct History {
    turns: Vec<Turn>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    User(UserMessage),
    Round(Round),
}

/// What a model said, and the result of each of its calls, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoredRound", into = "StoredRound")]
pub struct Round {
    said: AssistantMessage,
    results: Vec<ToolResult>,
}

/// What came of a call: texts, which may be blank here, and images.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub parts: Vec<UserPart>,
    pub is_error: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredRound {
    said: AssistantMessage,
    results: Vec<ToolResult>,
}

impl History {
    pub fn new(request: UserMessage) -> Self {
        Self { turns: vec![Turn::User(request)] }
    }

    /// Adds what a person says. It may follow the results of calls.
    pub fn say(&mut self, message: UserMessage) {
        self.turns.push(Turn::User(message));
    }

    /// Adds a round, if something waits for it.
    pub fn push(&mut self, round: Round) -> Result<(), HistoryError> {
        if !self.awaits_answer() {
            return Err(HistoryError::Unasked);
        }
        self.turns.push(Turn::Round(round));
        Ok(())
    }

    /// Whether it is the model's turn: a person spoke last, or calls were answered.
    pub fn awaits_answer(&self) -> bool {
        match self.turns.last() {
            Some(Turn::Round(round)) => !round.results.is_empty(),
            _ => true,
        }
    }

    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }
}

impl Round {
    /// A round with the results of all calls, in the order of the calls.
    pub fn new(said: AssistantMessage, results: Vec<ToolResult>) -> Result<Self, HistoryError> {
        let calls = said.calls().count();
        if calls != results.len() {
            return Err(HistoryError::Unanswered { calls, results: results.len() });
        }
        Ok(Self { said, results })
    }

    pub fn said(&self) -> &AssistantMessage {
        &self.said
    }

    pub fn results(&self) -> &[ToolResult] {
        &self.results
    }
}

impl ToolResult {
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![UserPart::Text(text.into())], is_error: false }
    }

    /// What went wrong, in words that mend the call.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

impl TryFrom<Vec<Turn>> for History {
    type Error = HistoryError;

    fn try_from(turns: Vec<Turn>) -> Result<Self, HistoryError> {
        let mut turns = turns.into_iter();
        let Some(Turn::User(first)) = turns.next() else { return Err(HistoryError::NoBeginning) };
        let mut history = Self::new(first);
        for turn in turns {
            match turn {
                Turn::User(message) => history.say(message),
                Turn::Round(round) => history.push(round)?,
            }
        }
        Ok(history)
    }
}

impl From<History> for Vec<Turn> {
    fn from(history: History) -> Self {
        history.turns
    }
}

impl TryFrom<StoredRound> for Round {
    type Error = HistoryError;

    fn try_from(stored: StoredRound) -> Result<Self, HistoryError> {
        Self::new(stored.said, stored.results)
    }
}

impl From<Round> for StoredRound {
    fn from(round: Round) -> Self {
        Self { said: round.said, results: round.results }
    }
}
