//! Answers that come as a stream of events, which may end early and be resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::http::Method;
use ::http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use gatefold_dispatch::ResultRoom;
use reqwest::Response;
use sse_stream::{Error as SseError, Sse, SseStream};
use tokio::task::consume_budget;
use tokio::time::sleep;

use super::super::message::{NEITHER, Reply, ServerMessage, without_secrets};
use super::super::reading_pace::SharedPace;
use super::super::request::{RequestKind, WireError, WireRequest};
use super::body::describe;
use super::body::{admit, checked, stream_error};
use super::{ENVELOPE_BYTES, HttpWire, insert};
use crate::protocol::headers::{EVENT_STREAM, LAST_EVENT_ID};

/// The wait before resuming a stream, unless its server names one.
const RETRY: Duration = Duration::from_secs(1);
/// The longest wait that a server may ask for, so that it cannot stall a call, or its client,
/// forever.
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// The most resumptions in a row that bring nothing new.
const ATTEMPTS: u32 = 10;
/// How many bytes of a stream cost one unit of tokio's cooperative budget, which is 128 units a
/// poll. Bytes that are no event, such as comments, are work too.
const BYTES_PER_TURN: usize = 4096;

/// How far a stream has come.
struct StreamPosition {
    last_event: Option<String>,
    retry: Duration,
    /// Resumptions since something new came.
    attempts: u32,
}

impl HttpWire {
    /// Reads events until the answer comes, passing on other messages.
    ///
    /// In the handshake era a server may end a stream before the answer. The stream is then resumed
    /// after its last event (MCP specification 2025-11-25, "Resumability and Redelivery").
    pub(super) async fn answer_in_events(
        self: &Arc<Self>,
        response: Response,
        request: &WireRequest,
    ) -> Result<Reply, WireError> {
        let mut place = StreamPosition { last_event: None, retry: RETRY, attempts: 0 };
        let mut next = Some(response);
        loop {
            let was_streaming = next.is_some();
            let end = match next.take() {
                Some(response) => match self.read_events(response, request, &mut place).await {
                    Ok(Some(answer)) => return checked(Some(answer), request.limit),
                    Ok(None) => WireError::Lost("the server ended its answer early".to_owned()),
                    Err(error @ WireError::Lost(_)) => error,
                    Err(error) => return Err(error),
                },
                None => WireError::Lost("the server did not go on with its answer".to_owned()),
            };
            let Some(last_event) = place.last_event.as_deref().filter(|_| !self.is_stateless())
            else {
                return Err(end);
            };
            if place.attempts == ATTEMPTS {
                return Err(end);
            }
            place.attempts += 1;
            if was_streaming {
                request.back_channel.pause(place.retry);
            }
            sleep(place.retry).await;
            next = self.take_up(last_event).await?;
        }
    }

