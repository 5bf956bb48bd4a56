//! How requests are refused.

use axum::body::Body;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};

/// How a refusal reads to the clients of some routes: most programs show the message of the format
/// that they speak, and few show any other body.
#[derive(Debug, Clone, Copy)]
pub struct RefusalFormat {
    pub content_type: &'static str,
    /// The body that says a text under a status.
    pub body: fn(StatusCode, &str) -> String,
}

impl RefusalFormat {
    /// The text alone.
    pub const PLAIN: Self =
        Self { content_type: "text/plain; charset=utf-8", body: |_, text| text.to_owned() };

    pub fn response(&self, status: StatusCode, text: &str) -> Response<Body> {
        let mut response = Response::new(Body::from((self.body)(status, text)));
        *response.status_mut() = status;
        let kind = HeaderValue::from_static(self.content_type);
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }
}
