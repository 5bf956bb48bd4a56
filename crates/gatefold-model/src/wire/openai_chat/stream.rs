//! A chat completion in chunks.

use serde::Serialize;

use super::super::{CALLS, StreamDecoder};
use super::answer::{CompletionUsage, MessageContent, read_error, written_text};
use super::{THOUGHTS, text_of};
use crate::{
    CallArguments, Delta, Fields, ModelAnswer, ModelError, Origin, RawJson, SseEvent, ToolCall,
};

/// The event after the last chunk.
const END: &str = "[DONE]";

/// The most members of a message that are kept without being known.
const UNKNOWN_MEMBERS: usize = 64;

pub(super) struct ChunkDecoder {
    origin: Origin,
    content: MessageContent,
    /// At most [`UNKNOWN_MEMBERS`].
    unknown: Vec<(String, UnknownMember)>,
    calls: Vec<OpenCall>,
    finish: Option<String>,
    usage: CompletionUsage,
    has_choice: bool,
    is_done: bool,
}

/// A member that nobody here knows: texts and lists grow, and anything else is replaced.
#[derive(Serialize)]
#[serde(untagged)]
enum UnknownMember {
    Text(String),
    List(Vec<RawJson>),
    Other(RawJson),
}

/// A call that is still being written.
struct OpenCall {
    /// As the server counts.
    index: Option<u64>,
    id: String,
    name: String,
    /// Whether its beginning was handed on.
    is_announced: bool,
    arguments: String,
    extra: Fields,
}

impl ChunkDecoder {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            content: MessageContent::default(),
            unknown: Vec::new(),
            calls: Vec::new(),
            finish: None,
            usage: CompletionUsage::default(),
            has_choice: false,
            is_done: false,
        }
    }

    fn read_delta(&mut self, mut delta: Fields, deltas: &mut Vec<Delta>) {
        let text = delta.take("content").as_ref().map(text_of).unwrap_or_default();
        let refusal: String = delta.take_as("refusal").unwrap_or_default();
        let calls = delta.take_as::<Vec<Fields>>("tool_calls").unwrap_or_default();
        delta.retain(|name, value| name != "role" && super::super::is_filled(value));
        let thought = THOUGHTS.iter().find_map(|name| delta.read::<String>(name));
        if let Some(thought) = thought {
            deltas.push(Delta::Thinking(thought));
        }
        for (name, value) in delta.iter() {
            self.add_unknown(name, value);
        }
        for (text, into) in [(text, &mut self.content.text), (refusal, &mut self.content.refusal)] {
            if !text.is_empty() {
                into.push_str(&text);
                deltas.push(Delta::Text(text));
            }
        }
        for call in calls {
            self.read_call(call, deltas);
        }
    }

    /// Adds to a member that nobody here knows.
    fn add_unknown(&mut self, name: &str, value: &RawJson) {
        let value = UnknownMember::read(value);
        if let Some((_, before)) = self.unknown.iter_mut().find(|(own, _)| own == name) {
            before.add(value);
        } else if self.unknown.len() < UNKNOWN_MEMBERS {
            self.unknown.push((name.to_owned(), value));
        }
    }

    fn read_call(&mut self, mut delta: Fields, deltas: &mut Vec<Delta>) {
        let mut function = delta.take_as::<Fields>("function").unwrap_or_default();
        let index = delta.take_as::<u64>("index");
        let id: String = delta.take_as("id").unwrap_or_default();
        let name: String = function.take_as("name").unwrap_or_default();
        let arguments = function.take("arguments").map(|arguments| written_text(&arguments));
        delta.retain(|name, value| name != "type" && !value.is_null());
        let Some(at) = self.open_call(index, &id) else { return };
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            call.id = id;
        }
        if !call.is_announced {
            call.name.push_str(&name);
        }
        call.extra.merge(&delta);
        let arguments = arguments.unwrap_or_default();
        call.arguments.push_str(&arguments);
        if !call.is_announced && !call.name.is_empty() {
            call.is_announced = true;
            deltas.push(Delta::Call { call: at, name: call.name.clone() });
        }
        if !arguments.is_empty() {
            deltas.push(Delta::Arguments { call: at, json: arguments });
        }
    }

    /// The call that a piece belongs to; a new one if need be. None beyond the limit.
    fn open_call(&mut self, index: Option<u64>, id: &str) -> Option<usize> {
        let found = match index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            // Some servers do not count, and send each call whole.
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        // Some count every call as the first, and tell them apart by their ids alone.
        let is_same =
            |at: &usize| id.is_empty() || self.calls[*at].id.is_empty() || self.calls[*at].id == id;
        if let Some(at) = found.filter(is_same) {
            return Some(at);
        }
        if self.calls.len() == CALLS {
            return None;
        }
        self.calls.push(OpenCall {
            index,
            id: id.to_owned(),
            name: String::new(),
            is_announced: false,
            arguments: String::new(),
            extra: Fields::default(),
        });
        Some(self.calls.len() - 1)
    }
}

impl StreamDecoder for ChunkDecoder {
    fn read(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        if event.data.trim() == END {
            self.is_done = true;
            return Ok(());
        }
        let not_one = ModelError::NotAnAnswer { expected: "chunks of a chat completion" };
        let mut chunk = Fields::parse(event.data.as_bytes()).ok_or(not_one)?;
        if let Some(error) = read_error(&chunk) {
            return Err(error);
        }
        if let Some(usage) = chunk.take_as("usage") {
            self.usage = usage;
        }
        // The chunk with the usage has no choice, and neither have some others.
        let choices = chunk.take_as::<Vec<Fields>>("choices").unwrap_or_default();
        let Some(mut choice) = choices.into_iter().next() else { return Ok(()) };
        self.has_choice = true;
        if let Some(delta) = choice.take_as("delta") {
            self.read_delta(delta, deltas);
        }
        if let Some(finish) = choice.take_as("finish_reason") {
            self.finish = Some(finish);
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn finish(self: Box<Self>) -> Result<ModelAnswer, ModelError> {
        let own = *self;
        // Some servers leave out the last event, and some the reason.
        match (own.is_done || own.finish.is_some(), own.has_choice) {
            (false, _) => return Err(ModelError::Cut),
            (true, false) => return Err(ModelError::Empty),
            (true, true) => {}
        }
        let calls = own.calls.into_iter().map(|call| ToolCall {
            id: call.id,
            name: call.name,
            arguments: CallArguments::read(&call.arguments),
            extra: call.extra,
        });
        let mut content = MessageContent { calls: calls.collect(), ..own.content };
        for (name, value) in &own.unknown {
            content.extra.set(name, value);
        }
        Ok(content.into_answer(own.origin, own.finish.as_deref(), own.usage))
    }
}

impl UnknownMember {
    fn read(value: &RawJson) -> Self {
        let list = || value.read().map(Self::List);
        let known = value.read().map(Self::Text).or_else(list);
        known.unwrap_or_else(|| Self::Other(value.clone()))
    }

    fn add(&mut self, more: Self) {
        match (self, more) {
            (Self::Text(text), Self::Text(more)) => text.push_str(&more),
            (Self::List(list), Self::List(more)) => list.extend(more),
            (own, more) => *own = more,
        }
    }
}
