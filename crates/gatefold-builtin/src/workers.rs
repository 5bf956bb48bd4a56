//! What takes its time from what a caller or a stranger wrote, given to a worker. [`crate::tasks`] is the worker's side.

use std::time::Duration;

use gatefold_core::Principal;
use gatefold_dispatch::DataOwner;
use gatefold_worker::{Job, WorkerError, WorkerPool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compute;
use crate::{BuiltinAnswer, BuiltinError};

/// The name of the task that does all of this.
pub(crate) const TASK: &str = "builtin";

/// How long a worker has to end by itself, with what it has found, before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// Which tool works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WorkKind {
    Calculate,
    /// The JSON is the message's body.
    JsonQuery,
    Text,
    SearchFiles,
    /// The page is the message's body.
    Page,
}

/// Something to do for a caller.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CallerWork {
    pub(crate) kind: WorkKind,
    pub(crate) arguments: Value,
    pub(crate) time: Duration,
}

/// What a worker answers when it has no answer for the caller.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum WorkFault {
    Arguments(String),
    Unavailable { reason: String, source: Option<String> },
}

impl CallerWork {
    pub(crate) fn new(kind: WorkKind, arguments: &impl Serialize) -> Result<Self, BuiltinError> {
        let arguments =
            serde_json::to_value(arguments).map_err(|error| BuiltinError::Unavailable {
                reason: "its folder has a name that is not UTF-8".to_owned(),
                source: Some(error.into()),
            })?;
        Ok(Self { kind, arguments, time: compute::TIME })
    }

    /// Allows more time than most work has.
    pub(crate) fn within(self, time: Duration) -> Self {
        Self { time, ..self }
    }
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
        let head = serde_json::to_string(work).expect("JSON values are JSON");
        let owner = DataOwner::lasting(principal);
        let time = work.time;
        let job =
            Job { owner: owner.as_bytes(), task: TASK, head: &head, body, time: time + GRACE };
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
