//! The loop as a function, and driven against a scripted model.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod driven;
mod journaled;
mod metered;
mod properties;
mod resumed;
mod steps;

use gatefold_agent::{AgentEvent, AgentRun, Effect};
use gatefold_model::{
    Api, AssistantMessage, AssistantPart, CallArguments, Fields, History, ModelAnswer, Origin,
    StopReason, TokenUsage, ToolCall, ToolResult, UserMessage, UserPart,
};

fn asking(text: &str) -> History {
    History::new(UserMessage::text(text).unwrap())
}

fn answer(parts: Vec<AssistantPart>, stop: StopReason) -> AgentEvent {
    let url = "http://127.0.0.1:1/v1".parse().unwrap();
    let origin = Origin::new(Api::OpenAiChat, &url, "m");
    let message = AssistantMessage { origin, parts, extra: Fields::default() };
    let usage = TokenUsage { reported_total: Some(10), ..TokenUsage::default() };
    AgentEvent::Answered { answer: Box::new(ModelAnswer { message, stop, usage }) }
}

fn words(text: &str) -> AgentEvent {
    let part = AssistantPart::Text { text: text.to_owned(), raw: None };
    answer(vec![part], StopReason::Done)
}

fn call(name: &str, arguments: &str) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: String::new(),
        name: name.to_owned(),
        arguments: CallArguments::read(arguments),
        extra: Fields::default(),
    })
}

fn calls(written: &[(&str, &str)]) -> AgentEvent {
    let parts = written.iter().map(|(name, arguments)| call(name, arguments)).collect();
    answer(parts, StopReason::Calls)
}

fn returned(call: usize, text: &str) -> AgentEvent {
    AgentEvent::Returned { call, result: ToolResult::text(text) }
}

/// The effects in words: `ask`, `last`, the number of each call, and how the run ended.
fn shown(effects: &[Effect]) -> Vec<String> {
    use gatefold_agent::ToolUse;
    let show = |effect: &Effect| match effect {
        Effect::Ask(ToolUse::Allowed) => "ask".to_owned(),
        Effect::Ask(ToolUse::Over) => "last".to_owned(),
        Effect::Call { call, request } => format!("{call} {}", request.name),
        Effect::End(end) => serde_json::to_string(end).unwrap(),
    };
    effects.iter().map(show).collect()
}

/// The results of the last round, each as its texts.
fn results(run: &AgentRun) -> Vec<String> {
    let round = run.history().turns().iter().rev().find_map(|turn| match turn {
        gatefold_model::Turn::Round(round) => Some(round),
        gatefold_model::Turn::User(_) => None,
    });
    let texts = |result: &ToolResult| {
        let texts = result.parts.iter().map(|part| match part {
            UserPart::Text(text) => text.as_str(),
            UserPart::Image(_) => "[image]",
        });
        texts.collect::<Vec<_>>().join("|")
    };
    round.unwrap().results().iter().map(texts).collect()
}
