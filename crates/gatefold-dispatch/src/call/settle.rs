//! The outcome of a call: what its caller gets, what its record says, and what it is bound to if it
//! continues.

use std::sync::Arc;

use gatefold_catalog::{object_fields, with_fields};
use gatefold_core::{
    CallError, CallId, Digest, Outcome, Payload, Principal, Suspension, Target, TaskHandle,
    Timestamp, ToolId,
};
use gatefold_policy::Permit;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::ActiveCall;
use super::ask::unanswered;
use crate::questions::FailedQuestion;
use crate::records::{AuditOutcome, DecidedBy};
use crate::seal::{SealKey, SealedCall, SealedState, principal_digest};

/// What a suspended call is bound to.
pub(super) struct BoundCall {
    pub(super) call: CallId,
    pub(super) operation: &'static str,
    pub(super) target: Arc<Target>,
    pub(super) arguments: Digest,
    /// Who approved it. It needs no second approval to continue.
    pub(super) approved_by: Option<DecidedBy>,
}

impl BoundCall {
    pub(super) fn of(permit: &Permit, approved_by: Option<DecidedBy>) -> Self {
        let (call, arguments) = (permit.call(), permit.arguments_digest());
        let operation = call.operation.as_str();
        let target = permit.target().clone();
        Self { call: call.id, operation, target, arguments, approved_by }
    }
}

/// The caller's result, the record's outcome, and the bytes of the result.
pub(super) type SettledCall = (Result<Outcome, CallError>, AuditOutcome, usize);

impl ActiveCall {
    /// Seals a suspension, and decides which outcome to record.
    pub(super) fn settle(
        &self,
        result: Result<Outcome, CallError>,
        bound: &BoundCall,
    ) -> SettledCall {
        match result {
            Ok(Outcome::Done(payload)) => {
                let outcome =
                    if payload.is_error { AuditOutcome::ToolError } else { AuditOutcome::Done };
                let bytes = payload.json.get().len();
                (Ok(Outcome::Done(payload)), outcome, bytes)
            }
            Ok(Outcome::Suspended(Suspension { questions, state, .. })) => {
                let bytes = questions.get().len();
                let state = SealedState::Source(state);
                let (suspension, expires_at) = self.seal(bound, questions, state);
                let outcome = AuditOutcome::Suspended(expires_at);
                (Ok(Outcome::Suspended(suspension)), outcome, bytes)
            }
            Ok(Outcome::Task(task)) => {
                let key = &self.turn.dispatcher.ports.seal;
                let task = sealed_task(task, &bound.target.id, key, &self.turn.principal);
                let bytes = task.json.get().len();
                (Ok(Outcome::Task(task)), AuditOutcome::Task, bytes)
            }
            Err(CallError::Cancelled) => (Err(CallError::Cancelled), AuditOutcome::Cancelled, 0),
            Err(error) => {
                let kind = error.kind();
                (Err(error), AuditOutcome::Failed(kind), 0)
            }
        }
    }

    /// A suspension whose state is bound to this call, and until when it can be resumed.
    pub(super) fn seal(
        &self,
        bound: &BoundCall,
        questions: Box<RawValue>,
        state: SealedState,
    ) -> (Suspension, Timestamp) {
        let expires_at = self.now().plus(self.turn.runtime.limits.suspension);
        let sealed = SealedCall {
            call: bound.call,
            principal: principal_digest(&self.turn.principal),
            operation: bound.operation.to_owned(),
            target: bound.target.id.clone(),
            definition: bound.target.digest,
            arguments: bound.arguments,
            expires_at,
            approved_by: bound.approved_by.clone(),
            state,
        };
        let state = Some(sealed.seal(&self.turn.dispatcher.ports.seal));
        (Suspension { questions, state }, expires_at)
    }
}

/// Refuses a result that is larger than its call may have.
pub(super) fn check_size(
    outcome: Outcome,
    target: &Target,
    limit: u64,
) -> Result<Outcome, CallError> {
    match outcome {
        Outcome::Done(payload) if payload.exceeds(usize::try_from(limit).unwrap_or(usize::MAX)) => {
            let size = payload.json.get().len() as u64;
            Err(CallError::TooLarge { tool: target.id.clone(), size, limit })
        }
        outcome => Ok(outcome),
    }
}

/// If a call fails after one of its questions went unanswered, adds that to the source's own error.
/// The question may be unrelated: many servers ask for roots when they start, and cope without.
pub(super) fn with_unanswered(
    result: Result<Outcome, CallError>,
    failed: &FailedQuestion,
    target: &Target,
) -> Result<Outcome, CallError> {
    let Some((method, error)) = failed.get() else {
        return result;
    };
    let note = || unanswered(target.id.clone(), method.clone(), error).to_string();
    match result {
        Ok(Outcome::Done(payload)) if payload.is_error => {
            Ok(Outcome::Done(with_note(payload, &note())))
        }
        Err(CallError::Refused { tool, code, message, data }) => {
            let message = format!("{message} ({})", note());
            Err(CallError::Refused { tool, code, message, data })
        }
        Err(CallError::InvalidArguments { tool, message, data }) => {
            let message = format!("{message} ({})", note());
            Err(CallError::InvalidArguments { tool, message, data })
        }
        Err(CallError::MissingResource { tool, message, data }) => {
            let message = format!("{message} ({})", note());
            Err(CallError::MissingResource { tool, message, data })
        }
        other => other,
    }
}

