//! Reading a POST just far enough to know whether it goes the short way.
//!
//! Calls and lists that are right in every respect are answered here, as text; whatever else
//! comes, wrong requests among it, is rmcp's to answer. So there is one judge of what is wrong.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The versions of the handshake era, which keep sessions.
const SESSION_VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS_VERSION: &str = "2026-07-28";

#[derive(Deserialize)]
struct Message<'a> {
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'a>>,
    /// Members that only rmcp's way understands.
    #[serde(borrow, default, rename = "inputResponses")]
    input_responses: Option<&'a RawValue>,
    #[serde(borrow, default)]
    task: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "clientInfo")]
    client_info: Option<ClientInfo<'a>>,
}

#[derive(Deserialize, Default)]
pub(super) struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    pub(super) progress_token: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) traceparent: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) tracestate: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<ClientInfo<'a>>,
}

#[derive(Deserialize)]
struct ClientInfo<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// What a POST is.
pub(super) enum Post<'a> {
    Request(Request<'a>),
    /// `notifications/cancelled` for the request of this id, in this session.
    Cancel {
        session: &'a str,
        call: &'a str,
    },
    /// `initialize`, by a client of this name.
    Initialize {
        client: Option<Cow<'a, str>>,
    },
    Other,
}

/// A request that can go the short way.
pub(super) struct Request<'a> {
    pub(super) id: &'a RawValue,
    pub(super) sender: Sender<'a>,
    pub(super) asks: Asks<'a>,
    pub(super) meta: Meta<'a>,
}

pub(super) enum Sender<'a> {
    Session(&'a str),
    Stateless { client: Option<Cow<'a, str>> },
}

pub(super) enum Asks<'a> {
    ListTools,
    CallTool { name: Cow<'a, str>, arguments: &'a RawValue },
}

/// Says what a POST is. The session, if it names one, is not looked up here.
pub(super) fn read<'a>(headers: &'a HeaderMap, body: &'a [u8]) -> Post<'a> {
    if !has_right_types(headers) {
        return Post::Other;
    }
    let Ok(message) = serde_json::from_slice::<Message<'_>>(body) else {
        return Post::Other;
    };
    if message.jsonrpc != "2.0" {
        return Post::Other;
    }
    let params = message.params.map_or(Ok(Params::default()), |p| serde_json::from_str(p.get()));
    let Ok(params) = params else {
        return Post::Other;
    };
    match (&*message.method, message.id) {
        ("notifications/cancelled", None) => {
            match (text(headers, &SESSION_ID), params.request_id) {
                (Some(session), Some(id)) => Post::Cancel { session, call: id.get() },
                _ => Post::Other,
            }
        }
        ("initialize", Some(_)) => {
            Post::Initialize { client: params.client_info.map(|info| info.name) }
        }
        ("tools/call" | "tools/list", Some(id)) if !is_null(id) => {
            request(headers, &message.method, id, params).map_or(Post::Other, Post::Request)
        }
        _ => Post::Other,
    }
}

fn request<'a>(
    headers: &'a HeaderMap,
    method: &str,
    id: &'a RawValue,
    params: Params<'a>,
) -> Option<Request<'a>> {
    if params.input_responses.is_some() || params.task.is_some() {
        return None;
    }
    let mut meta = params.meta.unwrap_or_default();
    let sender = sender(headers, method, params.name.as_deref(), &mut meta)?;
    if method == "tools/list" {
        return Some(Request { id, sender, asks: Asks::ListTools, meta });
    }
    let arguments = params.arguments.unwrap_or(RawValue::NULL);
    let is_object = is_null(arguments) || arguments.get().starts_with('{');
    let asks = Asks::CallTool { name: params.name?, arguments: is_object.then_some(arguments)? };
    Some(Request { id, sender, asks, meta })
}

