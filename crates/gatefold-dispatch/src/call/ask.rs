//! Questions from sources to the client behind a call.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatefold_core::{CallError, Operation, Outcome, Resume, Suspension, ToolId};
use serde_json::value::{RawValue, to_raw_value};

use super::ActiveCall;
use crate::questions::{ClientQuestions, FailedQuestion, OPEN_QUESTIONS, read_questions};
use crate::{AskError, Peer};

/// How often in a row a source may suspend one call to ask its client something.
const ROUNDS: usize = 16;

impl ActiveCall {
    /// Asks the client at once what a suspended call needs to go on, or ends its record.
    pub(super) async fn ask(
        &self,
        suspension: Suspension,
        round: usize,
    ) -> Result<Resume, CallError> {
        let state = suspension.state.clone();
        let answered = self.answers(suspension, round);
        let answered = self.caller.cancel.run_until_cancelled(answered).await;
        let answered = answered.unwrap_or(Err(CallError::Cancelled));
        if let Err(error) = &answered {
            self.end_suspended(state, error).await;
        }
        answered
    }

    /// Leaves the questions of a suspended call to its client, which answers with another request.
    pub(super) async fn leave_to_client(
        &self,
        suspension: Suspension,
    ) -> Result<Outcome, CallError> {
        if let Some(error) = unanswerable(&self.operation, &suspension, &*self.caller.peer) {
            self.end_suspended(suspension.state, &error).await;
            return Err(error);
        }
        Ok(Outcome::Suspended(suspension))
    }

    /// Asks the client the questions of a suspended call, one after another.
    async fn answers(&self, suspension: Suspension, round: usize) -> Result<Resume, CallError> {
        let tool = || ToolId::new(self.operation.subject());
        let unasked = |reason: String| CallError::Unasked { tool: tool(), reason };
        if round >= ROUNDS {
            return Err(unasked(format!("it asked {ROUNDS} times in a row, which is the limit")));
        }
        let asking = ClientQuestions {
            peer: self.caller.peer.clone(),
            timer: self.timer.clone(),
            // Between its rounds, a call has no place at its source.
            place: Arc::default(),
            limit: self.patience.unwrap_or(self.turn.runtime.limits.question),
            failed: FailedQuestion::default(),
            count: self.questions.clone(),
            parked: None,
        };
        let questions = read_questions(&suspension.questions)
            .ok_or_else(|| unasked("they cannot be read".to_owned()))?;
        if questions.len() > OPEN_QUESTIONS {
            let reason =
                format!("there are {}, and the limit is {OPEN_QUESTIONS}", questions.len());
            return Err(unasked(reason));
        }
        let mut answers = Vec::with_capacity(questions.len());
        for (key, question) in questions {
            let method = question.method.clone();
            let answer = asking.ask(question).await;
            let answer = answer.map_err(|error| unanswered(tool(), method, &error))?;
            answers.push((key, answer.0));
        }
        let state = suspension.state;
        Ok(Resume { state, answers: object(answers) })
    }
}

/// Why a client cannot answer one of a suspended call's questions, if so: a client is only asked
/// what it declared that it can answer.
fn unanswerable(
    operation: &Operation,
    suspension: &Suspension,
    client: &dyn Peer,
) -> Option<CallError> {
    let questions = read_questions(&suspension.questions)?;
    questions.into_iter().find_map(|(_, question)| {
        let needed = client.capabilities().lacks(&question)?;
        let error = AskError::Unsupported(needed.to_owned());
        Some(unanswered(ToolId::new(operation.subject()), question.method, &error))
    })
}

pub(super) fn unanswered(tool: ToolId, method: String, error: &AskError) -> CallError {
    CallError::Unanswered { tool, method, reason: error.to_string() }
}

fn object(members: Vec<(String, Box<RawValue>)>) -> Box<RawValue> {
    let members: BTreeMap<_, _> = members.into_iter().collect();
    to_raw_value(&members).expect("answers have only text keys")
}
