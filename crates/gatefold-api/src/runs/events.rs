//! The events of a run, as clients read them. This is a face of its own: a journal keeps more, in a form
//! that changes with the loop.

use gatefold_agent::{AgentEvent, Compaction, JournalEntry, Shortage, parts_without_date};
use gatefold_core::Timestamp;
use gatefold_dispatch::{RunEvent, RunOutcome};
use gatefold_model::{
    AssistantMessage, CallArguments, ModelAnswer, RawJson, StopReason, TokenUsage, ToolResult,
    UserMessage, UserPart,
};
use serde::Serialize;

/// An event with its number: 1 for a run's first, and one more for each.
#[derive(Debug, Serialize)]
pub(super) struct NumberedEvent {
    pub(super) number: u64,
    at: String,
    #[serde(flatten)]
    pub(super) event: PublicEvent,
}

/// What happened.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum PublicEvent {
    RunBegan {
        message: String,
        images: usize,
    },
    /// The model answered: in words, with calls, or both.
    Answered {
        text: String,
        calls: Vec<WantedCall>,
        stop: String,
        tokens: AnswerTokens,
    },
    NotAnswered {
        reason: String,
    },
    BudgetSpent {
        reason: String,
    },
    /// A call of the last answer has its result, as the model reads it.
    CallReturned {
        call: usize,
        is_error: bool,
        text: String,
        images: usize,
    },
    /// A call of the last answer goes on once somebody has decided about this approval.
    CallWaits {
        call: usize,
        approval: String,
    },
    /// The run waited or was interrupted, and goes on.
    Resumed,
    /// The model is asked one last time, without tools.
    LimitReached {
        limit: &'static str,
        reason: String,
    },
    Cancelled,
    /// The run cannot go on.
    GivenUp {
        reason: String,
    },
    /// The model is shown less of the conversation from now on. All of it is kept.
    Compacted {
        /// How many results it finds by their handles alone now.
        offloaded_results: usize,
        /// Whether a summary has taken the place of older answers.
        is_summarized: bool,
    },
    /// Something that is not for clients, so that no number is missing.
    Noted,
    /// It is the last one. No other follows.
    RunEnded {
        outcome: &'static str,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct WantedCall {
    /// From 0, in the order of the answer.
    call: usize,
    name: String,
    /// Null if the model wrote something else than an object.
    arguments: Option<RawJson>,
}

/// Null where the endpoint does not say.
#[derive(Debug, Serialize)]
pub(super) struct AnswerTokens {
    input: Option<u64>,
    output: Option<u64>,
    cached: Option<u64>,
}

/// A piece of an answer that is being written. It has no number, and nobody can come back to it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct TextPiece<'a> {
    pub(super) text: &'a str,
}

impl NumberedEvent {
    pub(super) fn of(event: &RunEvent) -> Self {
        let what = match JournalEntry::read(event) {
            Ok(JournalEntry::Began { said }) => PublicEvent::of_beginning(said.as_ref()),
            Ok(JournalEntry::Happened(happened)) => PublicEvent::of_event(happened),
            Ok(JournalEntry::Waits { call, approval }) => {
                PublicEvent::CallWaits { call, approval: approval.to_string() }
            }
            Ok(JournalEntry::Resumed) => PublicEvent::Resumed,
            Ok(JournalEntry::Note) => PublicEvent::Noted,
            Err(error) => {
                let (number, kind) = (event.number, &event.kind);
                tracing::warn!(number, kind, %error, "an event of a run could not be read");
                PublicEvent::Noted
            }
        };
        Self { number: event.number, at: event.at.to_string(), event: what }
    }

    /// The end has the number that the next event would have: a run that has ended gets no other.
    pub(super) fn end(last: u64, at: Timestamp, outcome: RunOutcome) -> Self {
        let event = PublicEvent::RunEnded { outcome: outcome_word(outcome) };
        Self { number: last + 1, at: at.to_string(), event }
    }
}

