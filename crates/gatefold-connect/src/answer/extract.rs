//! What the jq program of an action makes of an answer. A stranger sent the answer, so it runs in a worker.

use std::time::Duration;

use gatefold_core::{CallEffect, Principal};
use gatefold_dispatch::DataOwner;
use gatefold_results::{JqFault, check_jq, run_jq};
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerPool};
use serde_json::value::RawValue;
use tokio::time::Instant;

/// What a worker does for actions with a program.
pub const EXTRACT_TASK: Task = Task { name: "extract", run: work };

/// How long a program may wait for a worker, and then how long it may run.
const MAX_TIME: Duration = Duration::from_secs(5);

/// What is wrong with the jq program of an action, if anything is.
pub fn check_extract(program: &str) -> Result<(), String> {
    check_jq(program).map_err(|fault| fault.to_string())
}

/// What the program of an action gave.
#[derive(Debug)]
pub(crate) struct ExtractedValues {
    /// One value a line. A text alone is itself.
    pub(super) text: String,
    /// The value, or a list of several.
    pub(super) json: Option<Box<RawValue>>,
}

impl ExtractedValues {
    /// `lines` has one value a line, as JSON.
    fn new(lines: &str) -> Result<Self, String> {
        let lines = lines.trim_end_matches('\n');
        let (text, json) = match lines.lines().count() {
            0 => ("nothing: what this action extracts is empty".to_owned(), None),
            1 => {
                let text = serde_json::from_str(lines).unwrap_or_else(|_| lines.to_owned());
                (text, Some(lines.to_owned()))
            }
            _ => (lines.to_owned(), Some(format!("[{}]", lines.replace('\n', ",")))),
        };
        // jq has numbers that JSON has not.
        let json = json.map(RawValue::from_string).transpose();
        let json = json.map_err(|_| "what this action extracts is not JSON".to_owned())?;
        Ok(Self { text, json })
    }
}

/// Has a worker run a program over an answer. `Err` has words for the model.
pub(crate) async fn extract(
    workers: &WorkerPool,
    principal: &Principal,
    (program, answer): (&str, &str),
    effect: CallEffect,
    deadline: Instant,
) -> Result<ExtractedValues, String> {
    let owner = DataOwner::lasting(principal);
    // At the call's own deadline the failure would be laid to the API, which has answered.
    let left = deadline.saturating_duration_since(Instant::now());
    let time = MAX_TIME.min(left * 2 / 5);
    let (task, body) = (EXTRACT_TASK.name, answer.as_bytes());
    let job = Job { owner: owner.as_bytes(), task, head: program, body, time };
    let answer = workers.run(&job).await.map_err(|error| failure(&error, effect))?;
    let lines = String::from_utf8(answer.body).unwrap_or_default();
    match serde_json::from_str::<Result<(), String>>(&answer.head) {
        Ok(Ok(())) => ExtractedValues::new(&lines),
        Ok(Err(fault)) => Err(fault),
        Err(error) => Err(failure(&WorkerError::Broken(error.to_string()), effect)),
    }
}

/// What ends a worker is the answer of this one call, and says nothing about the API's health.
fn failure(error: &WorkerError, effect: CallEffect) -> String {
    tracing::debug!(?error, "a worker did not extract from an answer");
    let is_ours = matches!(error, WorkerError::Busy | WorkerError::Start(_));
    let advice = match effect {
        CallEffect::Repeatable if !is_ours => "ask for less".into(),
        effect => effect.advice(None),
    };
    match error {
        // How long it had depends on the call.
        WorkerError::Time(_) => {
            format!("this action's program took too long and was stopped; {advice}")
        }
        error => format!("this action's program {error}; {advice}"),
    }
}

fn work(job: &Message, _: &mut Conversation<'_>) -> Message {
    let answer = run(&job.head, &String::from_utf8_lossy(&job.body));
    let (result, lines) = match answer {
        Ok(lines) => (Ok(()), lines),
        Err(fault) => (Err(fault), String::new()),
    };
    Message::new(serde_json::to_string(&result).expect("texts are JSON"), lines)
}

/// The values that a program gives, one a line. The fault says what the answer looks like, and none of its values.
fn run(program: &str, answer: &str) -> Result<String, String> {
    let outcome = run_jq(answer, program).map_err(|fault| match fault {
        JqFault::Program(fault) => format!("this action cannot extract from it: {fault}"),
        JqFault::NotJson | JqFault::LongNumber => {
            "it is no JSON that this action can extract from".to_owned()
        }
        JqFault::Unfit { input, .. } => {
            format!("what this action extracts does not fit the answer: the answer {input}")
        }
        JqFault::TooMuch => "what this action extracts is too much".to_owned(),
    })?;
    Ok(outcome.lines)
}

#[cfg(test)]
impl ExtractedValues {
    /// Without a worker.
    pub(super) fn of(program: &str, answer: &str) -> Result<Self, String> {
        Self::new(&run(program, answer)?)
    }
}
