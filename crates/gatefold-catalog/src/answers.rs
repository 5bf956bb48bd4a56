//! Answers on their way to a client, as one that checks every member takes them.
//!
//! Sources write `null` for what they leave out, `[]` for an empty map, and half of a pair of
//! surrogates where a text was cut. A client that checks refuses all of such an answer. So does one that
//! reads a text which is JSON itself.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::fields::{
    ANNOTATIONS, Field, Kind, Rule, changeable, find, repair, repair_icons, repair_inside, text,
    to_json,
};
use crate::raw::with_whole_pairs;

mod media;

pub use media::media_type;

/// What an answer is about, and so which members it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    Tool,
    Prompt,
    Resource,
    /// Any other: only its texts are mended.
    Other,
}

const TOOL: [Rule; 2] = [("_meta", Kind::Object, None), ("isError", Kind::Bool, None)];
const PROMPT: [Rule; 2] = [("_meta", Kind::Object, None), ("description", Kind::Text, None)];
const RESOURCE: [Rule; 1] = [("_meta", Kind::Object, None)];
const BLOCK: [Rule; 8] = [
    ("_meta", Kind::Object, None),
    ("annotations", Kind::Object, None),
    ("icons", Kind::Array, None),
    ("title", Kind::Text, None),
    ("description", Kind::Text, None),
    ("size", Kind::Number, None),
    ("mimeType", Kind::Text, None),
    ("name", Kind::Text, None),
];
const CONTENTS: [Rule; 4] = [
    ("_meta", Kind::Object, None),
    ("mimeType", Kind::Text, None),
    ("text", Kind::Text, None),
    ("blob", Kind::Text, None),
];

/// The answer with every member of the kind that the protocol wants. What cannot be repaired becomes a
/// text, so that nothing is lost. `None` if all is as it should be; that keeps every letter.
pub fn repair_answer(answer: &str, kind: AnswerKind) -> Option<String> {
    let whole = with_whole_pairs(answer);
    let shaped = match kind {
        AnswerKind::Tool => tool_result(&whole),
        AnswerKind::Prompt => prompt(&whole),
        AnswerKind::Resource => resource(&whole),
        AnswerKind::Other => None,
    };
    shaped.or(match whole {
        Cow::Owned(whole) => Some(whole),
        Cow::Borrowed(_) => None,
    })
}

/// A part after its repair; none if it is as it should be.
type Repaired = Option<String>;

fn tool_result(answer: &str) -> Repaired {
    let mut fields = changeable(answer)?;
    let mut is_changed = repair(&mut fields, &TOOL, &mut Vec::new());
    let has_content = find(&fields, "content").is_some_and(|content| content != "null");
    is_changed |= repair_list(&mut fields, "content", block);
    // What only programs were to read is for everybody when there is nothing else.
    let structured = find(&fields, "structuredContent").map(str::to_owned);
    let unsaid = match structured {
        Some(own) if own.starts_with('{') => Some(own).filter(|_| !has_content),
        Some(own) if is_empty_list(&own) => {
            set(&mut fields, "structuredContent", "{}".to_owned());
            is_changed = true;
            None
        }
        // It has to be an object.
        Some(own) => {
            fields.retain(|(key, _)| key != "structuredContent");
            is_changed = true;
            Some(own).filter(|own| own != "null")
        }
        None => None,
    };
    if let Some(unsaid) = unsaid
        && find(&fields, "content").is_none_or(is_empty_list)
    {
        set(&mut fields, "content", format!("[{}]", text_block(&unsaid)));
        is_changed = true;
    }
    is_changed.then(|| to_json(&fields))
}

fn prompt(answer: &str) -> Repaired {
    let mut fields = changeable(answer)?;
    let mut is_changed = repair(&mut fields, &PROMPT, &mut Vec::new());
    is_changed |= repair_list(&mut fields, "messages", message);
    is_changed.then(|| to_json(&fields))
}

