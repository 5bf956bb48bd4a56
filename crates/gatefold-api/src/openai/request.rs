//! A request for a chat completion: what of it counts here, what is ignored, and what is refused.

use std::fmt;

use gatefold_model::{AssistantMessage, Round, Turn, UserMessage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::error::ApiError;
use crate::messages::Content;

/// The most messages of one request. The endpoint's limit for a body bounds their bytes.
const MESSAGES: usize = 2_000;

const WITHOUT_CALLS: &str =
    "a conversation is taken without its calls: leave out those of an assistant, and their results";

/// What clients send. Members that are not here, such as `temperature`, `max_tokens` and `user`, are
/// ignored: an agent's model has its own settings.
#[derive(Deserialize)]
pub(super) struct ChatRequest {
    pub(super) model: String,
    messages: Vec<Message>,
    #[serde(default)]
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    tools: Option<Vec<IgnoredAny>>,
    tool_choice: Option<Value>,
    functions: Option<Vec<IgnoredAny>>,
    function_call: Option<Value>,
    n: Option<f64>,
    logprobs: Option<bool>,
    top_logprobs: Option<f64>,
    modalities: Option<Vec<String>>,
    audio: Option<IgnoredAny>,
    web_search_options: Option<IgnoredAny>,
    response_format: Option<ResponseFormat>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
    refusal: Option<String>,
    tool_calls: Option<Vec<IgnoredAny>>,
    function_call: Option<IgnoredAny>,
    audio: Option<IgnoredAny>,
}

#[derive(Clone, Copy, Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct ResponseFormat {
    #[serde(rename = "type")]
    kind: String,
}

/// How a client wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    Streamed { with_usage: bool },
}

/// What was said, in the order of a history: it begins with a person, and a person speaks last.
#[derive(Debug, PartialEq)]
pub(super) struct Conversation {
    /// What the client tells the agent beside its own instructions.
    pub(super) instructions: Option<String>,
    pub(super) earlier: Vec<Turn>,
    pub(super) message: UserMessage,
}

impl ChatRequest {
    pub(super) fn delivery(&self) -> Delivery {
        let usage = self.stream_options.and_then(|options| options.include_usage);
        match self.stream {
            Some(true) => Delivery::Streamed { with_usage: usage.unwrap_or(false) },
            _ => Delivery::Whole,
        }
    }

    /// What is asked of an agent, unless it is something that an agent here does not do.
    pub(super) fn into_conversation(self) -> Result<Conversation, ApiError> {
        self.refuse_unsupported()?;
        if self.messages.len() > MESSAGES {
            let text = format!("a request has at most {MESSAGES} messages");
            return Err(ApiError::invalid("messages", text));
        }
        let mut gathered = GatheredMessages::default();
        for (at, message) in self.messages.into_iter().enumerate() {
            gathered.take(at, message)?;
        }
        gathered.into_conversation()
    }

    fn refuse_unsupported(&self) -> Result<(), ApiError> {
        const OWN_TOOLS: &str = "an agent calls its own tools, here at the gateway, and never those of \
                                 the client; leave this out";
        let has_some =
            |list: &Option<Vec<IgnoredAny>>| list.as_ref().is_some_and(|l| !l.is_empty());
        let may_call = |choice: &Option<Value>| choice.as_ref().is_none_or(|own| own != "none");
        let is_more_than = |number: Option<f64>, most: f64| number.is_some_and(|own| own > most);
        let has_modality =
            |wanted: &str| self.modalities.iter().flatten().any(|modality| modality == wanted);
        let is_formatted =
            self.response_format.as_ref().is_some_and(|format| format.kind != "text");
        let unsupported = [
            (has_some(&self.tools) && may_call(&self.tool_choice), "tools", OWN_TOOLS),
            (has_some(&self.functions) && may_call(&self.function_call), "functions", OWN_TOOLS),
            (is_more_than(self.n, 1.0), "n", "an agent answers once; leave `n` out"),
            (self.logprobs == Some(true), "logprobs", "there are no log probabilities"),
            (
                is_more_than(self.top_logprobs, 0.0),
                "top_logprobs",
                "there are no log probabilities",
            ),
            (has_modality("audio"), "modalities", "an agent answers in text"),
            (self.audio.is_some(), "audio", "an agent answers in text"),
            (is_formatted, "response_format", "an agent answers in text; ask for JSON in words"),
            (
                self.web_search_options.is_some(),
                "web_search_options",
                "an agent searches the web if it has a tool for it; leave this out",
            ),
        ];
        match unsupported.into_iter().find(|(is_asked_for, ..)| *is_asked_for) {
            Some((_, param, message)) => Err(ApiError::unsupported(param, message)),
            None => Ok(()),
        }
    }
}

/// The messages so far.
#[derive(Default)]
struct GatheredMessages {
    instructions: Vec<String>,
    turns: Vec<Turn>,
    images: usize,
}

