//! Errors of the protocol, and the words that requests are answered in.

use ::http::StatusCode;
use gatefold_core::CallError;
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::era::{Era, VERSIONS};

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
/// A resource that is not there, until 2025-11-25; later it is [`INVALID_PARAMS`].
const RESOURCE_NOT_FOUND: i64 = -32002;
const HEADER_MISMATCH: i64 = -32020;
const MISSING_CAPABILITY: i64 = -32021;
const UNSUPPORTED_VERSION: i64 = -32022;

/// An error of the protocol, and how HTTP shows it.
#[derive(Debug, Clone)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Box<RawValue>>,
    /// Whether the request itself is broken, rather than what it asks for.
    is_malformed: bool,
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, is_malformed: false }
    }

    pub(super) fn parse(error: &serde_json::Error) -> Self {
        Self::new(PARSE_ERROR, format!("the message is not JSON: {error}")).malformed()
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message).malformed()
    }

    pub(super) fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(100).collect();
        Self::new(METHOD_NOT_FOUND, format!("there is no method `{shown}`"))
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(HEADER_MISMATCH, message)
    }

    pub(super) fn unsupported_version(requested: &str) -> Self {
        let data = json!({ "supported": VERSIONS, "requested": requested });
        let shown: String = requested.chars().take(100).collect();
        let message = format!("protocol version `{shown}` is not supported");
        Self { data: to_raw_value(&data).ok(), ..Self::new(UNSUPPORTED_VERSION, message) }
    }

    pub(super) fn missing_extension(extension: &str) -> Self {
        let data = json!({ "requiredCapabilities": { "extensions": { extension: {} } } });
        let message = format!("the client does not declare the extension `{extension}`");
        Self { data: to_raw_value(&data).ok(), ..Self::new(MISSING_CAPABILITY, message) }
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL_ERROR, message)
    }

    #[must_use]
    pub(super) fn malformed(self) -> Self {
        Self { is_malformed: true, ..self }
    }

    /// What a failed call is in the protocol, to a client that is to see its source through us.
    pub(super) fn of(error: CallError, era: Era) -> Self {
        match error {
            // What a source says of its own connection is not about this one.
            CallError::Refused { code, message, .. } if is_of_a_connection(code) => {
                Self::new(INTERNAL_ERROR, message)
            }
            CallError::Refused { code, message, data, .. } => {
                Self { data, ..Self::new(code, message) }
            }
            CallError::Unknown { kind: "resource", name } => {
                let code = match era {
                    Era::Handshake => RESOURCE_NOT_FOUND,
                    Era::Stateless => INVALID_PARAMS,
                };
                let data = to_raw_value(&json!({ "uri": name })).ok();
                Self { data, ..Self::new(code, format!("there is no resource `{name}`")) }
            }
            error @ (CallError::UnknownTool { .. }
            | CallError::Unknown { .. }
            | CallError::Denied { .. }
            | CallError::Resume(_)) => Self::new(INVALID_PARAMS, error.to_string()),
            error => Self::new(INTERNAL_ERROR, error.to_string()),
        }
    }

    /// The status that the answer has over HTTP. Within a session it says nothing.
    pub(super) fn status(&self, era: Era) -> StatusCode {
        match (self.code, era) {
            _ if self.is_malformed => StatusCode::BAD_REQUEST,
            (HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION, _) => {
                StatusCode::BAD_REQUEST
            }
            (METHOD_NOT_FOUND, Era::Stateless) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }
}

/// Codes by which two sides of a connection settle how they speak. To our client they would say that
/// the gateway does not speak its era.
fn is_of_a_connection(code: i64) -> bool {
    matches!(
        code,
        PARSE_ERROR | INVALID_REQUEST | METHOD_NOT_FOUND | HEADER_MISMATCH | UNSUPPORTED_VERSION
    )
}

/// The answer to a request.
pub(super) fn answer(id: &RawValue, answer: &Result<String, RpcError>) -> String {
    match answer {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get()),
        Err(error) => refusal(Some(id), error),
    }
}

pub(super) fn refusal(id: Option<&RawValue>, error: &RpcError) -> String {
    #[derive(Serialize)]
    struct Body<'a> {
        code: i64,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a RawValue>,
    }
    let RpcError { code, message, data, .. } = error;
    let body = to_text(&Body { code: *code, message, data: data.as_deref() });
    let id = id.map_or("null", RawValue::get);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{body}}}"#)
}

/// A notification of ours.
pub(super) fn notice(method: &str, params: &str) -> String {
    let method = to_text(&method);
    format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#)
}

/// A question of ours.
pub(super) fn question(id: &str, method: &str, params: &RawValue) -> String {
    let (id, method) = (to_text(&id), to_text(&method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

pub(super) fn to_text(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("our own values have only text keys")
}

/// The versions that an answer to `server/discover` names.
pub(super) fn supported() -> &'static [&'static str] {
    &VERSIONS
}
