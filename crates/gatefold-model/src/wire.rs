//! What travels: each wire as functions without I/O.

mod anthropic;
mod openai_chat;
mod turns;

use gatefold_core::Secret;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{
    Api, Delta, Fields, ModelAnswer, ModelError, ModelRequest, ModelSpec, Origin, RawJson, SseEvent,
};

/// The most calls of one answer that are read. The model is not reminded of the others.
const CALLS: usize = 32;

/// A dialect in which models are asked and answer.
pub trait Wire: Sync {
    /// The endpoint, after the address of the API.
    fn path(&self) -> &'static [&'static str];

    /// The headers of every request.
    fn headers(&self) -> HeaderMap;

    /// The header that the key goes into, and what stands before it.
    fn key_header(&self) -> (HeaderName, &'static str);

    /// What an answer is called in messages.
    fn answer_name(&self) -> &'static str;

    fn encode(&self, request: &ModelRequest<'_>, target: &Target<'_>) -> Fields;

    /// Reads a whole answer, written by `origin`.
    fn decode(&self, body: &[u8], origin: &Origin) -> Result<ModelAnswer, ModelError>;

    /// What reads an answer that comes in events.
    fn decoder(&self, origin: &Origin) -> Box<dyn StreamDecoder>;
}

/// Whom a request is written for.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    pub spec: &'a ModelSpec,
    pub origin: &'a Origin,
    /// Whether the answer shall come in events.
    pub streams: bool,
}

/// Reads an answer event by event.
pub trait StreamDecoder: Send {
    /// Takes in an event, and adds what is new in it.
    fn read(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError>;

    /// Whether the answer is complete. Events that follow may be left unread.
    fn is_done(&self) -> bool;

    /// The whole answer, or [`ModelError::Cut`] if the events ended before it did.
    fn finish(self: Box<Self>) -> Result<ModelAnswer, ModelError>;
}

impl Api {
    pub fn wire(self) -> &'static dyn Wire {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::Anthropic => &anthropic::Anthropic,
        }
    }
}

/// The header with a key. None if the key cannot be part of one.
pub(crate) fn authorization(wire: &dyn Wire, key: &Secret) -> Option<(HeaderName, HeaderValue)> {
    let (name, before) = wire.key_header();
    let mut value = HeaderValue::from_str(&format!("{before}{}", key.expose())).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// An endpoint's own words about an error, wherever it put them.
pub(crate) fn error_words(body: &Fields) -> Option<String> {
    let error = body.get("error");
    let nested = error.and_then(RawJson::read::<Fields>);
    nested
        .and_then(|nested| nested.read("message"))
        .or_else(|| error?.read())
        .or_else(|| body.read("message"))
        .or_else(|| body.read("detail"))
}

/// Errors in a stream have a kind instead of a status. These may go better the next time.
fn is_passing(kind: &str) -> bool {
    ["overloaded", "rate_limit", "api_error", "server_error", "timeout", "unavailable"]
        .iter()
        .any(|part| kind.contains(part))
}

fn sum_of(parts: [Option<u64>; 3]) -> Option<u64> {
    parts[0]?;
    Some(parts.into_iter().flatten().fold(0, u64::saturating_add))
}

fn is_filled(value: &RawJson) -> bool {
    !matches!(value.text(), "null" | "\"\"" | "[]" | "{}")
}
