//! Turns as Anthropic's messages.

use serde_json::{Value, json};

use super::{ModelTurn, TurnOutcome, argument_pieces, pieces};

pub(super) const ERROR: &str = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\
    \"overloaded_error\",\"message\":\"the model fell over\"}}\n\n";

pub(super) fn whole(turn: &ModelTurn, number: usize, usage: Option<u64>) -> Value {
    let mut content = Vec::new();
    if turn.outcome != TurnOutcome::Nothing {
        if let Some((thought, signature)) = &turn.thinking {
            content
                .push(json!({ "type": "thinking", "thinking": thought, "signature": signature }));
        }
        if !turn.text.is_empty() {
            content.push(json!({ "type": "text", "text": turn.text }));
        }
        for (at, (name, arguments)) in turn.calls.iter().enumerate() {
            let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            let id = format!("c{number}_{at}");
            content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        }
    }
    json!({
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": stop(turn),
        "usage": reported(usage),
    })
}

pub(super) fn events(turn: &ModelTurn, number: usize, usage: Option<u64>) -> Vec<String> {
    let mut events = Vec::new();
    let mut send = |name: &str, mut data: Value| {
        data["type"] = json!(name);
        events.push(format!("event: {name}\ndata: {data}\n\n"));
    };
    let message = json!({ "role": "assistant", "content": [], "usage": reported(usage) });
    send("message_start", json!({ "message": message }));
    send("ping", json!({}));
    if turn.outcome != TurnOutcome::Nothing {
        let mut index = 0;
        if let Some((thought, signature)) = &turn.thinking {
            let block = json!({ "type": "thinking", "thinking": "", "signature": "" });
            send("content_block_start", json!({ "index": index, "content_block": block }));
            for piece in pieces(thought, turn.piece_chars) {
                let delta = json!({ "type": "thinking_delta", "thinking": piece });
                send("content_block_delta", json!({ "index": index, "delta": delta }));
            }
            let delta = json!({ "type": "signature_delta", "signature": signature });
            send("content_block_delta", json!({ "index": index, "delta": delta }));
            send("content_block_stop", json!({ "index": index }));
            index += 1;
        }
        if !turn.text.is_empty() {
            let block = json!({ "type": "text", "text": "" });
            send("content_block_start", json!({ "index": index, "content_block": block }));
            for piece in pieces(&turn.text, turn.piece_chars) {
                let delta = json!({ "type": "text_delta", "text": piece });
                send("content_block_delta", json!({ "index": index, "delta": delta }));
            }
            send("content_block_stop", json!({ "index": index }));
            index += 1;
        }
        for (at, (name, _)) in turn.calls.iter().enumerate() {
            let id = format!("c{number}_{at}");
            let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            send("content_block_start", json!({ "index": index + at, "content_block": block }));
        }
        for (at, piece) in argument_pieces(turn) {
            let delta = json!({ "type": "input_json_delta", "partial_json": piece });
            send("content_block_delta", json!({ "index": index + at, "delta": delta }));
        }
        for at in 0..turn.calls.len() {
            send("content_block_stop", json!({ "index": index + at }));
        }
    }
    let output = usage.map_or(json!({}), |_| json!({ "output_tokens": 1 }));
    send("message_delta", json!({ "delta": { "stop_reason": stop(turn) }, "usage": output }));
    send("message_stop", json!({}));
    events
}

fn stop(turn: &ModelTurn) -> &'static str {
    match turn.outcome {
        TurnOutcome::Refusal => "refusal",
        TurnOutcome::Length => "max_tokens",
        _ if turn.calls.is_empty() => "end_turn",
        _ => "tool_use",
    }
}

/// Tokens of the cache are counted apart on this wire.
fn reported(tokens: Option<u64>) -> Value {
    let Some(tokens) = tokens else { return json!({}) };
    json!({
        "input_tokens": tokens - 1 - tokens / 2,
        "output_tokens": 1,
        "cache_read_input_tokens": tokens / 2,
    })
}