impl PublicEvent {
    /// The member `type`, by which clients choose what they listen to.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::RunBegan { .. } => "run_began",
            Self::Answered { .. } => "answered",
            Self::NotAnswered { .. } => "not_answered",
            Self::BudgetSpent { .. } => "budget_spent",
            Self::CallReturned { .. } => "call_returned",
            Self::CallWaits { .. } => "call_waits",
            Self::Resumed => "resumed",
            Self::LimitReached { .. } => "limit_reached",
            Self::Cancelled => "cancelled",
            Self::GivenUp { .. } => "given_up",
            Self::Compacted { .. } => "compacted",
            Self::Noted => "noted",
            Self::RunEnded { .. } => "run_ended",
        }
    }

    fn of_beginning(said: Option<&UserMessage>) -> Self {
        let (message, images) =
            said.map(|said| read_parts(parts_without_date(said))).unwrap_or_default();
        Self::RunBegan { message, images }
    }

    fn of_event(event: AgentEvent) -> Self {
        match event {
            AgentEvent::Answered { answer } => {
                let ModelAnswer { message, stop, usage } = *answer;
                let TokenUsage { input, output, cached, .. } = usage;
                Self::Answered {
                    text: message.text(),
                    calls: calls_of(&message),
                    stop: stop_word(stop),
                    tokens: AnswerTokens { input, output, cached },
                }
            }
            AgentEvent::NotAnswered { reason, .. } => Self::NotAnswered { reason },
            AgentEvent::DaySpent { reason } => Self::BudgetSpent { reason },
            AgentEvent::Returned { call, result: ToolResult { parts, is_error } } => {
                let (text, images) = read_parts(&parts);
                Self::CallReturned { call, is_error, text, images }
            }
            AgentEvent::RanShort { of } => {
                Self::LimitReached { limit: limit_word(of), reason: of.to_string() }
            }
            AgentEvent::Compacted { compaction: Compaction { offloads, card } } => {
                Self::Compacted { offloaded_results: offloads.len(), is_summarized: card.is_some() }
            }
            // What follows from it is an event of its own.
            AgentEvent::Overflowed { .. } => Self::Noted,
            AgentEvent::Cancelled => Self::Cancelled,
            AgentEvent::GivenUp { reason } => Self::GivenUp { reason },
        }
    }
}

/// The text, and how many images there are.
fn read_parts<'a>(parts: impl IntoIterator<Item = &'a UserPart>) -> (String, usize) {
    let (mut texts, mut images) = (Vec::new(), 0);
    for part in parts {
        match part {
            UserPart::Text(text) => texts.push(text.as_str()),
            UserPart::Image(_) => images += 1,
        }
    }
    (texts.join("\n"), images)
}

fn calls_of(message: &AssistantMessage) -> Vec<WantedCall> {
    let calls = message.calls().enumerate().map(|(call, wanted)| {
        let arguments = match &wanted.arguments {
            CallArguments::Object(json) => Some(json.clone()),
            CallArguments::Malformed { .. } => None,
        };
        WantedCall { call, name: wanted.name.clone(), arguments }
    });
    calls.collect()
}

fn stop_word(stop: StopReason) -> String {
    match stop {
        StopReason::Done => "done".to_owned(),
        StopReason::Calls => "calls".to_owned(),
        StopReason::Length => "length".to_owned(),
        StopReason::Refusal => "refusal".to_owned(),
        StopReason::Other(words) => words,
    }
}

fn limit_word(of: Shortage) -> &'static str {
    match of {
        Shortage::Iterations => "iterations",
        Shortage::Tokens => "tokens",
        Shortage::Cost => "cost",
        Shortage::Time => "time",
        Shortage::Room => "room",
        Shortage::NewResults => "new_results",
    }
}

