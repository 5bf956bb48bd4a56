//! `http_request`: any request to any address that may be reached.

use std::collections::BTreeMap;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_core::Hints;
use gatefold_egress::{HttpClient, HttpRequest, Redirects};
use http::Method;
use http::header::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::reach;
use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// The most headers, and the longest value of one, in bytes.
const MAX_HEADERS: usize = 50;
const MAX_HEADER: usize = 8 * 1024;

/// The most of an answer's body that is shown, in characters.
const SHOWN: usize = 100_000;

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Headers that say where a request ends and where it goes, which is the client's to say.
const WITHHELD: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

pub(crate) struct HttpRequestTool {
    client: HttpClient,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestArguments {
    url: String,
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
}

#[derive(Serialize)]
struct RequestAnswer {
    status: u16,
    url: String,
    headers: BTreeMap<String, String>,
    body: String,
    /// Whether there is more than is shown.
    cut: bool,
}

impl HttpRequestTool {
    pub(crate) fn new(client: HttpClient) -> Self {
        Self { client }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: RequestArguments = arguments::read(&call.arguments)?;
        let answer = reach::send(&self.client, request(asked)?, call).await?;
        if !answer.body.is_empty() && !answer.is_text() {
            let message = format!(
                "the server answered {} with `{}` of {} bytes, which cannot be shown as a text",
                answer.status,
                answer.media_type(),
                answer.body.len()
            );
            return Err(BuiltinError::Arguments(message));
        }
        let whole = answer.text();
        let body: String = whole.chars().take(SHOWN).collect();
        let cut = body.len() < whole.len();
        let headers = answer.headers.iter().map(|(name, value)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let text = format!("{}\n\n{body}", answer.status);
        let shown = RequestAnswer {
            status: answer.status.as_u16(),
            url: answer.url.to_string(),
            headers: headers.collect(),
            body,
            cut,
        };
        Ok(BuiltinAnswer::new(text, &shown))
    }
}

fn request(asked: RequestArguments) -> Result<HttpRequest, BuiltinError> {
    let method = asked.method.as_deref().unwrap_or("GET").to_ascii_uppercase();
    if !METHODS.contains(&&*method) {
        let message = format!("`method` has to be one of {}", METHODS.join(", "));
        return Err(BuiltinError::Arguments(message));
    }
    let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
    let body = asked.body.unwrap_or_default();
    arguments::bounded("body", &body, MAX_BODY)?;
    if asked.headers.len() > MAX_HEADERS {
        let message = format!("`headers` has more than {MAX_HEADERS} members");
        return Err(BuiltinError::Arguments(message));
    }
    // A redirect is shown: its address is the caller's to judge.
    let mut request =
        HttpRequest::new(method, reach::url(&asked.url)?).redirects(Redirects::None).body(body);
    for (name, value) in &asked.headers {
        let wrong = |what: &str| BuiltinError::arguments(format!("the header `{name}` {what}"));
        let field: HeaderName = name.parse().map_err(|_| wrong("has no legal name"))?;
        if WITHHELD.contains(&field.as_str()) {
            return Err(wrong("is set by the client; leave it out"));
        }
        if value.len() > MAX_HEADER {
            return Err(wrong("has a value that is too long"));
        }
        let value = HeaderValue::from_str(value).map_err(|_| wrong("has no legal value"))?;
        request.credentials.insert(field, value);
    }
    Ok(request)
}

impl BuiltinTool for HttpRequestTool {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "http_request",
            title: "HTTP request",
            description:
                "Send an HTTP request with a method, headers and a body, and get the answer's \
                          status, headers and text. To read a page use `fetch`."
                    .to_owned(),
            category: ToolCategory::Web,
            hints: Hints {
                read_only: Some(false),
                destructive: Some(true),
                idempotent: Some(false),
                open_world: Some(true),
            },
            input: face::object(
                &json!({
                    "url": face::text("With `https://` or `http://`."),
                    "method": face::choice("GET if it is left out.", &METHODS),
                    "headers": {
                        "type": "object",
                        "additionalProperties": { "type": "string" },
                        "description": "By their names.",
                    },
                    "body": face::bounded_text("As it is sent.", MAX_BODY),
                }),
                &["url"],
            ),
            output: face::object(
                &json!({
                    "status": { "type": "integer" },
                    "url": { "type": "string" },
                    "headers": { "type": "object", "additionalProperties": { "type": "string" } },
                    "body": { "type": "string" },
                    "cut": face::flag("Whether there is more than is shown."),
                }),
                &["status", "url", "headers", "body", "cut"],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
