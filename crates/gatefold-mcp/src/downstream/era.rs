//! The two eras of the protocol, and which of them a request over HTTP belongs to.

use std::borrow::Cow;

use ::http::HeaderMap;
use ::http::header::HeaderName;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::message::{Meta, Request};
use super::rpc::RpcError;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// How a request and its client relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Era {
    /// It belongs to a session that began with `initialize`.
    Handshake,
    /// It stands by itself and says all there is to know.
    Stateless,
}

/// All versions served, the latest first.
pub(super) const VERSIONS: [&str; 5] =
    [STATELESS_VERSION, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
pub(super) const STATELESS_VERSION: &str = "2026-07-28";
/// The only version whose clients may send several messages as one.
pub(super) const BATCH_VERSION: &str = "2025-03-26";
/// The version whose clients understand that a stream may be taken up again (SEP-1699).
pub(super) const RESUMABLE_VERSION: &str = "2025-11-25";

/// The version that answers a client's `initialize`: its own, or the latest that has a handshake.
pub(super) fn negotiated(requested: Option<&str>) -> &'static str {
    let sessions = &VERSIONS[1..];
    let same = sessions.iter().find(|version| Some(**version) == requested);
    same.unwrap_or(&sessions[0])
}

/// The era of a request. Whatever says in its body which version it is of stands by itself; a header
/// alone says nothing about `initialize`, which is how sessions begin.
pub(super) fn of_request(request: &Request, meta: &Meta, header: Option<&str>) -> Era {
    let stands_alone = match request.method.as_str() {
        "initialize" => meta.version.is_some(),
        "server/discover" => true,
        _ => meta.version.is_some() || header == Some(STATELESS_VERSION),
    };
    if stands_alone { Era::Stateless } else { Era::Handshake }
}

/// The version that the headers name.
pub(super) fn version_header(headers: &HeaderMap) -> Result<Option<&str>, RpcError> {
    let unreadable = || RpcError::invalid_request("the header `MCP-Protocol-Version` is not text");
    let header = headers.get(&PROTOCOL_VERSION);
    header.map(|value| value.to_str().map_err(|_| unreadable())).transpose()
}

/// Checks what a request that stands by itself has to say about itself.
pub(super) fn check_meta(meta: &Meta) -> Result<(), RpcError> {
    let Some(version) = meta.version.as_deref() else {
        return Err(missing("protocolVersion"));
    };
    if version != STATELESS_VERSION {
        return Err(RpcError::unsupported_version(version));
    }
    if meta.capabilities.is_none() {
        return Err(missing("clientCapabilities"));
    }
    Ok(())
}

fn missing(key: &str) -> RpcError {
    RpcError::invalid_params(format!(
        "`_meta` lacks `io.modelcontextprotocol/{key}`, or it is of the wrong kind"
    ))
    .malformed()
}

/// Checks that a request that stands by itself says what it has to, and its headers the same.
pub(super) fn check_headers(
    headers: &HeaderMap,
    request: &Request,
    meta: &Meta,
) -> Result<(), RpcError> {
    let version = version_header(headers)?;
    once(headers, &PROTOCOL_VERSION, "MCP-Protocol-Version")?;
    if let Some(said) = meta.version.as_deref()
        && version != Some(said)
    {
        return Err(mismatch("MCP-Protocol-Version", version, said));
    }
    check_meta(meta)?;
    mirrors(headers, &METHOD, "Mcp-Method", &request.method)?;
    match mirrored_name(request) {
        Some(name) => mirrors(headers, &NAME, "Mcp-Name", name),
        None => Ok(()),
    }
}

/// Checks the headers of a request within a session: what they say, if anything, must be right.
pub(super) fn check_session_headers(headers: &HeaderMap) -> Result<(), RpcError> {
    match version_header(headers)? {
        Some(version) if !VERSIONS[1..].contains(&version) => Err(RpcError::invalid_request(
            format!("the header `MCP-Protocol-Version` names an unsupported version: `{version}`"),
        )),
        _ => Ok(()),
    }
}

/// What the header `Mcp-Name` mirrors (SEP-2243).
fn mirrored_name(request: &Request) -> Option<&str> {
    let params = &request.params;
    match request.method.as_str() {
        "tools/call" | "prompts/get" => params.name.as_deref(),
        "resources/read" => params.uri.as_deref(),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.task_id.as_deref(),
        _ => None,
    }
}

fn mirrors(
    headers: &HeaderMap,
    name: &HeaderName,
    shown: &str,
    expected: &str,
) -> Result<(), RpcError> {
    once(headers, name, shown)?;
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    match value.and_then(decoded) {
        Some(value) if value == expected => Ok(()),
        value => Err(mismatch(shown, value.as_deref(), expected)),
    }
}

fn once(headers: &HeaderMap, name: &HeaderName, shown: &str) -> Result<(), RpcError> {
    match headers.get_all(name).iter().nth(1) {
        None => Ok(()),
        Some(_) => Err(RpcError::header_mismatch(format!("the header `{shown}` is there twice"))),
    }
}

fn mismatch(header: &str, value: Option<&str>, expected: &str) -> RpcError {
    let shown = |text: &str| text.chars().take(100).collect::<String>();
    RpcError::header_mismatch(match value {
        None => format!("the header `{header}` is missing; the body says `{}`", shown(expected)),
        Some(value) => format!(
            "the header `{header}` says `{}` and the body `{}`",
            shown(value),
            shown(expected)
        ),
    })
}

/// A header's value as it is meant: texts that no header can hold come in base64 (SEP-2243).
pub(super) fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.into());
    };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok().map(Cow::Owned)
}
