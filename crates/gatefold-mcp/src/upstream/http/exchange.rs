//! One request and its answer, and whether the answer means that the session is lost.
//!
//! A server says that it has forgotten a session with the status 404 (MCP specification 2025-11-25,
//! "Session Management"). Many say it in other ways, and many answer with 404 what is only an error.
//! Where an answer leaves room for doubt, the server is asked for a list that it gave before: one that
//! has forgotten the session refuses that as well.

use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use ::http::header::CONTENT_TYPE;
use bytes::Bytes;
use reqwest::Response;
use tokio::time::timeout;

use super::super::message::{Reply, ServerMessage, without_secrets};
use super::super::request::{RequestKind, StatusRefusal, WireError, WireRequest};
use super::body::{RefusedAnswer, checked, read_capped};
use super::{ENVELOPE_BYTES, HttpWire};
use crate::protocol::codes::SESSION_NOT_FOUND;
use crate::protocol::headers::{EVENT_STREAM, SESSION_ID};
use crate::protocol::{Era, methods, rpc};

/// The fault of an answer that cannot be read.
const NOT_JSON_RPC: &str = "its answer is not JSON-RPC";
/// How long a server may take to show that it still knows a session.
const PROOF_DEADLINE: Duration = Duration::from_secs(5);
/// The longest such answer that is read, in bytes. A longer one is a list, and so proof enough.
const PROOF_BYTES: u64 = 64 * 1024;

/// What an answer says about the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionSign {
    Known,
    Doubtful,
    Forgotten,
}

impl HttpWire {
    /// Sends a request and reads its answer. The error [`WireError::Forgotten`] means that the server
    /// did nothing about it.
    pub(super) async fn exchange(
        self: &Arc<Self>,
        request: &WireRequest,
        body: Bytes,
    ) -> Result<Reply, WireError> {
        let (reply, sign) = self.ask(request, body).await?;
        let is_forgotten = match sign {
            _ if request.kind == RequestKind::Greeting => false,
            SessionSign::Known => false,
            // Rare, and so not a part of every call.
            SessionSign::Doubtful => Box::pin(self.has_been_forgotten()).await,
            SessionSign::Forgotten => self.has_session(),
        };
        if is_forgotten {
            return Err(WireError::Forgotten);
        }
        if matches!(reply, Ok(Reply::Result(_))) && is_list(request.method) {
            self.listed.get_or_init(|| request.method);
        }
        reply
    }

    async fn ask(
        self: &Arc<Self>,
        request: &WireRequest,
        body: Bytes,
    ) -> Result<(Result<Reply, WireError>, SessionSign), WireError> {
        let response = self.post_admitted(body, request).await?;
        if request.kind == RequestKind::Greeting {
            self.note_session(&response)?;
        }
        if !response.status().is_success() {
            let refused = RefusedAnswer::read(response, &self.url, &self.secrets()).await;
            let sign = sign_of_refusal(&refused, request.id);
            return Ok((refused.reply, sign));
        }
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|kind| kind.starts_with(EVENT_STREAM));
        let reply = if is_stream {
            self.answer_in_events(response, request).await?
        } else {
            let limit = request.limit.saturating_add(ENVELOPE_BYTES);
            let body = read_capped(response, limit, request.room.as_ref()).await?;
            let broken = || WireError::Broken(NOT_JSON_RPC.to_owned());
            let body = without_secrets(&body, &self.secrets());
            let message = ServerMessage::read(&body).ok_or_else(broken)?;
            checked(message.reply(), request.limit)?
        };
        let sign = match &reply {
            Reply::Error(error) if speaks_of_session(&error.message) => SessionSign::Doubtful,
            _ => SessionSign::Known,
        };
        Ok((Ok(reply), sign))
    }

    /// Whether the server has forgotten the session, as it shows by refusing what it answered before.
    /// One that never answered anything in this session has nothing to forget.
    async fn has_been_forgotten(self: &Arc<Self>) -> bool {
        if self.forgotten.is_cancelled() {
            return true;
        }
        let Some(method) = self.listed.get().filter(|_| self.era == Era::Handshake) else {
            return false;
        };
        let (id, kind) = (self.next_id(), RequestKind::Ordinary);
        let text = rpc::request(id, method, &serde_json::json!({}));
        let body = Bytes::from(text.clone());
        let request = WireRequest::of_ours(id, kind, method, text, PROOF_BYTES);
        let proof = timeout(PROOF_DEADLINE, self.ask(&request, body)).await;
        let is_refused = match proof {
            Ok(Ok((_, sign))) => sign != SessionSign::Known,
            // No answer proves nothing, and what was not forgotten must not be sent again.
            Ok(Err(_)) | Err(_) => false,
        };
        if is_refused {
            self.forget();
        }
        is_refused
    }

    /// Notes the session that the answer to a greeting names. With status 401 or 403 the answer is
    /// not the protocol's, whatever its body says.
    fn note_session(&self, response: &Response) -> Result<(), WireError> {
        if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(WireError::Refused(StatusRefusal::of(
                response,
                &self.url,
                &self.secrets(),
            )));
        }
        let session = response.headers().get(SESSION_ID).and_then(|value| value.to_str().ok());
        if let (Era::Handshake, Some(session)) = (self.era, session) {
            // Only the first answer counts: a second greeting gets a wire of its own.
            let _ = self.session.set(session.into());
        }
        Ok(())
    }
}

