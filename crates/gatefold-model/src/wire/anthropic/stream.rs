//! A message in events.

use super::super::StreamDecoder;
use super::answer::{MessageUsage, answer, part, read_error};
use crate::{AssistantPart, Delta, Fields, ModelAnswer, ModelError, Origin, RawJson, SseEvent};

/// The most blocks of one message.
const BLOCKS: usize = 1024;

const NOT_ONE: ModelError = ModelError::NotAnAnswer { expected: "events of a message" };

pub(super) struct EventDecoder {
    origin: Origin,
    blocks: Vec<OpenBlock>,
    calls: usize,
    stop: Option<String>,
    usage: MessageUsage,
    is_done: bool,
}

/// A block that is still being written.
struct OpenBlock {
    /// As the server counts.
    index: u64,
    start: Fields,
    /// What was added to members that are texts.
    texts: Vec<(&'static str, String)>,
    citations: Vec<RawJson>,
    /// The arguments of a call, as they are written.
    arguments: String,
    /// Which call it is.
    call: Option<usize>,
}

impl EventDecoder {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            blocks: Vec::new(),
            calls: 0,
            stop: None,
            usage: MessageUsage::default(),
            is_done: false,
        }
    }

    fn start_block(
        &mut self,
        mut event: Fields,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        let index = event.take_as("index").ok_or(NOT_ONE)?;
        let start: Fields = event.take_as("content_block").ok_or(NOT_ONE)?;
        if self.blocks.len() == BLOCKS {
            return Err(ModelError::TooLarge { what: "blocks", limit: BLOCKS as u64 });
        }
        let mut call = None;
        match start.read::<String>("type").as_deref() {
            Some("tool_use") => {
                let name = start.read("name").unwrap_or_default();
                deltas.push(Delta::Call { call: self.calls, name });
                call = Some(self.calls);
                self.calls += 1;
            }
            Some("text") => {
                let text: String = start.read("text").unwrap_or_default();
                if !text.is_empty() {
                    deltas.push(Delta::Text(text));
                }
            }
            _ => {}
        }
        let (texts, citations, arguments) = (Vec::new(), Vec::new(), String::new());
        self.blocks.push(OpenBlock { index, start, texts, citations, arguments, call });
        Ok(())
    }

    fn extend_block(
        &mut self,
        mut event: Fields,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ModelError> {
        let index: u64 = event.take_as("index").ok_or(NOT_ONE)?;
        let mut delta: Fields = event.take_as("delta").ok_or(NOT_ONE)?;
        let block = self.blocks.iter_mut().rev().find(|block| block.index == index);
        let block = block.ok_or(NOT_ONE)?;
        let kind: String = delta.take_as("type").unwrap_or_default();
        match kind.as_str() {
            "text_delta" => {
                let text: String = delta.take_as("text").unwrap_or_default();
                block.add("text", &text);
                deltas.extend((!text.is_empty()).then_some(Delta::Text(text)));
            }
            "thinking_delta" => {
                let text: String = delta.take_as("thinking").unwrap_or_default();
                block.add("thinking", &text);
                deltas.extend((!text.is_empty()).then_some(Delta::Thinking(text)));
            }
            "signature_delta" => {
                let signature: String = delta.take_as("signature").unwrap_or_default();
                block.add("signature", &signature);
            }
            "input_json_delta" => {
                let json: String = delta.take_as("partial_json").unwrap_or_default();
                block.arguments.push_str(&json);
                let call = block.call.filter(|_| !json.is_empty());
                deltas.extend(call.map(|call| Delta::Arguments { call, json }));
            }
            "citations_delta" => block.citations.extend(delta.take("citation")),
            // A kind of the future is of a block of the future, whose beginning is kept.
            _ => {}
        }
        Ok(())
    }
}

impl OpenBlock {
    fn add(&mut self, name: &'static str, text: &str) {
        match self.texts.iter_mut().find(|(own, _)| *own == name) {
            Some((_, before)) => before.push_str(text),
            None => self.texts.push((name, text.to_owned())),
        }
    }

    fn into_part(mut self) -> AssistantPart {
        for (name, added) in self.texts {
            let before: String = self.start.read(name).unwrap_or_default();
            self.start.set(name, &(before + &added));
        }
        if !self.citations.is_empty() {
            self.start.set("citations", &self.citations);
        }
        let arguments = (!self.arguments.is_empty()).then_some(self.arguments.as_str());
        part(RawJson::of(&self.start), arguments)
    }
}

impl StreamDecoder for EventDecoder {
    fn read(&mut self, event: &SseEvent, deltas: &mut Vec<Delta>) -> Result<(), ModelError> {
        let mut event = Fields::parse(event.data.as_bytes()).ok_or(NOT_ONE)?;
        let kind: String = event.take_as("type").unwrap_or_default();
        match kind.as_str() {
            "message_start" => {
                let message: Fields = event.take_as("message").unwrap_or_default();
                self.usage.update(message.read("usage").unwrap_or_default());
            }
            "content_block_start" => self.start_block(event, deltas)?,
            "content_block_delta" => self.extend_block(event, deltas)?,
            "message_delta" => {
                let delta: Fields = event.take_as("delta").unwrap_or_default();
                self.stop = delta.read("stop_reason").or(self.stop.take());
                self.usage.update(event.take_as("usage").unwrap_or_default());
            }
            "message_stop" => self.is_done = true,
            "error" => return Err(read_error(&event).unwrap_or(NOT_ONE)),
            // Pings, and what this wire promises to add.
            _ => {}
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn finish(self: Box<Self>) -> Result<ModelAnswer, ModelError> {
        if !self.is_done && self.stop.is_none() {
            return Err(ModelError::Cut);
        }
        let parts = self.blocks.into_iter().map(OpenBlock::into_part).collect();
        Ok(answer(self.origin, parts, self.stop.as_deref(), self.usage))
    }
}
