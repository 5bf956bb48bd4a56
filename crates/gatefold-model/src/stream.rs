use std::borrow::Cow;
use std::collections::VecDeque;

use gatefold_core::Secret;
use gatefold_egress::{EgressError, HttpResponse};

use crate::halves::SplitPairs;
use crate::wire::StreamDecoder;
use crate::{AssistantPart, Delta, ModelAnswer, ModelError, SseDecoder};

/// The largest event of a stream, in bytes.
const EVENT_BYTES: usize = 4 * 1024 * 1024;

/// The longest stream, in bytes. A token takes some 200 of them.
const STREAM_BYTES: u64 = 64 * 1024 * 1024;

/// An answer that is being written.
///
/// Its first piece is there already: what went wrong before was tried again. Whatever goes wrong from
/// now on is an error, because somebody has seen a part of the answer.
pub struct ModelStream {
    model: String,
    deltas: VecDeque<Delta>,
    state: StreamState,
}

enum StreamState {
    Open(Box<OpenStream>),
    Complete(Box<ModelAnswer>),
    /// With the error, until it was handed on.
    Failed(Option<ModelError>),
}

struct OpenStream {
    response: HttpResponse,
    events: SseDecoder,
    pairs: SplitPairs,
    decoder: Box<dyn StreamDecoder>,
    bytes: u64,
    key: Option<Secret>,
}

impl ModelStream {
    /// A stream up to its first piece.
    pub(crate) async fn open(
        model: &str,
        response: HttpResponse,
        decoder: Box<dyn StreamDecoder>,
        key: Option<Secret>,
    ) -> Result<Self, ModelError> {
        let events = SseDecoder::new(EVENT_BYTES);
        let pairs = SplitPairs::default();
        let open = OpenStream { response, events, pairs, decoder, bytes: 0, key };
        let state = StreamState::Open(Box::new(open));
        let mut stream = Self { model: model.to_owned(), deltas: VecDeque::new(), state };
        while stream.deltas.is_empty() && stream.advance().await? {}
        Ok(stream)
    }

    /// An answer that came whole.
    pub(crate) fn whole(model: &str, answer: ModelAnswer) -> Self {
        let mut deltas = VecDeque::new();
        let mut calls = 0;
        for part in &answer.message.parts {
            match part {
                AssistantPart::Text { text, .. } => deltas.push_back(Delta::Text(text.clone())),
                AssistantPart::Thinking { text, .. } if !text.is_empty() => {
                    deltas.push_back(Delta::Thinking(text.clone()));
                }
                AssistantPart::Call(call) => {
                    let json = call.arguments.object_text().to_owned();
                    deltas.push_back(Delta::Call { call: calls, name: call.name.clone() });
                    deltas.push_back(Delta::Arguments { call: calls, json });
                    calls += 1;
                }
                AssistantPart::Thinking { .. } | AssistantPart::Other(_) => {}
            }
        }
        let state = StreamState::Complete(Box::new(answer));
        Self { model: model.to_owned(), deltas, state }
    }

    /// The model that answers; the fallback's if the first one could not.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The next piece; None when the answer is complete. After an error there are no more.
    pub async fn next(&mut self) -> Result<Option<Delta>, ModelError> {
        loop {
            if let Some(delta) = self.deltas.pop_front() {
                return Ok(Some(delta));
            }
            if !self.advance().await? {
                return Ok(None);
            }
        }
    }

    /// The whole answer, once it is complete.
    pub async fn answer(mut self) -> Result<ModelAnswer, ModelError> {
        while self.advance().await? {
            self.deltas.clear();
        }
        match self.state {
            StreamState::Complete(answer) => Ok(*answer),
            StreamState::Open(_) | StreamState::Failed(_) => Err(ModelError::Cut),
        }
    }

    /// Reads on. Returns whether there may be more. What came before an error is handed on first.
    ///
    /// Dropping its future loses nothing: a piece that is read is kept before anything else is awaited.
    async fn advance(&mut self) -> Result<bool, ModelError> {
        let open = match &mut self.state {
            StreamState::Open(open) => open,
            StreamState::Complete(_) => return Ok(false),
            StreamState::Failed(error) => return error.take().map_or(Ok(false), Err),
        };
        let mut deltas = Vec::new();
        let read = open.read(&mut deltas).await;
        self.deltas.extend(deltas);
        let end = match read {
            Ok(false) => return Ok(true),
            Ok(true) => None,
            Err(error) => Some(error),
        };
        let open = std::mem::replace(&mut self.state, StreamState::Failed(end));
        if let (StreamState::Open(open), StreamState::Failed(None)) = (open, &self.state) {
            self.state = match open.decoder.finish() {
                Ok(answer) => StreamState::Complete(Box::new(answer)),
                Err(error) => StreamState::Failed(Some(error)),
            };
        }
        Ok(true)
    }
}

impl OpenStream {
    /// Reads one part of the stream. Returns whether it was the last.
    async fn read(&mut self, deltas: &mut Vec<Delta>) -> Result<bool, ModelError> {
        let part = self.response.read_part().await.map_err(broken)?;
        let mut events = Vec::new();
        if let Some(part) = &part {
            self.bytes += part.len() as u64;
            if self.bytes > STREAM_BYTES {
                return Err(ModelError::TooLarge { what: "bytes", limit: STREAM_BYTES });
            }
            let pushed = self.events.push(part, &mut events);
            pushed.map_err(|error| ModelError::TooLarge {
                what: "bytes in one event",
                limit: error.limit as u64,
            })?;
        } else {
            let decoder = std::mem::replace(&mut self.events, SseDecoder::new(EVENT_BYTES));
            events.extend(decoder.finish());
        }
        for event in &mut events {
            if let Cow::Owned(joined) = self.pairs.join(&event.data) {
                event.data = joined;
            }
            let read = self.decoder.read(event, deltas);
            // What the connection ended in the middle of is not wrong, but cut off.
            let read = read.map_err(|error| match error {
                ModelError::NotAnAnswer { .. } if part.is_none() => ModelError::Cut,
                error => clean(error, self.key.as_ref()),
            });
            read?;
            if self.decoder.is_done() {
                return Ok(true);
            }
        }
        Ok(part.is_none())
    }
}

/// A connection that broke in the middle of an answer has cut it off.
fn broken(error: EgressError) -> ModelError {
    match error {
        EgressError::Failed { .. } => ModelError::Cut,
        error => ModelError::Unreachable(error),
    }
}

/// The most characters of an endpoint's own words in an error.
const WORDS: usize = 200;

/// An error whose words are fit to be shown: short, on one line, and without the key, which some
/// endpoints repeat.
pub(crate) fn clean(mut error: ModelError, key: Option<&Secret>) -> ModelError {
    if let Some(words) = error.words_mut() {
        let said = match key {
            Some(key) if !key.expose().is_empty() => words.replace(key.expose(), "[the key]"),
            _ => words.clone(),
        };
        let shown: String = said.chars().take(WORDS).collect();
        *words = shown.replace(char::is_control, " ");
    }
    error
}
