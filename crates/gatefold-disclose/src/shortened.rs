//! A result whose texts are too long for a model, in two: its texts, to be kept elsewhere, and the
//! same result with a preview instead of them.

use gatefold_catalog::{object_fields, with_fields, without_spaces};
use gatefold_core::Payload;
use serde_json::value::RawValue;

use crate::arguments::{json_text, object_text, unquoted};
use crate::blocks::{Block, ResultParts};
use crate::surface::{raw, text_block};

/// What stands in an embedded resource instead of its text.
const ELSEWHERE: &str = "(in the preview)";

/// What becomes of a result's `structuredContent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StructuredContent {
    /// Its source promises it with an output schema, so it stays whole.
    Promised,
    /// Nothing promises it, so it is kept with the texts.
    Unpromised,
}

/// How a preview is put into a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewPlace<'a> {
    /// As the result's first text.
    FirstText,
    /// Behind a JSON object, which goes into the envelope of `execute_tool`. Within the envelope, the
    /// preview's own quotes would each cost a backslash.
    BehindSummary(&'a str),
}

/// All that a model would read of a result as one text: its only text, or a JSON array of several. A
/// `structuredContent` that is not promised and says something else is added to it. `None` if there
/// is no text, or the result is not one of a tool.
pub fn result_text(payload: &Payload, structured: StructuredContent) -> Option<String> {
    let parts: ResultParts<'_> = serde_json::from_str(payload.json.get()).ok()?;
    let own = parts.structured_content.filter(|_| structured == StructuredContent::Unpromised);
    let mut texts: Vec<String> = parts.content.iter().filter_map(|block| text_of(block)).collect();
    let text = match texts.len() {
        0 => return Some(own?.get().to_owned()),
        1 => texts.swap_remove(0),
        _ => {
            let texts: Vec<_> = texts.iter().map(|text| as_json(text)).collect();
            format!("[{}]", texts.join(","))
        }
    };
    match own {
        Some(own) if !is_same_json(&text, own.get()) => {
            let text = as_json(&text);
            Some(object_text([("content", text.as_str()), ("structuredContent", own.get())]))
        }
        _ => Some(text),
    }
}

/// The result with a preview instead of what [`result_text`] gives. Images and all else that is no
/// text stay.
pub fn with_preview(
    payload: &Payload,
    structured: StructuredContent,
    preview: &str,
    place: PreviewPlace<'_>,
) -> Payload {
    let parts = serde_json::from_str::<ResultParts<'_>>(payload.json.get()).unwrap_or_default();
    let mut content = match place {
        PreviewPlace::FirstText => vec![text_block(preview)],
        PreviewPlace::BehindSummary(summary) => vec![text_block(summary), separate_text(preview)],
    };
    content.extend(parts.content.into_iter().filter_map(without_text));
    let content = serde_json::to_string(&content).expect("blocks are JSON");
    let mut fields = vec![("content", content.as_str())];
    if let Some(promised) = parts.structured_content
        && structured == StructuredContent::Promised
    {
        fields.push(("structuredContent", promised.get()));
    }
    if payload.is_error {
        fields.push(("isError", "true"));
    }
    fields.extend(parts.meta.map(|meta| ("_meta", meta.get())));
    let json = RawValue::from_string(object_text(fields)).expect("the values are JSON");
    Payload { json, is_error: payload.is_error }
}

/// A text that an envelope leaves where it is: it has more than its text.
pub fn separate_text(text: &str) -> Box<RawValue> {
    let annotations = serde_json::json!({ "audience": ["assistant"] });
    raw(&serde_json::json!({ "type": "text", "text": text, "annotations": annotations }))
}

/// The text of a text block, or of an embedded resource.
fn text_of(block: &RawValue) -> Option<String> {
    let block = Block::of(block);
    if let Some(text) = block.text {
        return unquoted(text);
    }
    unquoted(embedded_text(&block)?.1)
}

/// An embedded resource, and its text as JSON.
fn embedded_text<'a>(block: &Block<'a>) -> Option<(&'a str, &'a str)> {
    if block.kind() != "resource" {
        return None;
    }
    let (_, resource) = block.fields.iter().find(|(key, _)| key == "resource")?;
    let fields = object_fields(resource)?;
    let (_, text) = fields.iter().find(|(key, value)| key == "text" && value.starts_with('"'))?;
    Some((resource, text))
}

