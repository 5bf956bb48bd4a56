//! Which era a client's request belongs to, and whether the request carries what that era requires.

use ::http::HeaderMap;
use ::http::header::HeaderName;

use super::message::{ClientRequest, MetaMembers};
use crate::protocol::headers::{METHOD, NAME, PROTOCOL_VERSION, decoded};
use crate::protocol::{Era, RpcError, STATELESS_VERSION, VERSIONS, methods};

/// The era of a request. A request with a version in its body is stateless; a header alone decides
/// nothing about `initialize`, which is how sessions begin.
pub(super) fn of_request(request: &ClientRequest, meta: &MetaMembers, header: Option<&str>) -> Era {
    let stands_alone = match request.method.as_str() {
        methods::INITIALIZE => meta.version.is_some(),
        methods::DISCOVER => true,
        _ => meta.version.is_some() || header == Some(STATELESS_VERSION),
    };
    if stands_alone { Era::Stateless } else { Era::Handshake }
}

/// The version in the headers.
pub(super) fn version_header(headers: &HeaderMap) -> Result<Option<&str>, RpcError> {
    let unreadable = || RpcError::invalid_request("the header `MCP-Protocol-Version` is not text");
    let header = headers.get(&PROTOCOL_VERSION);
    header.map(|value| value.to_str().map_err(|_| unreadable())).transpose()
}

/// Checks that a stateless request carries the required metadata.
pub(super) fn check_meta(meta: &MetaMembers) -> Result<(), RpcError> {
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

/// Checks that a stateless request carries its metadata and that its headers match.
pub(super) fn check_headers(
    headers: &HeaderMap,
    request: &ClientRequest,
    meta: &MetaMembers,
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

/// Checks the headers of a request within a session: they are optional but must be right.
pub(super) fn check_session_headers(headers: &HeaderMap) -> Result<(), RpcError> {
    match version_header(headers)? {
        Some(version) if !VERSIONS[1..].contains(&version) => Err(RpcError::invalid_request(
            format!("the header `MCP-Protocol-Version` names an unsupported version: `{version}`"),
        )),
        _ => Ok(()),
    }
}

/// The value that the header `Mcp-Name` mirrors (SEP-2243).
fn mirrored_name(request: &ClientRequest) -> Option<&str> {
    let params = &request.params;
    match request.method.as_str() {
        methods::TOOLS_CALL | methods::PROMPTS_GET => params.name.as_deref(),
        methods::RESOURCES_READ => params.uri.as_deref(),
        methods::TASKS_GET | methods::TASKS_UPDATE | methods::TASKS_CANCEL => {
            params.task_id.as_deref()
        }
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
