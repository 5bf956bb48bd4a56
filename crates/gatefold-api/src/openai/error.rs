//! Errors as OpenAI's API has them.

use std::borrow::Cow;

use axum::Json;
use axum::response::{IntoResponse, Response};
use gatefold_http::RefusalFormat;
use http::StatusCode;
use http::header::{HeaderName, HeaderValue, RETRY_AFTER};
use serde::Serialize;

/// Tells the official clients whether to send a request again, whatever its status says.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// An error that a client is answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    body: ErrorBody,
    retry: Retry,
}

/// Whether a client may send its request again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retry {
    /// As the status says.
    Usual,
    AfterSeconds(u64),
    Never,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ErrorBody {
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    param: Option<Cow<'static, str>>,
    code: Option<&'static str>,
}

/// The object round an error, in an answer and in a stream.
#[derive(Debug, Serialize)]
pub(crate) struct WrittenError<'a> {
    error: &'a ErrorBody,
}

impl ApiError {
    /// A request with a fault in a member of it.
    pub(crate) fn invalid(param: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::of(StatusCode::BAD_REQUEST, message).param(param)
    }

    /// A request that asks for something that there is not here.
    pub(crate) fn unsupported(
        param: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self::invalid(param, message).code("unsupported_parameter")
    }

    /// One that this caller does not find looks the same as one that there is not.
    pub(crate) fn unknown_model(name: &str) -> Self {
        let message = format!("The model `{name}` does not exist or you do not have access to it.");
        Self::of(StatusCode::NOT_FOUND, message).param("model").code("model_not_found")
    }

    pub(crate) fn of(status: StatusCode, message: impl Into<String>) -> Self {
        let (kind, code) = match status {
            StatusCode::UNAUTHORIZED => ("invalid_request_error", Some("invalid_api_key")),
            StatusCode::TOO_MANY_REQUESTS => ("rate_limit_error", Some("rate_limit_exceeded")),
            status if status.is_server_error() => ("server_error", None),
            _ => ("invalid_request_error", None),
        };
        let body = ErrorBody { message: message.into(), kind, param: None, code };
        Self { status, body, retry: Retry::Usual }
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.body.code = Some(code);
        self
    }

    /// An error of the gateway or of what is behind it.
    pub(crate) fn servers(mut self) -> Self {
        self.body.kind = "server_error";
        self
    }

    /// Another try would do the same again, or do what was done a second time.
    pub(crate) fn never_again(self) -> Self {
        Self { retry: Retry::Never, ..self }
    }

    pub(crate) fn again_after(self, seconds: u64) -> Self {
        Self { retry: Retry::AfterSeconds(seconds), ..self }
    }

    pub(crate) fn written(&self) -> WrittenError<'_> {
        WrittenError { error: &self.body }
    }

    fn param(mut self, param: impl Into<Cow<'static, str>>) -> Self {
        self.body.param = Some(param.into());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.written())).into_response();
        let headers = response.headers_mut();
        match self.retry {
            Retry::Usual => {}
            Retry::AfterSeconds(seconds) => {
                headers.insert(RETRY_AFTER, seconds.into());
            }
            Retry::Never => {
                headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
            }
        }
        response
    }
}

/// How a request is refused before it is read.
pub(crate) const REFUSALS: RefusalFormat =
    RefusalFormat { content_type: "application/json", body: refusal_body };

fn refusal_body(status: StatusCode, text: &str) -> String {
    let error = ApiError::of(status, text);
    serde_json::to_string(&error.written()).expect("the keys of an error are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_four_members_of_openais() {
        let written = |error: &ApiError| serde_json::to_string(&error.written()).unwrap();
        insta::assert_snapshot!(
            written(&ApiError::unknown_model("no")),
            @r#"{"error":{"message":"The model `no` does not exist or you do not have access to it.","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#
        );
        insta::assert_snapshot!(
            written(&ApiError::invalid("messages", "none")),
            @r#"{"error":{"message":"none","type":"invalid_request_error","param":"messages","code":null}}"#
        );
        insta::assert_snapshot!(
            (REFUSALS.body)(StatusCode::UNAUTHORIZED, "send a token"),
            @r#"{"error":{"message":"send a token","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#
        );
    }

    #[test]
    fn clients_are_told_when_to_send_a_request_again() {
        let headers = |error: ApiError| {
            let response = error.into_response();
            let text = |name: HeaderName| {
                response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
            };
            (text(RETRY_AFTER), text(SHOULD_RETRY))
        };
        let full = ApiError::of(StatusCode::TOO_MANY_REQUESTS, "full");
        assert_eq!(headers(full.clone()), (None, None));
        assert_eq!(headers(full.clone().again_after(5)), (Some("5".to_owned()), None));
        assert_eq!(headers(full.never_again()), (None, Some("false".to_owned())));
    }
}
