//! One request and its answer.

use std::time::Duration;

use gatefold_core::Hints;
use gatefold_egress::{EgressError, HttpClient, HttpRequest};
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;
use url::Url;

use crate::{BuiltinCall, BuiltinError, arguments, face};

/// The longest URL, in bytes.
const MAX_URL: usize = 4096;

/// The largest answer that is read, in bytes.
pub(super) const MAX_BODY: u64 = 4 * 1024 * 1024;

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The answer of a server.
pub(super) struct WebAnswer {
    pub(super) url: Url,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl WebAnswer {
    /// The media type without its parameters, in small letters.
    pub(super) fn media_type(&self) -> String {
        let value = self.headers.get(http::header::CONTENT_TYPE);
        let value = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Whether the body is a text of some kind.
    pub(super) fn is_text(&self) -> bool {
        let media_type = self.media_type();
        let is_named = media_type.starts_with("text/")
            || media_type.ends_with("+json")
            || media_type.ends_with("+xml")
            || matches!(
                &media_type[..],
                "application/json"
                    | "application/xml"
                    | "application/javascript"
                    | "application/yaml"
                    | "application/x-ndjson"
            );
        is_named || (media_type.is_empty() && !self.body.contains(&0))
    }

    /// The body as a text.
    pub(super) fn text(&self) -> String {
        text_of(&self.body)
    }
}

/// A body as a text. What is not UTF-8 is read as Latin-1, in which old pages are.
pub(super) fn text_of(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(),
        Err(_) => body.iter().copied().map(char::from).collect(),
    }
}

/// A URL that may be asked for: with `http` or `https`, and without a password in it.
pub(super) fn url(text: &str) -> Result<Url, BuiltinError> {
    let text = arguments::bounded("url", text.trim(), MAX_URL)?;
    let wrong = |what: &str| BuiltinError::arguments(format!("`url` {what}"));
    let url: Url = text
        .parse()
        .map_err(|_| wrong("is no address; write it whole, such as `https://example.org/page`"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("has to begin with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("has a user name in it, which is not sent"));
    }
    Ok(url)
}

pub(super) async fn send(
    client: &HttpClient,
    request: HttpRequest,
    call: &BuiltinCall,
) -> Result<WebAnswer, BuiltinError> {
    let deadline = call.deadline.min(Instant::now() + PATIENCE);
    let response = client.send(request, deadline).await.map_err(|error| failed(&error))?;
    let (url, status, headers) =
        (response.url().clone(), response.status(), response.headers().clone());
    let body = response.read_capped(MAX_BODY).await.map_err(|error| failed(&error))?.to_vec();
    Ok(WebAnswer { url, status, headers, body })
}

/// All of it is about an address that the caller chose, and names nothing that is secret.
fn failed(error: &EgressError) -> BuiltinError {
    BuiltinError::Arguments(error.to_string())
}

/// The hints of a tool that reads what anybody may have written.
pub(super) fn reading_the_web() -> Hints {
    Hints { open_world: Some(true), ..face::reading() }
}
