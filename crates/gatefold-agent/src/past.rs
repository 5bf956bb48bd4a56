//! What is not shown any more, read by handles that the prompt names.

use std::fmt::Write as _;
use std::sync::Arc;

use gatefold_model::{
    AssistantPart, CallArguments, History, Round, ToolCall, ToolResult, Turn, UserMessage, UserPart,
};

use crate::context::ResultPlace;

/// The longest text that is read by one handle, in bytes: as much as is kept of a result. Of a longer conversation it is
/// the end.
const PAST_BYTES: usize = 16 * 1024 * 1024;

/// How handles begin.
const PREFIX: &str = "past-";

/// A conversation as it was said. `past-7` is all before the turn 7, counted from 0, and `past-7-1` the result of
/// that turn's first call. The handles lead to the conversation itself, so they are good as long as it is kept.
#[derive(Debug, Clone)]
pub struct PastTexts(Arc<History>);

impl PastTexts {
    pub fn new(history: History) -> Self {
        Self(Arc::new(history))
    }

    /// The text under a handle. None if the handle is none of this conversation.
    pub fn find(&self, handle: &str) -> Option<String> {
        let numbers = handle.strip_prefix(PREFIX)?;
        let (turn, call) = match numbers.split_once('-') {
            Some((turn, call)) => (turn, Some(call.parse::<usize>().ok()?.checked_sub(1)?)),
            None => (numbers, None),
        };
        let turn: usize = turn.parse().ok()?;
        let Some(call) = call else {
            return self.0.turns().get(..turn).map(|turns| write_turns(turns, 0));
        };
        match self.0.turns().get(turn)? {
            Turn::Round(round) => round.results().get(call).map(result_text),
            Turn::User(_) => None,
        }
    }
}

pub(crate) fn result_handle(place: ResultPlace) -> String {
    format!("{PREFIX}{}-{}", place.turn, place.call + 1)
}

pub(crate) fn past_handle(end: usize) -> String {
    format!("{PREFIX}{end}")
}

/// Turns as a text to be read, the first of which is the turn `first`.
pub(crate) fn write_turns(turns: &[Turn], first: usize) -> String {
    let mut written = String::new();
    for (turn, at) in turns.iter().zip(first..) {
        match turn {
            Turn::User(message) => {
                let _ = writeln!(written, "## {at}. The user said\n{}\n", message_text(message));
            }
            Turn::Round(round) => write_round(&mut written, round, at),
        }
    }
    if written.len() > PAST_BYTES {
        let cut = written.ceil_char_boundary(written.len() - PAST_BYTES);
        written.replace_range(..cut, "[What was said before this is left out: it is too long.]\n");
    }
    written
}

fn write_round(written: &mut String, round: &Round, at: usize) {
    let _ = writeln!(written, "## {at}. The model said\n{}", round.said().text());
    for (call, (request, result)) in round.said().calls().zip(round.results()).enumerate() {
        let (handle, call) = (result_handle(ResultPlace { turn: at, call }), call + 1);
        let error = if result.is_error { ", an error" } else { "" };
        let _ = writeln!(written, "### Call {call}: {}", call_text(request));
        let _ = writeln!(written, "### Result {call} ({handle}){error}\n{}", result_text(result));
    }
    written.push('\n');
}

/// A call as its name and its arguments.
pub(crate) fn call_text(call: &ToolCall) -> String {
    match &call.arguments {
        CallArguments::Object(json) => format!("{} {}", call.name, json.text()),
        CallArguments::Malformed { written, .. } => format!("{} {written}", call.name),
    }
}

pub(crate) fn result_text(result: &ToolResult) -> String {
    parts_text(&result.parts)
}

pub(crate) fn message_text(message: &UserMessage) -> String {
    parts_text(message.parts())
}

fn parts_text(parts: &[UserPart]) -> String {
    let texts = parts.iter().map(|part| match part {
        UserPart::Text(text) => text.clone(),
        UserPart::Image(image) => {
            format!("[an image of {} bytes, not kept as text]", image.bytes().len())
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Whether a round says or does anything that can be told.
pub(crate) fn says_something(round: &Round) -> bool {
    let is_told = |part: &AssistantPart| match part {
        AssistantPart::Text { text, .. } => !text.trim().is_empty(),
        AssistantPart::Call(_) => true,
        _ => false,
    };
    round.said().parts.iter().any(is_told)
}
