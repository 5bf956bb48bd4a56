//! What the two providers refuse, as their documents and their errors have it. These rules are written
//! without a look at the encoders.

use std::collections::HashSet;

use serde_json::Value;

fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn is_id(text: &str) -> bool {
    (1..=40).contains(&text.len()) && is_name(text)
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str, String> {
    value[name].as_str().ok_or_else(|| format!("`{name}` is not a text: {value}"))
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    value[name].as_array().ok_or_else(|| format!("`{name}` is not a list: {value}"))
}

fn ensure(holds: bool, what: &str, about: &Value) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{what}: {about}")) }
}

/// Whether OpenAI's chat completions take a request, or what they refuse about it.
pub fn check_chat(body: &Value) -> Result<(), String> {
    let mut open: HashSet<String> = HashSet::new();
    let mut ids: HashSet<String> = HashSet::new();
    let messages = list(body, "messages")?;
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role")?;
        if role != "tool" {
            ensure(open.is_empty(), "calls have no result before", message)?;
        }
        match role {
            "system" => {
                ensure(at == 0, "a late system message", message)?;
                ensure(!text(message, "content")?.is_empty(), "empty", message)?;
            }
            "user" => match &message["content"] {
                Value::String(said) => ensure(!said.trim().is_empty(), "blank", message)?,
                Value::Array(parts) => {
                    ensure(!parts.is_empty(), "no parts", message)?;
                    parts.iter().try_for_each(check_chat_part)?;
                }
                _ => return Err(format!("content: {message}")),
            },
            "assistant" => {
                let calls = message.get("tool_calls");
                if calls.is_none() {
                    ensure(!text(message, "content")?.trim().is_empty(), "says nothing", message)?;
                }
                ensure(
                    message["content"].is_string() || message["content"].is_null(),
                    "content",
                    message,
                )?;
                for call in calls.map_or(Ok(&Vec::new()), |_| list(message, "tool_calls"))? {
                    let id = text(call, "id")?;
                    ensure(is_id(id) && ids.insert(id.to_owned()), "id", call)?;
                    open.insert(id.to_owned());
                    ensure(call["type"] == "function", "type", call)?;
                    ensure(is_name(text(&call["function"], "name")?), "name", call)?;
                    let arguments = text(&call["function"], "arguments")?;
                    let arguments: Value = serde_json::from_str(arguments)
                        .map_err(|error| format!("arguments: {error}: {call}"))?;
                    ensure(arguments.is_object(), "arguments", call)?;
                }
            }
            "tool" => {
                ensure(open.remove(text(message, "tool_call_id")?), "an orphan", message)?;
                text(message, "content")?;
            }
            _ => return Err(format!("role: {message}")),
        }
    }
    let last = messages.last().ok_or("no messages")?;
    ensure(open.is_empty() && last["role"] != "assistant", "the end", last)
}

fn check_chat_part(part: &Value) -> Result<(), String> {
    match text(part, "type")? {
        "text" => ensure(!text(part, "text")?.trim().is_empty(), "blank", part),
        "image_url" => {
            let url = text(&part["image_url"], "url")?;
            ensure(url.starts_with("data:image/") && url.contains(";base64,"), "image", part)
        }
        _ => Err(format!("part: {part}")),
    }
}

/// Whether Anthropic's messages take a request, or what they refuse about it.
pub fn check_messages(body: &Value) -> Result<(), String> {
    ensure(body["max_tokens"].as_u64().is_some_and(|limit| limit > 0), "max_tokens", body)?;
    if let Some(system) = body.get("system") {
        ensure(system.as_str().is_some_and(|text| !text.trim().is_empty()), "system", system)?;
    }
    let mut ids = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    let messages = list(body, "messages")?;
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        ensure(message["role"] == expected, "roles do not take turns", message)?;
        let blocks = list(message, "content")?;
        ensure(!blocks.is_empty(), "no blocks", message)?;
        if at % 2 == 0 {
            check_user_blocks(blocks, &mut open)?;
            ensure(open.is_empty(), "calls have no result", message)?;
        } else {
            check_model_blocks(blocks, &mut ids, &mut open)?;
        }
    }
    ensure(messages.len() % 2 == 1, "the end", body)
}

fn check_user_blocks(blocks: &[Value], open: &mut Vec<String>) -> Result<(), String> {
    let mut said = false;
    for block in blocks {
        if block["type"] != "tool_result" {
            said = true;
            check_block(block)?;
            continue;
        }
        ensure(!said, "a result after something else", block)?;
        let id = text(block, "tool_use_id")?;
        let at = open.iter().position(|own| own == id);
        open.remove(at.ok_or_else(|| format!("an orphan: {block}"))?);
        match block.get("content") {
            None => {}
            Some(Value::Array(parts)) => {
                ensure(!parts.is_empty(), "no parts", block)?;
                parts.iter().try_for_each(check_block)?;
            }
            Some(_) => return Err(format!("content: {block}")),
        }
    }
    Ok(())
}

fn check_block(block: &Value) -> Result<(), String> {
    match text(block, "type")? {
        "text" => ensure(!text(block, "text")?.trim().is_empty(), "blank", block),
        "image" => {
            let source = &block["source"];
            ensure(source["type"] == "base64" && source["data"].is_string(), "image", block)?;
            ensure(text(source, "media_type")?.starts_with("image/"), "image", block)
        }
        _ => Err(format!("block: {block}")),
    }
}

fn check_model_blocks(
    blocks: &[Value],
    ids: &mut HashSet<String>,
    open: &mut Vec<String>,
) -> Result<(), String> {
    for block in blocks {
        match text(block, "type")? {
            "text" => ensure(!text(block, "text")?.trim().is_empty(), "blank", block)?,
            "thinking" => {
                ensure(!text(block, "signature")?.is_empty(), "no signature", block)?;
                text(block, "thinking")?;
            }
            "tool_use" => {
                let id = text(block, "id")?;
                ensure(is_id(id) && ids.insert(id.to_owned()), "id", block)?;
                open.push(id.to_owned());
                ensure(is_name(text(block, "name")?) && block["input"].is_object(), "call", block)?;
            }
            _ => return Err(format!("block: {block}")),
        }
    }
    let last = blocks.last().expect("there are some");
    ensure(last["type"] != "thinking", "a thought at the end", last)
}