impl GatheredMessages {
    fn take(&mut self, at: usize, message: Message) -> Result<(), ApiError> {
        let fault = |member: &str, text: &dyn fmt::Display| {
            ApiError::invalid(format!("messages[{at}].{member}"), text.to_string())
        };
        let Message { role, content, refusal, tool_calls, function_call, audio } = message;
        let has_calls =
            tool_calls.is_some_and(|calls| !calls.is_empty()) || function_call.is_some();
        match role.as_str() {
            "system" | "developer" => {
                let text = content.map(Content::into_text).transpose();
                let text = text.map_err(|error| fault("content", &error))?.unwrap_or_default();
                if !text.trim().is_empty() {
                    self.instructions.push(text);
                }
            }
            "user" => {
                let parts = content.map(|own| own.into_parts(&mut self.images)).transpose();
                let parts = parts.map_err(|error| fault("content", &error))?.unwrap_or_default();
                // Providers refuse a message that says nothing.
                self.turns.extend(UserMessage::new(parts).ok().map(Turn::User));
            }
            "assistant" if has_calls => return Err(fault("tool_calls", &WITHOUT_CALLS)),
            "assistant" if audio.is_some() => {
                return Err(fault("audio", &"what an assistant said is taken as text"));
            }
            "assistant" => {
                let text = content.map(Content::into_text).transpose();
                let text = text.map_err(|error| fault("content", &error))?.unwrap_or_default();
                let said = if text.is_empty() { refusal.unwrap_or_default() } else { text };
                self.take_answer(&said).map_err(|error| fault("role", &error))?;
            }
            "tool" | "function" => return Err(fault("role", &WITHOUT_CALLS)),
            other => return Err(fault("role", &format!("there is no role `{other}`"))),
        }
        Ok(())
    }

    /// What an assistant said. Two of its messages in a row are one, as providers want it.
    fn take_answer(&mut self, text: &str) -> Result<(), &'static str> {
        if text.trim().is_empty() {
            return Ok(());
        }
        match self.turns.pop() {
            None => return Err("a conversation begins with a message of the role `user`"),
            Some(Turn::Round(earlier)) => {
                let joined = format!("{}\n\n{text}", earlier.said().text());
                self.turns.push(Turn::Round(answer(&joined)));
            }
            Some(said) => self.turns.extend([said, Turn::Round(answer(text))]),
        }
        Ok(())
    }

    fn into_conversation(mut self) -> Result<Conversation, ApiError> {
        let Some(Turn::User(message)) = self.turns.pop() else {
            let text = "the last message has to be one of the role `user` that says something";
            return Err(ApiError::invalid("messages", text));
        };
        let instructions = (!self.instructions.is_empty()).then(|| self.instructions.join("\n\n"));
        Ok(Conversation { instructions, earlier: self.turns, message })
    }
}

