use gatefold_core::{BoxError, CallError, Outcome, Payload, ToolTarget};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::Reply;

/// What a server's answer to `tools/call` means to the caller.
pub(crate) fn outcome(reply: Reply, target: &ToolTarget) -> Result<Outcome, CallError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek<'a> {
        #[serde(default)]
        is_error: Option<bool>,
        #[serde(borrow, default)]
        result_type: Option<&'a RawValue>,
    }
    let result = match reply {
        Reply::Result(result) => result,
        Reply::Error(error) => {
            let (tool, code, message) = (target.id.clone(), error.code, error.message);
            return Err(CallError::Refused { tool, code, message });
        }
    };
    let broken = |reason: &str, source: Option<BoxError>| CallError::Protocol {
        domain: target.domain.clone(),
        reason: reason.to_owned(),
        source,
    };
    let peek: Peek<'_> = serde_json::from_str(result.get())
        .map_err(|error| broken("its result is not a tool's result", Some(error.into())))?;
    if peek.result_type.is_some_and(|kind| kind.get() != r#""complete""#) {
        return Err(broken("it asked for input, though none was offered", None));
    }
    let is_error = peek.is_error.unwrap_or(false);
    Ok(Outcome::Done(Payload { json: result, is_error }))
}
