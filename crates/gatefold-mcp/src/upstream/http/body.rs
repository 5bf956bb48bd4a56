//! Reads answers up to a size limit, and says what is wrong with them.

use ::http::StatusCode;
use ::http::header::CONTENT_LENGTH;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use gatefold_dispatch::ResultRoom;
use gatefold_secrecy::KnownSecrets;
use reqwest::{Response, Url};
use sse_stream::Error as SseError;
use tokio::task::consume_budget;

use super::super::message::{NEITHER, Reply, ServerMessage, without_secrets};
use super::super::request::{StatusRefusal, WireError};

/// The longest body of an HTTP error that is read, in bytes.
const ERROR_BODY_BYTES: usize = 128 * 1024;
/// How much of a body that is not a message is looked at, in bytes.
const ERROR_TEXT_BYTES: usize = 4096;

pub(super) fn checked(reply: Option<Reply>, limit: u64) -> Result<Reply, WireError> {
    match reply {
        Some(Reply::Result(result)) if result.get().len() as u64 > limit => {
            Err(WireError::TooLarge(result.get().len() as u64))
        }
        Some(reply) => Ok(reply),
        None => Err(WireError::Broken(NEITHER.to_owned())),
    }
}

/// An answer with an error status.
pub(super) struct RefusedAnswer {
    pub(super) status: StatusCode,
    /// Its JSON-RPC error, if it has one.
    pub(super) reply: Result<Reply, WireError>,
    /// The request that the error names.
    pub(super) id: Option<u64>,
    /// What it says in words.
    pub(super) text: String,
}

impl RefusedAnswer {
    pub(super) async fn read(response: Response, own: &Url, secrets: &KnownSecrets) -> Self {
        let status = response.status();
        let refusal = StatusRefusal::of(&response, own, secrets);
        let body = read_capped(response, ERROR_BODY_BYTES as u64, None).await.unwrap_or_default();
        let body = without_secrets(&body, secrets);
        if let Some(message) = ServerMessage::read(&body)
            && let Some(Reply::Error(mut error)) = message.reply()
        {
            error.is_malformed = status == StatusCode::BAD_REQUEST;
            let (id, text) = (message.own_id(), error.message.clone());
            return Self { status, reply: Ok(Reply::Error(error)), id, text };
        }
        let text = String::from_utf8_lossy(&body[..body.len().min(ERROR_TEXT_BYTES)]).into_owned();
        let error = match status {
            StatusCode::BAD_REQUEST
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_ACCEPTABLE => WireError::TurnedAway(refusal),
            _ => WireError::Refused(refusal),
        };
        Self { status, reply: Err(error), id: None, text }
    }
}

pub(super) async fn read_capped(
    response: Response,
    limit: u64,
    room: Option<&ResultRoom>,
) -> Result<Bytes, WireError> {
    let announced = response.headers().get(CONTENT_LENGTH);
    let announced = announced.and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<u64>().ok());
    if let Some(size) = announced.filter(|size| *size > limit) {
        return Err(WireError::TooLarge(size));
    }
    let mut body = BytesMut::new();
    let mut size = 0_u64;
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        consume_budget().await;
        let chunk = chunk.map_err(|error| WireError::Lost(describe(&error)))?;
        size += chunk.len() as u64;
        if size > limit {
            return Err(WireError::TooLarge(size));
        }
        body.extend_from_slice(&chunk);
        admit(room, body.len()).await;
    }
    Ok(body.freeze())
}

/// Waits for room for an answer of which so many bytes have been read.
pub(super) async fn admit(room: Option<&ResultRoom>, bytes: usize) {
    if let Some(room) = room {
        room.admit(bytes).await;
    }
}

pub(super) fn stream_error(error: &SseError, limit: u64) -> WireError {
    let text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::FileTooLarge
        {
            return WireError::TooLarge(limit.saturating_add(1));
        }
        source = cause.source();
    }
    WireError::Lost(text)
}

/// An error of the HTTP client without its URL, which may contain a credential.
pub(super) fn describe(error: &reqwest::Error) -> String {
    let text = if error.is_timeout() {
        "the server did not answer in time"
    } else {
        "the connection failed"
    };
    with_cause(text.to_owned(), error)
}

/// The text, followed by the error's root cause.
pub(super) fn with_cause(mut text: String, error: &dyn std::error::Error) -> String {
    let mut source = error.source();
    while let Some(cause) = source {
        source = cause.source();
        if source.is_none() {
            text.push_str(": ");
            text.push_str(&cause.to_string());
        }
    }
    text
}
