//! What takes its time from what a caller or a stranger wrote, done by a worker.

use std::time::Duration;

use gatefold_core::Principal;
use gatefold_dispatch::DataOwner;
use gatefold_worker::{Conversation, Job, Message, Task, WorkerError, WorkerPool};
use serde::{Deserialize, Serialize};

use crate::compute::{self, StopSign};
use crate::files::FileWork;
use crate::text::TextArguments;
use crate::web::FetchedPage;

use crate::{BuiltinAnswer, BuiltinError, calculate, json_query, text, web};

/// How long a worker has to end by itself, with what it has found, before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// What a worker does for these tools.
pub const BUILTIN_TASK: Task = Task { name: "builtin", run: perform };

/// Something to do for a caller.
#[derive(Serialize, Deserialize)]
pub(crate) enum CallerWork {
    Calculate {
        expression: String,
    },
    /// The JSON is the message's body.
    JsonQuery {
        filter: String,
    },
    Text(TextArguments),
    Files(FileWork),
    /// The page is the message's body.
    Page(FetchedPage),
}

impl CallerWork {
    fn time(&self) -> Duration {
        match self {
            Self::Page(page) => page.time(),
            _ => compute::TIME,
        }
    }
}

/// What a worker answers when it has no answer for the caller.
#[derive(Serialize, Deserialize)]
enum WorkFault {
    Arguments(String),
    Unavailable { reason: String, source: Option<String> },
}

#[derive(Clone)]
pub(crate) struct Workers(WorkerPool);

impl Workers {
    pub(crate) fn new(pool: WorkerPool) -> Self {
        Self(pool)
    }

    pub(crate) async fn run(
        &self,
        principal: &Principal,
        work: &CallerWork,
        body: &[u8],
    ) -> Result<BuiltinAnswer, BuiltinError> {
        let head = serde_json::to_string(work).map_err(|error| BuiltinError::Unavailable {
            reason: "its folder has a name that is not UTF-8".to_owned(),
            source: Some(error.into()),
        })?;
        let time = work.time();
        let owner = DataOwner::lasting(principal);
        let job = Job {
            owner: owner.as_bytes(),
            task: BUILTIN_TASK.name,
            head: &head,
            body,
            time: time + GRACE,
        };
        let answer = self.0.run(&job).await.map_err(|error| failure(error, time))?;
        let answer = serde_json::from_str::<Result<BuiltinAnswer, WorkFault>>(&answer.head);
        answer.map_err(|error| failure(WorkerError::Broken(error.to_string()), time))?.map_err(
            |fault| match fault {
                WorkFault::Arguments(message) => BuiltinError::Arguments(message),
                WorkFault::Unavailable { reason, source } => {
                    BuiltinError::Unavailable { reason, source: source.map(Into::into) }
                }
            },
        )
    }
}

/// Whatever breaks a worker was written by the caller or by somebody whom the caller chose, so it does not count
/// against the tools.
fn failure(error: WorkerError, time: Duration) -> BuiltinError {
    tracing::debug!(?error, "a worker did not answer a call");
    match error {
        WorkerError::Absent => BuiltinError::unavailable("there is no worker to run it"),
        WorkerError::Busy | WorkerError::Start(_) => BuiltinError::Busy,
        WorkerError::Time(_) => compute::longer_than(time),
        error => BuiltinError::arguments(format!("it {error}; ask for less")),
    }
}

fn perform(job: &Message, _: &mut Conversation<'_>) -> Message {
    let work = serde_json::from_str(&job.head).expect("the other side writes it so");
    let answer = answer(work, &job.body).map_err(|error| match error {
        BuiltinError::Unavailable { reason, source } => {
            WorkFault::Unavailable { reason, source: source.map(|source| source.to_string()) }
        }
        error => WorkFault::Arguments(error.to_string()),
    });
    Message::new(serde_json::to_string(&answer).expect("an answer is JSON"), [])
}

fn answer(work: CallerWork, body: &[u8]) -> Result<BuiltinAnswer, BuiltinError> {
    let sign = StopSign::after(work.time());
    match work {
        CallerWork::Calculate { expression } => calculate::calculated(&expression),
        CallerWork::JsonQuery { filter } => {
            json_query::queried(&String::from_utf8_lossy(body), &filter)
        }
        CallerWork::Text(asked) => text::answer(asked),
        CallerWork::Files(work) => work.answer(&sign),
        CallerWork::Page(page) => web::shown(&page, body, &sign),
    }
}