    /// Resumes the stream after an event. None if the server cannot be reached at the moment.
    async fn take_up(&self, last_event: &str) -> Result<Option<Response>, WireError> {
        let mut headers = self.session_headers().await?;
        headers.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        insert(&mut headers, LAST_EVENT_ID, last_event);
        let request = self.client.request(Method::GET, self.url.clone()).headers(headers);
        let Ok(response) = self.client.send_once(request).await else { return Ok(None) };
        let status = response.status();
        if status.is_server_error() {
            return Ok(None);
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if status.is_success() && kind.is_some_and(|kind| kind.starts_with(EVENT_STREAM)) {
            return Ok(Some(response));
        }
        Err(WireError::Lost("the server ended its answer early".to_owned()))
    }

    /// Reads one stream to the answer or to its end.
    async fn read_events(
        self: &Arc<Self>,
        response: Response,
        request: &WireRequest,
        place: &mut StreamPosition,
    ) -> Result<Option<Reply>, WireError> {
        let limit = request.limit.saturating_add(ENVELOPE_BYTES);
        let stands = request.kind == RequestKind::Subscription;
        let standing_pace = stands.then(|| self.pace.clone());
        let mut events = EventReader::new(response, limit, request.room.clone(), standing_pace);
        while let Some(event) = events.next().await {
            let event = event?;
            if let Some(id) = event.id.filter(|id| !id.is_empty()) {
                place.last_event = Some(id);
            }
            if let Some(retry) = event.retry {
                place.retry = Duration::from_millis(retry).min(LONGEST_RETRY);
            }
            let Some(data) = event.data.filter(|data| !data.is_empty()) else {
                continue;
            };
            place.attempts = 0;
            let data = without_secrets(data.as_bytes(), &self.secrets());
            let Some(message) = ServerMessage::read(&data) else {
                continue;
            };
            if message.own_id() == Some(request.id) || message.is_error_of_none() {
                let broken = || WireError::Broken(NEITHER.to_owned());
                return message.reply().map(Some).ok_or_else(broken);
            }
            self.take_aside(&message, Some(&request.back_channel));
        }
        Ok(None)
    }
}

/// Reads the events of a response one by one.
pub(super) struct EventReader {
    events: BoxStream<'static, Result<Sse, SseError>>,
    limit: u64,
    /// Bytes since the last event. All events of a long call may add up to more than the limit.
    unread: Arc<AtomicU64>,
    pace: Option<SharedPace>,
}

impl EventReader {
    /// A reader of events of at most `limit` bytes each. A stream that stands open has a pace: its
    /// server may go on for ever.
    pub(super) fn new(
        response: Response,
        limit: u64,
        room: Option<ResultRoom>,
        pace: Option<SharedPace>,
    ) -> Self {
        let chunk_pace = pace.clone();
        let unread = Arc::new(AtomicU64::new(0));
        let counted = unread.clone();
        let chunks = response.bytes_stream().then(async |chunk| {
            let bytes = chunk.as_ref().map_or(0, Bytes::len);
            for _ in 0..bytes.div_ceil(BYTES_PER_TURN) {
                consume_budget().await;
            }
            chunk
        });
        let bytes = chunks.then(move |chunk| {
            let (counted, room, pace) = (counted.clone(), room.clone(), chunk_pace.clone());
            async move {
                let chunk = chunk.map_err(|error| std::io::Error::other(describe(&error)))?;
                let size = chunk.len() as u64;
                let unread = counted.fetch_add(size, Ordering::Relaxed) + size;
                if unread > limit {
                    return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge));
                }
                admit(room.as_ref(), usize::try_from(unread).unwrap_or(usize::MAX)).await;
                if let Some(pace) = &pace {
                    pace.lock().await.after_bytes(chunk.len()).await;
                }
                Ok::<Bytes, std::io::Error>(chunk)
            }
        });
        Self { events: SseStream::from_bytes_stream(bytes).boxed(), limit, unread, pace }
    }

    pub(super) async fn next(&mut self) -> Option<Result<Sse, WireError>> {
        // A chunk may hold thousands of small events, which are there without any waiting.
        consume_budget().await;
        let event = self.events.next().await?;
        self.unread.store(0, Ordering::Relaxed);
        if let Some(pace) = &self.pace {
            pace.lock().await.after_message(0).await;
        }
        Some(event.map_err(|error| stream_error(&error, self.limit)))
    }
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::super::STREAM_EVENT_BYTES;
    use super::*;

    #[tokio::test]
    async fn reading_what_is_there_already_leaves_others_their_turn() {
        let (small, large) = (10_000, 400_000);
        for (what, body) in
            [("events", "data: 1\n\n".repeat(small)), ("comments", ":\n".repeat(large))]
        {
            let response = ::http::Response::new(reqwest::Body::from(body));
            let mut events = EventReader::new(response.into(), STREAM_EVENT_BYTES, None, None);
            let mut reading = std::pin::pin!(async { while events.next().await.is_some() {} });
            assert!(poll!(&mut reading).is_pending(), "{what} were read at one go");
            reading.await;
        }
    }
}
