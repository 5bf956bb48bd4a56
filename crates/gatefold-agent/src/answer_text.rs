//! What a model reads of a tool's answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gatefold_core::CallError;
use gatefold_exchange::ToolAnswer;
use gatefold_model::{Image, ToolResult, UserPart};
use serde_json::Value;

/// The answer as texts and images, which are all that models take.
pub(crate) fn result_of(answer: Result<ToolAnswer, CallError>) -> ToolResult {
    match answer {
        Ok(ToolAnswer::Reply(reply)) => {
            let blocks = reply.content.iter().map(|block| serde_json::from_str(block.get()));
            let parts = blocks.filter_map(Result::ok).map(|block: Value| part_of(&block)).collect();
            ToolResult { parts, is_error: reply.is_error }
        }
        Ok(ToolAnswer::Result(payload)) => {
            let result: Value = serde_json::from_str(payload.json.get()).unwrap_or_default();
            ToolResult { parts: parts_of(&result), is_error: payload.is_error }
        }
        Ok(ToolAnswer::Question(_)) => {
            ToolResult::error("the tool asks for something that nobody can answer here")
        }
        Ok(ToolAnswer::Task(task)) => {
            ToolResult::text(format!("the call continues as a task: {}", task.id))
        }
        Err(error) => ToolResult::error(error.to_string()),
    }
}

fn parts_of(result: &Value) -> Vec<UserPart> {
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let structured = &result["structuredContent"];
    if blocks.is_empty() && !structured.is_null() {
        return vec![UserPart::Text(structured.to_string())];
    }
    blocks.iter().map(part_of).collect()
}

fn part_of(block: &Value) -> UserPart {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let content = match block["type"].as_str() {
        Some("text") => text(&block["text"]),
        Some("image") => match image_of(block) {
            Some(image) => return UserPart::Image(image),
            None => format!("[an image of the type {}, not shown]", text(&block["mimeType"])),
        },
        Some("resource") if block["resource"]["text"].is_string() => {
            text(&block["resource"]["text"])
        }
        Some("resource_link") => format!("[resource {}]", text(&block["uri"])),
        kind => format!("[{}, not shown]", kind.unwrap_or("something")),
    };
    UserPart::Text(content)
}

/// An image of a type and a size that models take.
fn image_of(block: &Value) -> Option<Image> {
    let bytes = STANDARD.decode(block["data"].as_str()?).ok()?;
    Image::new(block["mimeType"].as_str()?, bytes.into()).ok()
}
