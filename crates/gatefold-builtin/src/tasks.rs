//! The worker's side of these tools.

use gatefold_worker::{Conversation, Message, Task};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::compute::StopSign;
use crate::files::FileSearchJob;
use crate::workers::{CallerWork, TASK, WorkFault, WorkKind};
use crate::{BuiltinAnswer, BuiltinError, calculate, json_query, text, web};

/// What a worker does for these tools.
pub const BUILTIN_TASK: Task = Task { name: TASK, run: perform };

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
    let CallerWork { kind, arguments, time } = work;
    match kind {
        WorkKind::Calculate => calculate::calculate(&read::<String>(arguments)),
        WorkKind::JsonQuery => {
            json_query::query(&String::from_utf8_lossy(body), &read::<String>(arguments))
        }
        WorkKind::Text => text::answer(read(arguments)),
        WorkKind::SearchFiles => read::<FileSearchJob>(arguments).answer(&StopSign::after(time)),
        WorkKind::Page => web::show_page(&read(arguments), body),
    }
}

fn read<T: DeserializeOwned>(arguments: Value) -> T {
    serde_json::from_value(arguments).expect("the other side writes them so")
}