/// Who sends a request, provided that everything about it is right for their era.
fn sender<'a>(
    headers: &'a HeaderMap,
    method: &str,
    name: Option<&str>,
    meta: &mut Meta<'a>,
) -> Option<Sender<'a>> {
    let version = text(headers, &PROTOCOL_VERSION);
    let says = |header: &HeaderName, expected: &str| {
        text(headers, header).is_none_or(|said| said == expected)
    };
    match meta.version.as_deref() {
        None => {
            let is_known = version.is_none_or(|version| SESSION_VERSIONS.contains(&version));
            let session = text(headers, &SESSION_ID)?;
            let agrees = says(&METHOD, method) && name.is_none_or(|name| says(&NAME, name));
            (is_known && agrees).then_some(Sender::Session(session))
        }
        Some(STATELESS_VERSION) => {
            let is_whole = version == Some(STATELESS_VERSION)
                && text(headers, &METHOD) == Some(method)
                && text(headers, &NAME) == name
                && meta
                    .capabilities
                    .is_some_and(|capabilities| capabilities.get().starts_with('{'));
            let client = meta.client_info.take().map(|info| info.name);
            is_whole.then_some(Sender::Stateless { client })
        }
        Some(_) => None,
    }
}

fn has_right_types(headers: &HeaderMap) -> bool {
    let is_json = text(headers, &CONTENT_TYPE)
        .is_some_and(|kind| kind.split(';').next().is_some_and(|k| k.trim() == "application/json"));
    // Spelt out by every client; one that says it otherwise takes the longer way.
    let accepts = text(headers, &ACCEPT).is_some_and(|accepted| {
        let mut kinds = accepted.split(',').map(str::trim);
        kinds.clone().any(|kind| kind == "application/json")
            && kinds.any(|kind| kind == "text/event-stream")
    });
    is_json && accepts
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[(&str, &str)] =
        &[("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    const CALL: &str = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t"}}"#;
    const STATELESS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t",
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    const STATELESS_HEADERS: &[(&str, &str)] =
        &[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "t")];

    #[track_caller]
    fn check(more: &[(&str, &str)], body: &str, expected: &str) {
        let mut headers = HeaderMap::new();
        for (name, value) in PLAIN.iter().chain(more) {
            let name = HeaderName::try_from(*name).unwrap();
            headers.insert(name, value.parse().unwrap());
        }
        let said = match read(&headers, body.as_bytes()) {
            Post::Request(Request { sender: Sender::Session(session), .. }) => {
                format!("in {session}")
            }
            Post::Request(Request { sender: Sender::Stateless { client }, .. }) => {
                format!("from {}", client.unwrap())
            }
            Post::Cancel { session, call } => format!("cancel {call} in {session}"),
            Post::Initialize { client } => format!("initialize {}", client.unwrap()),
            Post::Other => "other".to_owned(),
        };
        assert_eq!(said, expected, "{more:?} {body}");
    }

    #[test]
    fn only_what_is_right_in_every_respect_goes_the_short_way() {
        let session = ("mcp-session-id", "s");
        check(&[session], CALL, "in s");
        check(&[session, ("mcp-protocol-version", "2025-06-18")], CALL, "in s");
        check(&[session, ("mcp-protocol-version", "2026-07-28")], CALL, "other");
        check(&[session, ("mcp-protocol-version", "1999-01-01")], CALL, "other");
        check(&[session, ("mcp-name", "another")], CALL, "other");
        check(&[session, ("accept", "application/json")], CALL, "other");
        check(&[session, ("content-type", "text/plain")], CALL, "other");
        check(&[], CALL, "other");
        check(&[session], &CALL.replace("\"x\"", "null"), "other");
        check(&[session], &CALL.replace("2.0", "1.0"), "other");
        check(&[session], &CALL.replace(r#""name":"t""#, r#""name":"t","arguments":[]"#), "other");
        check(&[session], &CALL.replace(r#""name":"t""#, r#""name":7"#), "other");
        check(&[session], &format!("[{CALL}]"), "other");
        check(&[session], "{", "other");
    }

    #[test]
    fn a_stateless_request_must_agree_with_its_headers() {
        check(STATELESS_HEADERS, STATELESS, "from c");
        check(&STATELESS_HEADERS[..2], STATELESS, "other");
        check(&STATELESS_HEADERS[1..], STATELESS, "other");
        check(STATELESS_HEADERS, &STATELESS.replace(r#""name":"t""#, r#""name":"u""#), "other");
        check(STATELESS_HEADERS, &STATELESS.replace("2026-07-28", "2027-01-01"), "other");
        check(STATELESS_HEADERS, &STATELESS.replace("clientCapabilities\":{}", "x\":{}"), "other");
    }

    #[test]
    fn cancelling_and_greeting_are_noticed() {
        let session = ("mcp-session-id", "s");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#;
        check(&[session], cancel, r#"cancel "x" in s"#);
        check(&[], cancel, "other");
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"c"}}}"#;
        check(&[], hello, "initialize c");
    }
}
