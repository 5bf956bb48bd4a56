//! The stream on which a server of the handshake era says what belongs to no request (MCP specification
//! 2025-11-25, "Listening for Messages from the Server").

use std::sync::{Arc, Weak};
use std::time::Duration;

use ::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use ::http::{Method, StatusCode};
use reqwest::Response;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::super::message::{ServerMessage, without_secrets};
use super::super::reading_pace::SharedPace;
use super::events::EventReader;
use super::{HttpWire, insert};
use crate::protocol::headers::{EVENT_STREAM, LAST_EVENT_ID};

/// How long a session waits for the stream to open. Some servers do not answer until they have
/// something to say, so the wait is short.
const STREAM_START: Duration = Duration::from_millis(250);
/// The wait before the stream is opened again. It grows with each failure in a row, unless the
/// server names one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The shortest wait that a server may name: with none at all we would ask in a busy loop.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
/// The largest event on a stream that stays open, in bytes.
pub(crate) const STREAM_EVENT_BYTES: u64 = 16 * 1024 * 1024;

struct SessionStream {
    /// Weak, so that the stream ends with its connection.
    wire: Weak<HttpWire>,
    /// Fires when the server has said whether it has such a stream.
    answered: CancellationToken,
    was_open: bool,
    last_event: Option<String>,
    /// The wait that the server asked for, if any.
    retry: Option<Duration>,
    pace: SharedPace,
}

/// Why there is no stream.
enum StreamRefusal {
    /// It may work later.
    ForNow,
    /// The server has none.
    ForGood,
    /// The server does not know the session any more.
    Forgotten,
}

impl HttpWire {
    /// Opens the stream, if there is a session it can belong to, and keeps it open. What a server
    /// says before the stream is open is lost, so this waits for it, though not for long.
    pub(crate) async fn open_stream(self: &Arc<Self>) {
        if self.session.get().is_none() {
            return;
        }
        let answered = CancellationToken::new();
        let stream = SessionStream {
            wire: Arc::downgrade(self),
            answered: answered.clone(),
            was_open: false,
            last_event: None,
            retry: None,
            pace: self.pace.clone(),
        };
        tokio::spawn(self.end.clone().run_until_cancelled_owned(stream.keep_open()));
        // If the server is late, the stream still opens: only this wait ends.
        let _ = timeout(STREAM_START, answered.cancelled()).await;
    }
}

impl SessionStream {
    async fn keep_open(mut self) {
        let mut failures = 0_u32;
        loop {
            let opened = self.open().await;
            self.answered.cancel();
            let pause = match opened {
                Ok(response) => {
                    (failures, self.was_open) = (0, true);
                    let has_told = self.read(response).await;
                    // A stream that delivered something before it broke is reopened at once.
                    if has_told && self.retry.is_none() { SHORTEST_PAUSE } else { FIRST_PAUSE }
                }
                Err(StreamRefusal::Forgotten) => {
                    if let Some(wire) = self.wire.upgrade() {
                        wire.forget();
                    }
                    return;
                }
                // A stream that never opened is not retried: such a server hardly ever has one.
                Err(StreamRefusal::ForNow) if self.was_open => {
                    failures = failures.saturating_add(1);
                    FIRST_PAUSE.saturating_mul(1 << failures.min(8)).min(LONGEST_PAUSE)
                }
                Err(_) => return,
            };
            let pause = self.retry.take().map_or(pause, |retry| match failures {
                0 => retry,
                _ => retry.max(pause),
            });
            sleep(pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)).await;
        }
    }

    async fn open(&self) -> Result<Response, StreamRefusal> {
        let wire = self.wire.upgrade().ok_or(StreamRefusal::ForGood)?;
        let mut headers = wire.session_headers().await.map_err(|_| StreamRefusal::ForNow)?;
        headers.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        if let Some(event) = &self.last_event {
            insert(&mut headers, LAST_EVENT_ID, event);
        }
        let client = wire.client.clone();
        let request = client.request(Method::GET, wire.url.clone()).headers(headers);
        drop(wire);
        let response = client.send_once(request).await.map_err(|_| StreamRefusal::ForNow)?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_stream = kind.is_some_and(|kind| kind.starts_with(EVENT_STREAM));
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamRefusal::ForGood),
            // Before the stream ever opened, these may only mean that the server has no such
            // stream.
            StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST if self.was_open => {
                Err(StreamRefusal::Forgotten)
            }
            status if status.is_success() && is_stream => Ok(response),
            _ => Err(StreamRefusal::ForNow),
        }
    }

    /// Reads the stream to its end. Returns whether anything came.
    async fn read(&mut self, response: Response) -> bool {
        let mut events =
            EventReader::new(response, STREAM_EVENT_BYTES, None, Some(self.pace.clone()));
        let mut has_told = false;
        while let Some(Ok(event)) = events.next().await {
            if let Some(id) = event.id.filter(|id| !id.is_empty()) {
                self.last_event = Some(id);
            }
            if let Some(retry) = event.retry {
                self.retry = Some(Duration::from_millis(retry));
            }
            let Some(data) = event.data.filter(|data| !data.is_empty()) else { continue };
            has_told = true;
            let Some(wire) = self.wire.upgrade() else { break };
            let data = without_secrets(data.as_bytes(), &wire.secrets());
            let Some(message) = ServerMessage::read(&data) else { continue };
            if message.method.is_some() {
                wire.take_aside(&message, None);
            } else {
                wire.take_answer(&message);
            }
        }
        has_told
    }
}
