//! What sources answer, as every client takes it.

use gatefold_catalog::{AnswerKind, repair_answer};
use gatefold_core::{Operation, Outcome, Payload, Suspension, TaskHandle};
use serde_json::value::RawValue;

pub(crate) fn answer_kind(operation: &Operation) -> AnswerKind {
    match operation {
        Operation::Tool { .. } => AnswerKind::Tool,
        Operation::Prompt { .. } => AnswerKind::Prompt,
        Operation::Resource(_) => AnswerKind::Resource,
        _ => AnswerKind::Other,
    }
}

pub(crate) fn repair(outcome: Outcome, kind: AnswerKind) -> Outcome {
    match outcome {
        Outcome::Done(Payload { json, is_error }) => {
            Outcome::Done(Payload { json: repair_json(json, kind), is_error })
        }
        Outcome::Suspended(Suspension { questions, state }) => {
            let questions = repair_json(questions, AnswerKind::Other);
            Outcome::Suspended(Suspension { questions, state })
        }
        Outcome::Task(TaskHandle { id, json }) => {
            Outcome::Task(TaskHandle { id, json: repair_json(json, AnswerKind::Other) })
        }
    }
}

fn repair_json(json: Box<RawValue>, kind: AnswerKind) -> Box<RawValue> {
    match repair_answer(json.get(), kind) {
        // An answer that its source wrote is still better than none.
        Some(text) => RawValue::from_string(text).unwrap_or(json),
        None => json,
    }
}
