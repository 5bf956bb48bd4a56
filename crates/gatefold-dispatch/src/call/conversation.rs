//! A call, and the questions that its source asks the client on the way.

use std::sync::Arc;

use gatefold_catalog::{Request, ResolvedEntry};
use gatefold_core::{Call, CallError, Operation, Outcome, Resume, Suspension, ToolId};
use serde_json::value::{RawValue, to_raw_value};

use crate::call::ask::{ClientQuestions, FailedQuestion, OPEN_QUESTIONS, read_questions};
use crate::call::chain::Chain;
use crate::{AskError, Caller, Peer, PinnedTurn, QuestionMode};

/// How often in a row a source may suspend one call to ask its client something.
const ROUNDS: usize = 16;

impl PinnedTurn {
    /// Makes a call, and answers its source's questions if its client can be asked at once.
    pub(crate) async fn converse(
        &self,
        request: Request,
        mut resume: Option<Resume>,
        caller: Caller,
        chain: Chain,
    ) -> Result<Outcome, CallError> {
        let Request { operation, entry } = request;
        let mut round = 0;
        loop {
            let call = self.made(&operation, resume.take(), &chain);
            let outcome = self.run(call, entry.as_ref(), &chain, caller.clone()).await?;
            match outcome {
                Outcome::Suspended(suspension)
                    if caller.peer.question_mode() == QuestionMode::Live =>
                {
                    let state = suspension.state.clone();
                    let answered = self.answers(&operation, suspension, round, &caller, &chain);
                    let answered = caller.cancel.run_until_cancelled(answered).await;
                    match answered.unwrap_or(Err(CallError::Cancelled)) {
                        Ok(answers) => resume = Some(answers),
                        Err(error) => {
                            self.give_up(&operation, entry.as_ref(), state, &chain, &error).await;
                            return Err(error);
                        }
                    }
                }
                Outcome::Suspended(suspension) => {
                    if let Some(error) = unanswerable(&operation, &suspension, &*caller.peer) {
                        self.give_up(&operation, entry.as_ref(), suspension.state, &chain, &error)
                            .await;
                        return Err(error);
                    }
                    return Ok(Outcome::Suspended(suspension));
                }
                outcome => return Ok(outcome),
            }
            round += 1;
        }
    }

    /// Ends the record of a suspended call that will not be resumed.
    async fn give_up(
        &self,
        operation: &Arc<Operation>,
        entry: Option<&ResolvedEntry>,
        state: Option<String>,
        chain: &Chain,
        error: &CallError,
    ) {
        let answers = RawValue::NULL.to_owned();
        let call = self.made(operation, Some(Resume { state, answers }), chain);
        self.end_suspended(call, entry, chain, error).await;
    }

    fn made(&self, operation: &Arc<Operation>, resume: Option<Resume>, chain: &Chain) -> Call {
        Call {
            id: self.next_call_id(),
            parent: chain.lineage.parent,
            principal: self.principal.clone(),
            operation: operation.clone(),
            resume,
        }
    }

    /// Asks the client the questions of a suspended call, one after another.
    async fn answers(
        &self,
        operation: &Operation,
        suspension: Suspension,
        round: usize,
        caller: &Caller,
        chain: &Chain,
    ) -> Result<Resume, CallError> {
        let tool = || ToolId::new(operation.subject());
        let unasked = |reason: String| CallError::Unasked { tool: tool(), reason };
        if round >= ROUNDS {
            return Err(unasked(format!("it asked {ROUNDS} times in a row, which is the limit")));
        }
        let asking = ClientQuestions {
            peer: caller.peer.clone(),
            timer: chain.timer.clone(),
            // Between its rounds, a call has no place at its source.
            place: Arc::default(),
            limit: chain.patience.unwrap_or(self.runtime.limits.question),
            failed: FailedQuestion::default(),
            count: chain.questions.clone(),
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

pub(crate) fn unanswered(tool: ToolId, method: String, error: &AskError) -> CallError {
    CallError::Unanswered { tool, method, reason: error.to_string() }
}

fn object(members: Vec<(String, Box<RawValue>)>) -> Box<RawValue> {
    let members: std::collections::BTreeMap<_, _> = members.into_iter().collect();
    to_raw_value(&members).expect("answers have only text keys")
}