/// The result with one more text after its content.
fn with_note(payload: Payload, note: &str) -> Payload {
    let block = json!({ "type": "text", "text": note }).to_string();
    let text = payload.json.get();
    let fields = object_fields(text).unwrap_or_default();
    let noted = if fields.iter().any(|(key, _)| key == "content") {
        with_fields(text, |key, value| match value.strip_suffix(']') {
            Some(items) if key == "content" => {
                let comma = if items.trim_end() == "[" { "" } else { "," };
                format!("{items}{comma}{block}]").into()
            }
            _ => value.into(),
        })
    } else {
        text.strip_prefix('{').map(|rest| {
            let comma = if fields.is_empty() { "" } else { "," };
            format!(r#"{{"content":[{block}]{comma}{rest}"#)
        })
    };
    let noted = noted.and_then(|json| RawValue::from_string(json).ok());
    Payload { json: noted.unwrap_or(payload.json), ..payload }
}

/// The content of a task's id, so that nothing needs to be stored for it. The id works after a
/// restart and on every replica, only for its owner, and its text is always the same.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SealedTask {
    /// The tool whose call became the task.
    pub(super) tool: ToolId,
    /// The source's own id. Empty for a task that runs here.
    pub(super) task: String,
    principal: Digest,
    /// The task that runs here. A source cannot write this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) own: Option<OwnTask>,
}

/// A task that runs in a dispatcher: which one, and the call that became it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OwnTask {
    pub(super) owner: u64,
    pub(super) call: CallId,
}

impl SealedTask {
    /// The content of the id of a task that runs here.
    pub(super) fn own(own: OwnTask, tool: &ToolId, principal: &Principal) -> Self {
        let principal = principal_digest(principal);
        Self { tool: tool.clone(), task: String::new(), principal, own: Some(own) }
    }

    /// Reads an id that was given out to this principal.
    pub(super) fn open(text: &str, key: &SealKey, principal: &Principal) -> Option<Self> {
        let sealed: Self = key.open(text)?;
        (sealed.principal == principal_digest(principal)).then_some(sealed)
    }
}

/// A source's task with our id, in its description as well.
fn sealed_task(
    handle: TaskHandle,
    tool: &ToolId,
    key: &SealKey,
    principal: &Principal,
) -> TaskHandle {
    let principal = principal_digest(principal);
    let id = key.seal(&SealedTask { tool: tool.clone(), task: handle.id, principal, own: None });
    let json = renamed(&handle.json, &id).unwrap_or(handle.json);
    TaskHandle { id, json }
}

/// The description with another id.
fn renamed(json: &RawValue, id: &str) -> Option<Box<RawValue>> {
    let id = to_raw_value(id).ok()?;
    let renamed = with_fields(json.get(), |key, value| match key {
        "taskId" => id.get().to_owned().into(),
        _ => value.into(),
    })?;
    RawValue::from_string(renamed).ok()
}

#[cfg(test)]
mod tests {
    use gatefold_core::UserId;

    use super::*;

    #[test]
    fn an_id_is_read_by_its_owner_alone_and_always_reads_the_same() {
        let (key, other) = (SealKey::new([1; 32]), SealKey::new([2; 32]));
        let [ann, bob] = ["ann", "bob"].map(|user| Principal::user(UserId::new(user)));
        let json = r#"{"status":"working","taskId":"7","ttlMs":1.50}"#;
        let made = |key: &SealKey| {
            let json = RawValue::from_string(json.to_owned()).unwrap();
            let handle = TaskHandle { id: "7".to_owned(), json };
            sealed_task(handle, &ToolId::new("mail__send"), key, &ann)
        };
        let task = made(&key);
        assert_eq!(task.id, made(&key).id);
        let named = format!(r#"{{"status":"working","taskId":"{}","ttlMs":1.50}}"#, task.id);
        assert_eq!(task.json.get(), named);
        let read = SealedTask::open(&task.id, &key, &ann).unwrap();
        assert_eq!((read.tool.as_str(), &*read.task), ("mail__send", "7"));
        for (id, key, who) in [
            (&*task.id, &key, &bob),
            (&task.id, &other, &ann),
            (&format!("A{}", task.id), &key, &ann),
            ("7", &key, &ann),
        ] {
            assert_eq!(SealedTask::open(id, key, who), None, "{id}");
        }
    }
}
