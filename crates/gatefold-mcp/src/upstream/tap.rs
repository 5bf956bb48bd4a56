//! The client that rmcp makes the handshake over HTTP with. It notes what rmcp keeps to itself:
//! which session the answers belong to, and what went wrong, in words that hold no secret.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ::http::StatusCode;
use ::http::header::{HeaderName, HeaderValue};
use futures::StreamExt as _;
use futures::stream::BoxStream;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};
use tokio_util::sync::CancellationToken;

use super::http::{HttpWire, NOT_JSON_RPC, describe, describe_status};
use super::message::ServerMessage;

/// What was noted.
#[derive(Clone, Default)]
pub(crate) struct Tap {
    noted: Arc<Mutex<Noted>>,
    /// Fires when the server has said whether it has a stream that belongs to no request.
    stream_answered: CancellationToken,
}

#[derive(Default)]
struct Noted {
    session: Option<Arc<str>>,
    trouble: Option<String>,
    /// Whether the stream that belongs to no request was ever open.
    is_streamed: bool,
}

impl Tap {
    pub(crate) fn session(&self) -> Option<Arc<str>> {
        self.lock().session.clone()
    }

    /// Why the last message was not answered, if it was not.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.lock().trouble.clone()
    }

    fn note(&self, session: Option<&str>) {
        let mut noted = self.lock();
        noted.trouble = None;
        if session.is_some_and(|session| noted.session.as_deref() != Some(session)) {
            noted.session = session.map(Arc::from);
        }
    }

    fn note_trouble(&self, error: &StreamableHttpError<reqwest::Error>) -> Error {
        let trouble = in_words(error);
        self.lock().trouble = Some(trouble.clone());
        match error {
            StreamableHttpError::SessionExpired => StreamableHttpError::SessionExpired,
            StreamableHttpError::ServerDoesNotSupportSse => {
                StreamableHttpError::ServerDoesNotSupportSse
            }
            _ => StreamableHttpError::Client(Trouble(trouble)),
        }
    }

    /// Waits until the server has said whether it has a stream that belongs to no request.
    pub(crate) async fn stream_answered(&self) {
        self.stream_answered.cancelled().await;
    }

    fn note_stream(&self) {
        self.lock().is_streamed = true;
    }

    /// Whether a stream that cannot be opened again says that the session is forgotten. A server
    /// that never had such a stream says the same of the stream itself.
    fn is_forgotten(&self, error: &StreamableHttpError<reqwest::Error>) -> bool {
        let gone = [StatusCode::NOT_FOUND, StatusCode::BAD_REQUEST];
        self.lock().is_streamed
            && match error {
                StreamableHttpError::SessionExpired => true,
                StreamableHttpError::HttpStatus(error) => {
                    gone.iter().any(|status| status.as_u16() == error.status)
                }
                StreamableHttpError::Client(error) => {
                    error.status().is_some_and(|status| gone.contains(&status))
                }
                _ => false,
            }
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error without what rmcp would show of it: the URL, and the text of the server's answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(String);

type Error = StreamableHttpError<Trouble>;

fn in_words(error: &StreamableHttpError<reqwest::Error>) -> String {
    match error {
        StreamableHttpError::Client(error) => {
            error.status().map_or_else(|| describe(error), describe_status)
        }
        StreamableHttpError::HttpStatus(error) => {
            StatusCode::from_u16(error.status).map_or_else(|_| error.to_string(), describe_status)
        }
        StreamableHttpError::AuthRequired(_) => describe_status(StatusCode::UNAUTHORIZED),
        StreamableHttpError::InsufficientScope(_) => describe_status(StatusCode::FORBIDDEN),
        StreamableHttpError::UnexpectedServerResponse(text) => {
            // rmcp has the status only in this text, before the answer's own.
            let status = text.strip_prefix("HTTP ").and_then(|text| text.get(..3));
            let status = status.and_then(|status| status.parse().ok());
            status.map_or_else(|| NOT_JSON_RPC.to_owned(), describe_status)
        }
        StreamableHttpError::UnexpectedContentType(_) | StreamableHttpError::Deserialize(_) => {
            NOT_JSON_RPC.to_owned()
        }
        error => error.to_string(),
    }
}

#[derive(Clone)]
pub(crate) struct TappedClient {
    pub(crate) client: reqwest::Client,
    pub(crate) tap: Tap,
    /// Weak, for the wire's session holds rmcp's side, which holds this.
    pub(crate) wire: Weak<HttpWire>,
}

type Headers = HashMap<HeaderName, HeaderValue>;

impl StreamableHttpClient for TappedClient {
    type Error = Trouble;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let client = &self.client;
        let answer = client.post_message(uri, message, session_id, auth_header, custom_headers);
        let answer = answer.await.map_err(|error| self.tap.note_trouble(&error))?;
        self.tap.note(match &answer {
            StreamableHttpPostResponse::Json(_, session)
            | StreamableHttpPostResponse::Sse(_, session) => session.as_deref(),
            _ => None,
        });
        Ok(answer)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Error> {
        let ended = self.client.delete_session(uri, session_id, auth_header, custom_headers);
        ended.await.map_err(|error| self.tap.note_trouble(&error))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let client = &self.client;
        let stream = client.get_stream(uri, session_id, last_event_id, auth_header, custom_headers);
        let stream = stream.await;
        self.tap.stream_answered.cancel();
        let stream = stream.map_err(|error| {
            if let (true, Some(wire)) = (self.tap.is_forgotten(&error), self.wire.upgrade()) {
                wire.forget();
            }
            self.tap.note_trouble(&error)
        })?;
        self.tap.note_stream();
        let wire = self.wire.clone();
        Ok(stream.map(move |event| event.map(|event| taken(event, &wire))).boxed())
    }
}

/// Takes what is ours past rmcp, which sees the events' ids alone: a server's requests and
/// notifications, and answers to requests of our own.
fn taken(mut event: Sse, wire: &Weak<HttpWire>) -> Sse {
    let message = event.data.as_deref().and_then(|data| ServerMessage::read(data.as_bytes()));
    let (Some(message), Some(wire)) = (message, wire.upgrade()) else { return event };
    let is_ours = if message.method.is_some() {
        wire.take_aside(&message, None);
        true
    } else {
        wire.take_answer(&message)
    };
    if is_ours {
        event.data = None;
    }
    event
}
