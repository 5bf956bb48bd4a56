//! An operation as the request that a server understands, and its answer as an outcome.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{
    BoxError, CallError, ExtensionMethod, Operation, Outcome, Payload, Suspension, Target, TaskAct,
    TaskHandle,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::Reply;
use super::params::{CompletionTarget, OutgoingParams};
use crate::protocol::codes::{INVALID_PARAMS, is_of_missing_resource};
use crate::protocol::{Era, RpcError, methods};

/// A request for an operation, without what depends on the session.
pub(crate) struct OperationRequest<'a> {
    pub(crate) method: &'static str,
    /// What the header `Mcp-Name` mirrors, where the method has it.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) params: OutgoingParams<'a>,
    /// Whether it may be sent twice without harm.
    pub(crate) is_repeatable: bool,
}

/// The request for an operation on a target. `None` for an operation that the protocol has no request for.
pub(crate) fn request_for<'a>(
    operation: &'a Operation,
    target: &'a Target,
) -> Option<OperationRequest<'a>> {
    let name = Some(target.name.clone());
    let own = &*target.name;
    let request = match operation {
        Operation::Tool { arguments, .. } => {
            let params = OutgoingParams {
                name: Some(own),
                arguments: Some(arguments),
                ..OutgoingParams::default()
            };
            let is_repeatable = target.hints.is_repeatable();
            OperationRequest { method: methods::TOOLS_CALL, name, params, is_repeatable }
        }
        Operation::Prompt { arguments, .. } => {
            let arguments = Some(&**arguments).filter(|arguments| !is_null(arguments));
            let params = OutgoingParams { name: Some(own), arguments, ..OutgoingParams::default() };
            OperationRequest { method: methods::PROMPTS_GET, name, params, is_repeatable: true }
        }
        Operation::Resource(_) => {
            let params = OutgoingParams { uri: Some(own), ..OutgoingParams::default() };
            OperationRequest { method: methods::RESOURCES_READ, name, params, is_repeatable: true }
        }
        Operation::Complete(completion) => {
            use gatefold_core::Reference as Of;
            let reference = Some(match &completion.reference {
                Of::Prompt(_) => CompletionTarget::Prompt { name: own },
                Of::Resource(_) => CompletionTarget::Resource { uri: own },
            });
            let CompletionParams { argument, context } =
                serde_json::from_str(completion.params.get()).unwrap_or_default();
            let params =
                OutgoingParams { reference, argument, context, ..OutgoingParams::default() };
            OperationRequest { method: methods::COMPLETE, name: None, params, is_repeatable: true }
        }
        Operation::Task(request) => {
            let mut params =
                OutgoingParams { task_id: Some(&request.task), ..OutgoingParams::default() };
            let (method, is_repeatable) = match &request.act {
                TaskAct::Get => (methods::TASKS_GET, true),
                TaskAct::Cancel => (methods::TASKS_CANCEL, true),
                TaskAct::Update(answers) => {
                    params.input_responses = Some(answers);
                    (methods::TASKS_UPDATE, false)
                }
            };
            OperationRequest {
                method,
                name: Some(request.task.as_str().into()),
                params,
                is_repeatable,
            }
        }
        Operation::Extension(request) => {
            let ExtensionMethod { name: method, names_resource, .. } = request.method;
            let (uri, cursor) = (names_resource.then_some(own), request.cursor.as_deref());
            let params = OutgoingParams { uri, cursor, ..OutgoingParams::default() };
            OperationRequest { method, name: None, params, is_repeatable: true }
        }
        Operation::Subscribe(_) | Operation::Unsubscribe(_) => return None,
    };
    Some(request)
}

#[derive(Deserialize, Default)]
struct CompletionParams<'a> {
    #[serde(borrow, default)]
    argument: Option<&'a RawValue>,
    #[serde(borrow, default)]
    context: Option<&'a RawValue>,
}

