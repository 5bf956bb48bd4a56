//! Errors as problem details (RFC 9457).

use axum::response::{IntoResponse, Response};
use gatefold_http::RefusalFormat;
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde::Serialize;

const CONTENT: &str = "application/problem+json";

/// Why a request is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    status: StatusCode,
    /// For programs: a word for each kind of problem.
    code: &'static str,
    /// For people.
    detail: String,
    retry_seconds: Option<u64>,
}

#[derive(Serialize)]
struct WrittenProblem<'a> {
    /// There are no pages about problems: the status and the code say which it is (section 4.2.1).
    #[serde(rename = "type")]
    kind: &'static str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
}

impl Problem {
    pub(super) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), retry_seconds: None }
    }

    pub(super) fn invalid(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// A run of somebody else looks the same as one that there is not.
    pub(super) fn unknown_run() -> Self {
        Self::new(StatusCode::NOT_FOUND, "unknown_run", "there is no such run")
    }

    /// Something failed here, which is in the log.
    pub(super) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error, "a request for a run failed");
        let detail = "that failed here; the gateway's log says why";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }

    pub(super) fn again_after(self, seconds: u64) -> Self {
        Self { retry_seconds: Some(seconds), ..self }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = write(self.status, self.code, &self.detail);
        let kind = HeaderValue::from_static(CONTENT);
        let mut response = (self.status, [(CONTENT_TYPE, kind)], body).into_response();
        if let Some(seconds) = self.retry_seconds {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// How a request is refused before it is read.
pub(crate) const REFUSALS: RefusalFormat =
    RefusalFormat { content_type: CONTENT, body: refusal_body };

fn refusal_body(status: StatusCode, text: &str) -> String {
    let code = match status {
        StatusCode::UNAUTHORIZED => "unauthenticated",
        StatusCode::FORBIDDEN => "forbidden",
        StatusCode::PAYLOAD_TOO_LARGE => "too_large",
        status if status.is_server_error() => "unavailable",
        _ => "invalid_request",
    };
    write(status, code, text)
}

fn write(status: StatusCode, code: &str, detail: &str) -> String {
    let title = status.canonical_reason().unwrap_or_default();
    let problem =
        WrittenProblem { kind: "about:blank", title, status: status.as_u16(), detail, code };
    serde_json::to_string(&problem).expect("the keys of a problem are texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_what_it_is_to_programs_and_to_people() {
        insta::assert_snapshot!(
            (REFUSALS.body)(StatusCode::UNAUTHORIZED, "send a token"),
            @r#"{"type":"about:blank","title":"Unauthorized","status":401,"detail":"send a token","code":"unauthenticated"}"#
        );
        let busy = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too_many_runs", "later");
        let response = busy.again_after(5).into_response();
        assert_eq!(response.headers()[RETRY_AFTER], "5");
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
    }
}