pub(super) fn outcome_word(outcome: RunOutcome) -> &'static str {
    match outcome {
        RunOutcome::Done => "done",
        RunOutcome::Failed => "failed",
        RunOutcome::Cancelled => "cancelled",
    }
}

#[cfg(test)]
mod tests {
    use gatefold_model::{Api, AssistantPart, Fields, Origin, ToolCall};
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn written(number: u64, kind: &str, json: &serde_json::Value) -> String {
        let event = RunEvent {
            number,
            at: Timestamp::from_millis(1_764_000_000_789),
            kind: kind.to_owned(),
            json: to_raw_value(json).unwrap(),
        };
        let event = NumberedEvent::of(&event);
        let text = serde_json::to_string(&event).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["type"], event.event.name());
        text
    }

    fn of_event(event: &AgentEvent) -> String {
        written(7, "agent", &serde_json::to_value(event).unwrap())
    }

    fn call(arguments: CallArguments) -> AssistantPart {
        let (id, name) = ("secret-id".to_owned(), "mcp".to_owned());
        AssistantPart::Call(ToolCall { id, name, arguments, extra: Fields::default() })
    }

    #[test]
    fn an_answer_has_its_text_and_its_calls_and_nothing_of_its_provider() {
        let arguments = RawJson::parse(r#"{"a": 1.10}"#).unwrap();
        let malformed =
            CallArguments::Malformed { written: "{".to_owned(), fault: "no object".to_owned() };
        let url = "https://models.example/v1".parse().unwrap();
        let message = AssistantMessage {
            origin: Origin::new(Api::OpenAiChat, &url, "secret-model"),
            parts: vec![
                AssistantPart::Thinking { text: "Hm.".to_owned(), raw: None },
                AssistantPart::Text { text: "Let me look.".to_owned(), raw: None },
                call(CallArguments::Object(arguments)),
                call(malformed),
            ],
            extra: Fields::default(),
        };
        let usage = TokenUsage { input: Some(5), ..TokenUsage::default() };
        let answer = Box::new(ModelAnswer { message, stop: StopReason::Calls, usage });
        insta::assert_snapshot!(of_event(&AgentEvent::Answered { answer }));
    }

    #[test]
    fn each_event_is_a_shape_of_its_own() {
        let image = gatefold_model::Image::new("image/png", bytes::Bytes::from_static(b"x"));
        let parts = ["one", "two"].map(|text| UserPart::Text(text.to_owned()));
        let parts: Vec<_> = parts.into_iter().chain([UserPart::Image(image.unwrap())]).collect();
        let result = ToolResult { parts, is_error: true };
        let end =
            NumberedEvent::end(7, Timestamp::from_millis(1_764_000_000_789), RunOutcome::Done);
        let events = [
            written(1, "agent_begin", &json!({ "said": [{ "text": "Hi" }], "limits": limits() })),
            of_event(&AgentEvent::Returned { call: 1, result }),
            of_event(&AgentEvent::NotAnswered { reason: "no".to_owned(), is_final: true }),
            of_event(&AgentEvent::DaySpent { reason: "no".to_owned() }),
            of_event(&AgentEvent::RanShort { of: Shortage::Time }),
            of_event(&AgentEvent::Cancelled),
            of_event(&AgentEvent::GivenUp { reason: "no".to_owned() }),
            written(2, "agent_wait", &json!({ "call": 1, "approval": "abc", "state": "open" })),
            written(2, "agent_resumed", &json!({ "calls": [] })),
            written(2, "of_a_later_version", &json!({ "secret": 1 })),
            written(2, "agent", &json!({ "of_a_later_version": 1 })),
            serde_json::to_string(&end).unwrap(),
            serde_json::to_string(&TextPiece { text: "Hel" }).unwrap(),
        ];
        insta::assert_snapshot!(events.join("\n"));
    }

    fn limits() -> serde_json::Value {
        serde_json::to_value(gatefold_agent::RunLimits::default()).unwrap()
    }
}