/// What an assistant said, as the client tells it: not blank.
fn answer(text: &str) -> Round {
    let said = AssistantMessage::of_text(text).expect("blank texts were left out");
    Round::new(said, Vec::new()).expect("it has no calls")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(request: Value) -> Result<Conversation, ApiError> {
        serde_json::from_value::<ChatRequest>(request).unwrap().into_conversation()
    }

    fn says(messages: &Value) -> Value {
        json!({ "model": "gatefold", "messages": messages })
    }

    fn hello() -> Value {
        says(&json!([{ "role": "user", "content": "Hello" }]))
    }

    /// A request with one member more.
    fn with(member: &str, value: Value) -> Value {
        let mut request = hello();
        request[member] = value;
        request
    }

    /// The roles and texts of a conversation.
    fn told(conversation: &Conversation) -> Vec<String> {
        let Conversation { instructions, earlier, message } = conversation;
        let user = |message: &UserMessage| format!("user: {:?}", message.parts());
        let instructions = instructions.iter().map(|text| format!("system: {text:?}"));
        let earlier = earlier.iter().map(|turn| match turn {
            Turn::User(message) => user(message),
            Turn::Round(round) => format!("assistant: {:?}", round.said().text()),
        });
        instructions.chain(earlier).chain([user(message)]).collect()
    }

    #[test]
    fn a_conversation_is_read_in_the_order_of_a_history() {
        let read = read(says(&json!([
            { "role": "system", "content": "Be brief." },
            { "role": "user", "content": "One?" },
            { "role": "assistant", "content": "1", "refusal": null, "tool_calls": [] },
            { "role": "assistant", "content": [{ "type": "text", "text": "That is one." }] },
            { "role": "user", "content": "  " },
            { "role": "developer", "content": [{ "type": "text", "text": "In English." }] },
            { "role": "assistant", "content": null, "refusal": "No." },
            { "role": "user", "content": "Two?", "name": "ann" },
            { "role": "assistant", "content": null },
            { "role": "user", "content": [{ "type": "text", "text": "Three?" }] },
        ])));
        insta::assert_snapshot!(told(&read.unwrap()).join("\n"), @r#"
        system: "Be brief.\n\nIn English."
        user: [Text("One?")]
        assistant: "1\n\nThat is one.\n\nNo."
        user: [Text("Two?")]
        user: [Text("Three?")]
        "#);
    }

    #[test]
    fn what_official_clients_send_by_default_is_taken() {
        for (member, value) in [
            ("temperature", json!(0.7)),
            ("max_tokens", json!(100)),
            ("max_completion_tokens", json!(100)),
            ("user", json!("ann")),
            ("stop", json!(["END"])),
            ("seed", json!(7)),
            ("n", json!(1)),
            ("logprobs", json!(false)),
            ("tools", json!([])),
            ("tools", json!(null)),
            ("modalities", json!(["text"])),
            ("response_format", json!({ "type": "text" })),
            ("stream_options", json!(null)),
            ("no_such_member", json!({ "a": [1] })),
        ] {
            let read = read(with(member, value.clone()));
            assert!(read.is_ok(), "{member}: {value}: {read:?}");
        }
        let mut request = with("tools", json!([{ "type": "function" }]));
        request["tool_choice"] = json!("none");
        assert!(read(request).is_ok(), "tools that must not be called");
    }

    #[test]
    fn what_an_agent_does_not_do_is_refused() {
        for (member, value) in [
            ("tools", json!([{ "type": "function" }])),
            ("functions", json!([{ "name": "f" }])),
            ("n", json!(2)),
            ("logprobs", json!(true)),
            ("top_logprobs", json!(3)),
            ("modalities", json!(["text", "audio"])),
            ("audio", json!({ "voice": "ash" })),
            ("response_format", json!({ "type": "json_object" })),
            ("web_search_options", json!({})),
        ] {
            let refused = read(with(member, value)).unwrap_err();
            assert_eq!(refused.status, 400);
            let written = serde_json::to_value(refused.written()).unwrap();
            let error = &written["error"];
            assert_eq!(
                (&error["param"], &error["code"]),
                (&json!(member), &json!("unsupported_parameter"))
            );
        }
    }

    #[track_caller]
    fn check_fault(messages: &Value, param: &str, message: &str) {
        let refused = read(says(messages)).unwrap_err();
        let written = serde_json::to_value(refused.written()).unwrap();
        let told = written["error"]["message"].as_str().unwrap();
        assert_eq!(written["error"]["param"], param);
        assert!(told.starts_with(message), "{told}");
    }

    #[test]
    fn a_conversation_that_is_not_taken_is_told_where() {
        let user = json!({ "role": "user", "content": "Hello" });
        let last = "the last message has to be one of the role `user`";
        let calls = "a conversation is taken without its calls";
        check_fault(&json!([]), "messages", last);
        check_fault(&json!([{ "role": "user", "content": "" }]), "messages", last);
        check_fault(&json!([user, { "role": "assistant", "content": "Hi" }]), "messages", last);
        check_fault(
            &json!([{ "role": "assistant", "content": "Hi" }, user]),
            "messages[0].role",
            "a conversation begins with a message of the role `user`",
        );
        check_fault(
            &json!([user, { "role": "assistant", "content": null, "tool_calls": [{}] }]),
            "messages[1].tool_calls",
            calls,
        );
        check_fault(&json!([user, { "role": "tool", "content": "1" }]), "messages[1].role", calls);
        check_fault(&json!([{ "role": "robot" }]), "messages[0].role", "there is no role `robot`");
        let image =
            json!({ "type": "image_url", "image_url": { "url": "https://example.com/a.png" } });
        check_fault(
            &json!([user, { "role": "user", "content": [image] }]),
            "messages[1].content",
            "an image is taken as a data URL",
        );
        check_fault(
            &json!([{ "role": "system", "content": [image] }, user]),
            "messages[0].content",
            "a part of the type `image_url` is not taken here",
        );
        check_fault(&json!(vec![user; MESSAGES + 1]), "messages", "a request has at most 2000");
    }

    #[test]
    fn usage_is_streamed_where_it_is_asked_for() {
        let delivery = |more: Value| {
            let mut request = hello();
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<ChatRequest>(request).unwrap().delivery()
        };
        let usage = json!({ "include_usage": true });
        assert_eq!(delivery(json!({})), Delivery::Whole);
        assert_eq!(delivery(json!({ "stream": false, "stream_options": usage })), Delivery::Whole);
        assert_eq!(delivery(json!({ "stream": true })), Delivery::Streamed { with_usage: false });
        assert_eq!(
            delivery(json!({ "stream": true, "stream_options": usage })),
            Delivery::Streamed { with_usage: true }
        );
    }
}