/// Whether a method lists something, which changes nothing and may be asked for again.
fn is_list(method: &str) -> bool {
    matches!(method, methods::TOOLS_LIST | methods::RESOURCES_LIST | methods::PROMPTS_LIST)
}

/// What a refusal of a request says about the session.
fn sign_of_refusal(refused: &RefusedAnswer, id: u64) -> SessionSign {
    let is_message = matches!(refused.reply, Ok(Reply::Error(_)));
    let code = match &refused.reply {
        Ok(Reply::Error(error)) if refused.id == Some(id) => Some(error.code),
        _ => None,
    };
    match (refused.status, code) {
        (StatusCode::NOT_FOUND, None | Some(SESSION_NOT_FOUND)) => SessionSign::Forgotten,
        // Who does not name the request has not looked at it, but at what comes before: its headers.
        (StatusCode::BAD_REQUEST, None) if is_message => SessionSign::Doubtful,
        // These are about who asks, and how often.
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS, _) => {
            SessionSign::Known
        }
        (status, _) if status.is_client_error() && speaks_of_session(&refused.text) => {
            SessionSign::Doubtful
        }
        _ => SessionSign::Known,
    }
}

/// Words for a session that is not there. Which of them stands with `session` proves nothing: a tool
/// may have sessions of its own.
const LACKS: &[&str] = &[
    "not found",
    "no valid",
    "no such",
    "not exist",
    "not known",
    "unknown",
    "invalid",
    "missing",
    "wrong",
    "required",
    "expired",
    "no longer",
    "no session",
    "not active",
    "stale",
];
/// Words for a server that was not greeted.
const UNGREETED: &[&str] = &[
    "not initialized",
    "not initialised",
    "not been initialized",
    "not yet initialized",
    "uninitialized",
    "before initialization",
    "initialize first",
    "initialization required",
];

/// Whether an error may be about the session rather than about what was asked.
fn speaks_of_session(text: &str) -> bool {
    let text = text.to_lowercase();
    let has_any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    has_any(UNGREETED) || text.contains("session") && has_any(LACKS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::RpcError;

    #[test]
    fn a_lost_session_is_told_from_an_error() {
        use SessionSign::{Doubtful, Forgotten, Known};
        let error = |id: Option<u64>, code, text: &str| {
            (id, Ok(Reply::Error(RpcError::new(code, text))), text.to_owned())
        };
        let plain = |text: &str| {
            let broken = WireError::Broken(NOT_JSON_RPC.to_owned());
            (None, Err(broken), text.to_owned())
        };
        for (status, (id, reply, text), expected) in [
            (404, plain(""), Forgotten),
            (404, plain("<html>not found</html>"), Forgotten),
            (404, error(None, -32001, "Session not found"), Forgotten),
            (404, error(None, -32600, "gone"), Forgotten),
            (404, error(Some(8), -32601, "no such method"), Forgotten),
            (404, error(Some(7), -32001, "Session not found"), Forgotten),
            (404, error(Some(7), -32601, "Method not found"), Known),
            (404, error(Some(7), -32000, "No such row"), Known),
            (404, error(Some(7), -32000, "No such session"), Doubtful),
            (400, error(None, -32000, "the server waits for a greeting"), Doubtful),
            (400, error(Some(7), -32000, "The session id is missing or wrong"), Doubtful),
            (400, error(Some(7), -32602, "n is missing"), Known),
            (400, plain("Bad Request: there is no such session"), Doubtful),
            (400, plain("Bad Request"), Known),
            (410, plain("session expired"), Doubtful),
            (401, plain("session expired"), Known),
            (429, plain("too many sessions: no such slot"), Known),
            (500, error(Some(7), -32603, "Unknown session"), Known),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let told = format!("{status}: {text}");
            let refused = RefusedAnswer { status, reply, id, text };
            assert_eq!(sign_of_refusal(&refused, 7), expected, "{told}");
        }
    }

    #[test]
    fn words_for_a_lost_session_are_known() {
        for (text, expected) in [
            ("Not initialized", true),
            ("Received request before initialization was complete", true),
            ("Session has expired, initialize again", true),
            ("Bad Request: No valid session ID provided", true),
            ("Mcp-Session-Id header is required", true),
            ("the session is busy", false),
            ("Invalid arguments: n is missing", false),
        ] {
            assert_eq!(speaks_of_session(text), expected, "{text}");
        }
    }
}