/// The block without its text. `None` if it is only that.
fn without_text(raw: &RawValue) -> Option<Box<RawValue>> {
    let block = Block::of(raw);
    if block.text.is_some() {
        return None;
    }
    let Some((resource, _)) = embedded_text(&block) else { return Some(raw.to_owned()) };
    let elsewhere = json_text(ELSEWHERE);
    let emptied =
        with_fields(
            resource,
            |key, value| {
                if key == "text" { elsewhere.clone().into() } else { value.into() }
            },
        )?;
    let block = with_fields(raw.get(), |key, value| {
        if key == "resource" { emptied.clone().into() } else { value.into() }
    })?;
    RawValue::from_string(block).ok()
}

/// The text itself if it is JSON, else as a JSON string.
fn as_json(text: &str) -> String {
    match serde_json::from_str::<&RawValue>(text.trim()) {
        Ok(json) => json.get().to_owned(),
        Err(_) => json_text(text),
    }
}

/// Whether two texts are the same JSON, but for spaces.
fn is_same_json(one: &str, other: &str) -> bool {
    let one = one.trim();
    one == other || without_spaces(one) == without_spaces(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(json: &str) -> Payload {
        Payload { json: RawValue::from_string(json.to_owned()).unwrap(), is_error: false }
    }

    fn check(result: &str, structured: StructuredContent, expected: Option<&str>) {
        let text = result_text(&payload(result), structured);
        assert_eq!(text.as_deref(), expected, "{result}");
    }

    #[test]
    fn all_that_a_model_would_read_is_one_text() {
        use StructuredContent::{Promised, Unpromised};
        let one = r#"{"content":[{"type":"text","text":"a\n\"b\""}]}"#;
        check(one, Unpromised, Some("a\n\"b\""));
        let two = r#"{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"},
            {"type":"text","text":" {\"b\": 1}"}]}"#;
        check(two, Unpromised, Some(r#"["a",{"b": 1}]"#));
        let same =
            r#"{"content":[{"type":"text","text":"{\"a\": 1}"}],"structuredContent":{"a":1}}"#;
        check(same, Unpromised, Some(r#"{"a": 1}"#));
        let other = r#"{"content":[{"type":"text","text":"done"}],"structuredContent":{"a":1}}"#;
        check(other, Unpromised, Some(r#"{"content":"done","structuredContent":{"a":1}}"#));
        check(other, Promised, Some("done"));
        check(r#"{"content":[],"structuredContent":{"a":1}}"#, Unpromised, Some(r#"{"a":1}"#));
        check(r#"{"content":[],"structuredContent":{"a":1}}"#, Promised, None);
        check(r#"{"content":[{"type":"image","data":"x"}]}"#, Unpromised, None);
        let embedded =
            r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":"long"}}]}"#;
        check(embedded, Unpromised, Some("long"));
        check("[1]", Unpromised, None);
    }

    #[test]
    fn a_preview_stands_for_the_texts_and_all_else_stays() {
        let whole = payload(
            r#"{"content":[{"type":"text","text":"long"},{"type":"image","data":"x"},
            {"type":"resource","resource":{"uri":"a:b","text":"longer"}}],
            "structuredContent":{"a":1},"_meta":{"k":[2]}}"#,
        );
        let shortened = |structured, place| {
            with_preview(&whole, structured, "short", place).json.get().to_owned()
        };
        assert_eq!(
            shortened(StructuredContent::Promised, PreviewPlace::FirstText),
            r#"{"content":[{"type":"text","text":"short"},{"type":"image","data":"x"},{"type":"resource","resource":{"uri":"a:b","text":"(in the preview)"}}],"structuredContent":{"a":1},"_meta":{"k":[2]}}"#
        );
        assert_eq!(
            shortened(
                StructuredContent::Unpromised,
                PreviewPlace::BehindSummary(r#"{"handle":"h"}"#)
            ),
            r#"{"content":[{"type":"text","text":"{\"handle\":\"h\"}"},{"type":"text","text":"short","annotations":{"audience":["assistant"]}},{"type":"image","data":"x"},{"type":"resource","resource":{"uri":"a:b","text":"(in the preview)"}}],"_meta":{"k":[2]}}"#
        );
    }
}
