use ::http::StatusCode;
use gatefold_core::CallError;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::codes::{
    HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND,
    MISSING_CAPABILITY, PARSE_ERROR, UNSUPPORTED_VERSION, of_missing_resource,
};
use super::versions::{Era, VERSIONS};

/// An error of the protocol, and how HTTP shows it.
#[derive(Debug, Clone)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Box<RawValue>>,
    /// Whether the request itself is broken, rather than what it asks for: over HTTP, the status 400.
    pub(crate) is_malformed: bool,
    /// Whether it is a source's own. Its code may be about how two sides talk to each other, which is not about the
    /// client and us, so the status says nothing of it.
    pub(crate) is_of_source: bool,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, is_malformed: false, is_of_source: false }
    }

    pub(crate) fn parse(error: &serde_json::Error) -> Self {
        Self::new(PARSE_ERROR, format!("the message is not JSON: {error}")).malformed()
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message).malformed()
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(METHOD_NOT_FOUND, format!("there is no method `{shown}`"))
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(crate) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(HEADER_MISMATCH, message)
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let data = json!({ "supported": VERSIONS, "requested": requested });
        let shown: String = requested.chars().take(100).collect();
        let message = format!("protocol version `{shown}` is not supported");
        Self { data: to_raw_value(&data).ok(), ..Self::new(UNSUPPORTED_VERSION, message) }
    }

    pub(crate) fn missing_extension(extension: &str) -> Self {
        let data = json!({ "requiredCapabilities": { "extensions": { extension: {} } } });
        let message = format!("the client does not declare the extension `{extension}`");
        Self { data: to_raw_value(&data).ok(), ..Self::new(MISSING_CAPABILITY, message) }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL_ERROR, message)
    }

    #[must_use]
    pub(crate) fn malformed(self) -> Self {
        Self { is_malformed: true, ..self }
    }

    /// The protocol error for a failed call. What a source said, its code and data included, passes
    /// through to the client.
    pub(crate) fn of(error: CallError, era: Era) -> Self {
        match error {
            CallError::Refused { code, message, data, .. } => {
                Self { data, is_of_source: true, ..Self::new(code, message) }
            }
            CallError::InvalidArguments { message, data, .. } => {
                Self { data, ..Self::invalid_params(message) }
            }
            CallError::MissingResource { message, data, .. } => {
                Self { data, ..Self::new(of_missing_resource(era), message) }
            }
            CallError::Unknown { kind: "resource", name } => {
                let code = of_missing_resource(era);
                let data = to_raw_value(&json!({ "uri": name })).ok();
                Self { data, ..Self::new(code, format!("there is no resource `{name}`")) }
            }
            CallError::UnknownTool { ref nearest, .. } if !nearest.is_empty() => {
                let near: Vec<_> = nearest.iter().map(|id| format!("`{id}`")).collect();
                Self::invalid_params(format!("{error}: did you mean {}?", near.join(" or ")))
            }
            error @ (CallError::UnknownTool { .. }
            | CallError::AnsweredElsewhere { .. }
            | CallError::Unknown { .. }
            | CallError::Denied { .. }
            | CallError::Resume(_)) => Self::new(INVALID_PARAMS, error.to_string()),
            error => Self::new(INTERNAL_ERROR, error.for_caller()),
        }
    }

    /// The HTTP status of the answer. In a session the status has no meaning.
    pub(crate) fn status(&self, era: Era) -> StatusCode {
        match (self.code, era) {
            _ if self.is_malformed => StatusCode::BAD_REQUEST,
            (HEADER_MISMATCH | UNSUPPORTED_VERSION | METHOD_NOT_FOUND, _) if self.is_of_source => {
                StatusCode::OK
            }
            (HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION, _) => {
                StatusCode::BAD_REQUEST
            }
            (METHOD_NOT_FOUND, Era::Stateless) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::ToolId;

    use super::*;

    #[test]
    fn what_a_source_refuses_reaches_the_client_as_it_was() {
        for code in [
            PARSE_ERROR,
            INVALID_REQUEST,
            METHOD_NOT_FOUND,
            INVALID_PARAMS,
            INTERNAL_ERROR,
            HEADER_MISMATCH,
            UNSUPPORTED_VERSION,
            -32000,
            7,
        ] {
            for era in [Era::Handshake, Era::Stateless] {
                let data = to_raw_value(&json!({ "n": 1.5 })).ok();
                let (tool, message) = (ToolId::new("d__t"), "its own words".to_owned());
                let error = RpcError::of(CallError::Refused { tool, code, message, data }, era);
                let data = error.data.as_ref().map(|data| data.get());
                assert_eq!(
                    (error.code, &*error.message, data),
                    (code, "its own words", Some(r#"{"n":1.5}"#))
                );
                // The client would conclude that we do not speak its version.
                assert_eq!(error.status(era), StatusCode::OK, "{code}");
            }
        }
        assert_eq!(
            RpcError::unsupported_version("1").status(Era::Stateless),
            StatusCode::BAD_REQUEST
        );
        assert_eq!(RpcError::unknown_method("x").status(Era::Stateless), StatusCode::NOT_FOUND);
    }
}