/// A message of a prompt. It has one part, so a list of them becomes several messages.
fn message(message: &str) -> Option<Vec<String>> {
    let written_message =
        |role: &str, part: String| format!(r#"{{"role":{role},"content":{part}}}"#);
    // Some give only the text.
    let Some(mut members) = changeable(message) else {
        let parts = blocks_of(message).into_iter();
        return Some(parts.map(|part| written_message(USER, part)).collect());
    };
    let content = find(&members, "content").unwrap_or("null");
    let role = find(&members, "role").filter(|role| matches!(*role, USER | r#""assistant""#));
    if let Some(role) = role
        && content.starts_with('{')
    {
        let mut parts = block(content)?;
        if parts.len() == 1 {
            set(&mut members, "content", parts.remove(0));
            return Some(vec![to_json(&members)]);
        }
        return Some(parts.into_iter().map(|part| written_message(role, part)).collect());
    }
    let role = role.unwrap_or(USER);
    let parts = list(content).into_iter().flat_map(blocks_of);
    Some(parts.map(|part| written_message(role, part)).collect())
}

const USER: &str = r#""user""#;

fn resource(answer: &str) -> Repaired {
    let mut fields = changeable(answer)?;
    let mut is_changed = repair(&mut fields, &RESOURCE, &mut Vec::new());
    is_changed |= repair_list(&mut fields, "contents", |part| match part {
        "null" => Some(Vec::new()),
        part => contents(part).map(|repaired| vec![repaired]),
    });
    is_changed.then(|| to_json(&fields))
}

/// The contents of a resource: a text, or bytes in base64.
fn contents(part: &str) -> Repaired {
    let mut members = changeable(part)?;
    let mut is_changed = repair(&mut members, &CONTENTS, &mut Vec::new());
    let blob = find(&members, "blob").and_then(text);
    let is_empty = blob.is_none() && find(&members, "text").is_none();
    // Bytes that are not base64 are the text that they look like.
    let rewritten = blob.and_then(|blob| match media::base64(&blob) {
        Some(base64) if base64 == blob => None,
        Some(base64) => Some(("blob", base64.into_owned())),
        None => Some(("text", blob.into_owned())),
    });
    if let Some((key, own)) = rewritten.or(is_empty.then(|| ("text", String::new()))) {
        members.retain(|(own, _)| key == "blob" || own != "blob");
        set(&mut members, key, json_text(&own));
        is_changed = true;
    }
    is_changed |= mend_json_text(&mut members);
    is_changed.then(|| to_json(&members))
}

/// Mends halves of pairs in a text that is JSON, or lines of it, where they are escaped once more. Whether it
/// had any.
fn mend_json_text(members: &mut Vec<Field<'_>>) -> bool {
    let own = find(members, "text").filter(|own| own.contains(r"\ud") || own.contains(r"\uD"));
    let Some(own) = own.and_then(text) else { return false };
    let Cow::Owned(whole) = with_whole_pairs(&own) else { return false };
    let mut values = serde_json::Deserializer::from_str(&own).into_iter::<&RawValue>();
    if !values.all(|value| value.is_ok()) {
        return false;
    }
    set(members, "text", json_text(&whole));
    true
}

/// One part of an answer's content; several or none if it is none by itself.
fn block(part: &str) -> Option<Vec<String>> {
    if part == "null" {
        return Some(Vec::new());
    }
    let Some(mut members) = changeable(part) else { return Some(vec![text_block(part)]) };
    let mut is_changed = repair(&mut members, &BLOCK, &mut Vec::new());
    let mut notes = Vec::new();
    repair_inside(&mut members, "annotations", &ANNOTATIONS, &mut notes);
    repair_icons(&mut members, &mut notes);
    is_changed |= !notes.is_empty();
    let member = |key: &str| find(&members, key).and_then(text);
    let kind = member("type").unwrap_or_default().into_owned();
    match kind.as_str() {
        "text" => {
            let own = find(&members, "text").unwrap_or("null");
            if !own.starts_with('"') {
                let words = if own == "null" { String::new() } else { own.to_owned() };
                set(&mut members, "text", json_text(&words));
                is_changed = true;
            }
            is_changed |= mend_json_text(&mut members);
        }
        kind @ ("image" | "audio") => {
            let media = media::Media { kind, data: member("data"), stated: member("mimeType") };
            match media.repair() {
                None => {}
                Some(media::Repair::Members { data, media_type }) => {
                    set(&mut members, "data", json_text(&data));
                    set(&mut members, "mimeType", json_text(&media_type));
                    is_changed = true;
                }
                Some(media::Repair::Block(block)) => return Some(vec![block]),
            }
        }
        "resource_link" => {
            let Some(uri) = member("uri").map(Cow::into_owned) else {
                return Some(vec![text_block(part)]);
            };
            if find(&members, "name").is_none() {
                set(&mut members, "name", json_text(&uri));
                is_changed = true;
            }
        }
        "resource" => {
            let own = find(&members, "resource").unwrap_or("null").to_owned();
            let has_uri = |own: &Vec<Field<'_>>| find(own, "uri").and_then(text).is_some();
            if !changeable(&own).as_ref().is_some_and(has_uri) {
                return Some(vec![text_block(part)]);
            }
            if let Some(repaired) = contents(&own) {
                set(&mut members, "resource", repaired);
                is_changed = true;
            }
        }
        // Without a kind it is nothing that a client could know.
        "" => return Some(vec![text_block(part)]),
        // A kind from the future: newer clients know it.
        _ => {}
    }
    is_changed.then(|| vec![to_json(&members)])
}

fn blocks_of(part: &str) -> Vec<String> {
    block(part).unwrap_or_else(|| vec![part.to_owned()])
}

/// The parts of a list, or the one part that stands where a list belongs.
fn list(json: &str) -> Vec<&str> {
    match serde_json::from_str::<Vec<&RawValue>>(json) {
        Ok(parts) => parts.into_iter().map(RawValue::get).collect(),
        Err(_) => vec![json],
    }
}

/// Repairs the parts of a list. One part that stands in its place becomes a list.
fn repair_list(
    fields: &mut Vec<Field<'_>>,
    key: &'static str,
    repair: impl Fn(&str) -> Option<Vec<String>>,
) -> bool {
    let Some(own) = find(fields, key) else { return false };
    let parts = list(own);
    let repaired: Vec<_> = parts.iter().map(|part| repair(part)).collect();
    if own.starts_with('[') && repaired.iter().all(Option::is_none) {
        return false;
    }
    let whole = repaired.into_iter().zip(parts);
    let whole: Vec<_> =
        whole.flat_map(|(new, own)| new.unwrap_or_else(|| vec![own.to_owned()])).collect();
    set(fields, key, format!("[{}]", whole.join(",")));
    true
}

fn set(fields: &mut Vec<Field<'_>>, key: &'static str, value: String) {
    match fields.iter_mut().find(|(own, _)| own == key) {
        Some((_, own)) => *own = value.into(),
        None => fields.push((key.into(), value.into())),
    }
}

fn is_empty_list(json: &str) -> bool {
    let inner = json.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// A part with this text; a JSON text stands for what it says.
fn text_block(json: &str) -> String {
    let words = text(json).unwrap_or(json.into());
    format!(r#"{{"type":"text","text":{}}}"#, json_text(&words))
}

fn json_text(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