pub(crate) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// What a server's answer means to the caller.
pub(crate) fn outcome(
    reply: Reply,
    operation: &Operation,
    target: &Target,
    era: Era,
) -> Result<Outcome, CallError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ResultKind<'a> {
        #[serde(default)]
        is_error: Option<bool>,
        #[serde(borrow, default)]
        result_type: Option<&'a RawValue>,
    }
    let result = match reply {
        Reply::Result(result) => result,
        Reply::Error(error) => {
            let RpcError { code, message, data, .. } = error;
            let tool = target.id.clone();
            return Err(match operation {
                // The code covers any parameters, but only a tool's arguments are the caller's to
                // correct.
                Operation::Tool { .. } if code == INVALID_PARAMS => {
                    CallError::InvalidArguments { tool, message, data }
                }
                Operation::Resource(_) if is_of_missing_resource(code, era) => {
                    CallError::MissingResource { tool, message, data }
                }
                _ => CallError::Refused { tool, code, message, data },
            });
        }
    };
    let peek: ResultKind<'_> = serde_json::from_str(result.get())
        .map_err(|error| broken(target, not_a_result(operation), Some(error.into())))?;
    // The handshake era has no result types.
    let kind = peek.result_type.filter(|_| era == Era::Stateless).map_or("complete", kind_of);
    match (kind, operation) {
        ("input_required", _) => suspended(&result, target),
        ("task", _) => task(result, None, target),
        ("complete", Operation::Task(request)) if matches!(request.act, TaskAct::Get) => {
            task(result, Some(&request.task), target)
        }
        ("complete", _) => {
            let is_tool = matches!(operation, Operation::Tool { .. });
            let is_error = is_tool && peek.is_error.unwrap_or(false);
            Ok(Outcome::Done(Payload { json: result, is_error }))
        }
        _ => Err(broken(target, "its result is of a kind that is not known", None)),
    }
}

fn not_a_result(operation: &Operation) -> &'static str {
    match operation {
        Operation::Tool { .. } => "its result is not a tool's result",
        Operation::Prompt { .. } => "its result is not a prompt's result",
        Operation::Resource(_) => "its result is not a resource's result",
        _ => "its result is not an object",
    }
}

fn kind_of(raw: &RawValue) -> &str {
    raw.get().trim_matches('"')
}

/// A result that asks the client something first.
fn suspended(result: &RawValue, target: &Target) -> Result<Outcome, CallError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct QuestionsResult<'a> {
        #[serde(borrow, default)]
        input_requests: Option<&'a RawValue>,
        #[serde(default)]
        request_state: Option<String>,
    }
    let said: QuestionsResult<'_> = serde_json::from_str(result.get())
        .map_err(|error| broken(target, "what it asks cannot be read", Some(error.into())))?;
    let none = || RawValue::from_string("{}".to_owned()).expect("an empty object is JSON");
    let questions = said.input_requests.map_or_else(none, ToOwned::to_owned);
    Ok(Outcome::Suspended(Suspension { questions, state: said.request_state }))
}

fn task(result: Box<RawValue>, known: Option<&str>, target: &Target) -> Result<Outcome, CallError> {
    #[derive(Deserialize)]
    struct TaskId {
        #[serde(default, rename = "taskId")]
        id: Option<String>,
    }
    let TaskId { id } = serde_json::from_str(result.get())
        .map_err(|error| broken(target, "its task cannot be read", Some(error.into())))?;
    let id = id.or_else(|| known.map(str::to_owned));
    let id = id.ok_or_else(|| broken(target, "its task has no id", None))?;
    Ok(Outcome::Task(TaskHandle { id, json: result }))
}

/// How long a task lives from its beginning, if it says so.
pub(crate) fn lifetime(task: &RawValue) -> Option<Duration> {
    #[derive(Deserialize)]
    struct TaskLifetime {
        #[serde(default, rename = "ttlMs")]
        ttl_ms: Option<f64>,
    }
    let task: TaskLifetime = serde_json::from_str(task.get()).ok()?;
    Duration::try_from_secs_f64(task.ttl_ms? / 1000.0).ok()
}

fn broken(target: &Target, reason: &str, source: Option<BoxError>) -> CallError {
    let (domain, reason) = (target.domain.clone(), reason.to_owned());
    CallError::Protocol { domain, reason, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_lives_as_long_as_it_says() {
        for (task, expected) in [
            (r#"{"taskId":"1","ttlMs":1500}"#, Some(Duration::from_millis(1500))),
            (r#"{"taskId":"1","ttlMs":1.5}"#, Some(Duration::from_micros(1500))),
            (r#"{"taskId":"1","ttlMs":null}"#, None),
            (r#"{"taskId":"1","ttlMs":-1}"#, None),
            (r#"{"taskId":"1","ttlMs":"1"}"#, None),
            (r#"{"taskId":"1"}"#, None),
        ] {
            let json = RawValue::from_string(task.to_owned()).unwrap();
            assert_eq!(lifetime(&json), expected, "{task}");
        }
    }
}
