//! Turns as chat completions.

use serde_json::{Value, json};

use super::{ModelTurn, TurnOutcome, argument_pieces, pieces};

pub(super) const ERROR: &str =
    "data: {\"error\":{\"message\":\"the model fell over\",\"type\":\"server_error\"}}\n\n";

pub(super) fn whole(turn: &ModelTurn, number: usize, usage: Option<u64>) -> Value {
    let mut message = json!({ "role": "assistant", "content": null, "refusal": null });
    let said = if turn.outcome == TurnOutcome::Refusal { "refusal" } else { "content" };
    if !turn.text.is_empty() {
        message[said] = json!(turn.text);
    }
    if let Some((thought, _)) = &turn.thinking {
        message["reasoning_content"] = json!(thought);
    }
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().enumerate();
        let calls = calls.map(|(at, (name, arguments))| call(at, number, name, arguments));
        message["tool_calls"] = calls.collect();
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish(turn) });
    let choices = if turn.outcome == TurnOutcome::Nothing { json!([]) } else { json!([choice]) };
    let mut body = json!({ "object": "chat.completion", "choices": choices });
    if let Some(tokens) = usage {
        body["usage"] = reported(tokens);
    }
    body
}

pub(super) fn events(turn: &ModelTurn, number: usize, usage: Option<u64>) -> Vec<String> {
    let mut events = Vec::new();
    let mut send = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        events.push(event(&json!({ "object": "chat.completion.chunk", "choices": [choice] })));
    };
    if turn.outcome != TurnOutcome::Nothing {
        send(json!({ "role": "assistant", "content": "" }), None);
        if let Some((thought, _)) = &turn.thinking {
            for piece in pieces(thought, turn.piece_chars) {
                send(json!({ "reasoning_content": piece }), None);
            }
        }
        let said = if turn.outcome == TurnOutcome::Refusal { "refusal" } else { "content" };
        for piece in pieces(&turn.text, turn.piece_chars) {
            send(json!({ said: piece }), None);
        }
        for (at, (name, _)) in turn.calls.iter().enumerate() {
            let mut begun = call(at, number, name, "");
            begun["index"] = json!(at);
            send(json!({ "tool_calls": [begun] }), None);
        }
        for (at, piece) in argument_pieces(turn) {
            let more = json!({ "index": at, "function": { "arguments": piece } });
            send(json!({ "tool_calls": [more] }), None);
        }
        send(json!({}), Some(finish(turn)));
    }
    let mut last = json!({ "object": "chat.completion.chunk", "choices": [] });
    if let Some(tokens) = usage {
        last["usage"] = reported(tokens);
    }
    events.push(event(&last));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn call(at: usize, number: usize, name: &str, arguments: &str) -> Value {
    let function = json!({ "name": name, "arguments": arguments });
    json!({ "id": format!("c{number}_{at}"), "type": "function", "function": function })
}

fn finish(turn: &ModelTurn) -> &'static str {
    match turn.outcome {
        TurnOutcome::Length => "length",
        _ if turn.calls.is_empty() => "stop",
        _ => "tool_calls",
    }
}

fn reported(tokens: u64) -> Value {
    json!({
        "prompt_tokens": tokens - 1,
        "completion_tokens": 1,
        "prompt_tokens_details": { "cached_tokens": tokens / 2 },
    })
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
