//! Parts of a result that a program, a query or a pattern chooses, read by a worker.

use std::time::Duration;

use gatefold_core::ToolId;
use gatefold_dispatch::DataOwner;
use gatefold_results::{
    KeptResult, ReadAnswer, ReadRequest, ReadingError, ResultPart, ResultReading, TokenBudget, read,
};
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerPool};
use serde::{Deserialize, Serialize};

/// How long a program, a query or a pattern may run.
const MAX_TIME: Duration = Duration::from_secs(5);

/// What a worker does to read a part of a result.
pub const READ_TASK: Task = Task { name: "read_result", run: read_part };

/// What to read. The text is the message's body.
#[derive(Serialize, Deserialize)]
struct ReadJob {
    handle: String,
    reading: ResultReading,
    tool: String,
    budget: usize,
}

/// Whether what a caller wrote decides how long a reading takes.
pub(super) fn runs_a_program(part: &ResultPart) -> bool {
    matches!(part, ResultPart::Jq(_) | ResultPart::Sql(_) | ResultPart::Grep(_))
}

pub(super) async fn read_in_worker(
    workers: &WorkerPool,
    owner: &DataOwner,
    text: &str,
    request: &ReadRequest,
    (reader, budget): (&ToolId, TokenBudget),
) -> Result<ReadAnswer, ReadingError> {
    let job = ReadJob {
        handle: request.handle.clone(),
        reading: request.reading.clone(),
        tool: reader.to_string(),
        budget: budget.tokens(),
    };
    let head = serde_json::to_string(&job).expect("texts and numbers are JSON");
    let job = Job {
        owner: owner.as_bytes(),
        task: READ_TASK.name,
        head: &head,
        body: text.as_bytes(),
        time: MAX_TIME,
    };
    let answer = workers.run(&job).await;
    let answer = answer.map_err(|error| reading_error(&error, &request.reading.part))?;
    serde_json::from_str(&answer.head).unwrap_or_else(|_| {
        let error = WorkerError::Broken("it answered in other words".to_owned());
        Err(reading_error(&error, &request.reading.part))
    })
}

fn read_part(message: &Message, _: &mut Conversation<'_>) -> Message {
    let text = String::from_utf8_lossy(&message.body);
    let job: ReadJob = serde_json::from_str(&message.head).expect("the other side writes it so");
    let kept = KeptResult { handle: &job.handle, tool: &job.tool };
    let answer = read(&text, &job.reading, &kept, TokenBudget::new(job.budget));
    Message::new(serde_json::to_string(&answer).expect("texts are JSON"), [])
}

fn reading_error(error: &WorkerError, part: &ResultPart) -> ReadingError {
    let (what, advice) = match part {
        ResultPart::Jq(_) => (
            "the jq program",
            "select fewer values first, or read a part of the result with `path` or `grep`",
        ),
        ResultPart::Sql(_) => ("the query", "make it simpler, or read fewer rows"),
        _ => ("the pattern of `grep`", "make it simpler"),
    };
    let advice = match error {
        WorkerError::Absent => "read a part of the result with `path`, `lines` or `chars`",
        WorkerError::Busy | WorkerError::Start(_) => "try again shortly",
        _ => advice,
    };
    tracing::debug!(?error, "a worker did not read a part of a result");
    ReadingError::TooMuch(format!("{what} {error}: {advice}"))
}
