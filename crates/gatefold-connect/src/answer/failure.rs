//! What a model is told of an API's failure.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::Value;

use crate::media::MediaClass;

use super::blocks::ToolResult;
use super::{AnswerReading, ReceivedAnswer, notes, status_text};

/// The longest text in all, in bytes, but for the body.
const MAX_TEXT_BYTES: usize = 2 * 1024;

/// The longest message of the API, in bytes.
const MAX_MESSAGE_BYTES: usize = 1024;

/// The longest body that is shown as it is, in bytes.
const MAX_BODY_BYTES: usize = 1024;

/// The most messages of one answer.
const MAX_MESSAGES: usize = 8;

/// How deep messages are looked for.
const MAX_DEPTH: usize = 6;

/// Where APIs put what went wrong, the most telling first. RFC 9457 has `detail` and `title`.
const MESSAGE_NAMES: [&str; 16] = [
    "detail",
    "error_description",
    "message",
    "Message",
    "error_message",
    "errorMessage",
    "error_msg",
    "msg",
    "description",
    "faultstring",
    "reason",
    "title",
    "error",
    "errors",
    "fault",
    "details",
];

pub(super) fn result(
    answer: &ReceivedAnswer,
    text: Option<&str>,
    reading: &AnswerReading<'_>,
) -> ToolResult<'static> {
    let status = status_text(answer.status);
    let json: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
    let message = match (&json, text) {
        (Some(json), _) => messages(json),
        (None, Some(text)) => plain_message(answer, text),
        (None, None) => None,
    };
    let has_message = message.is_some();
    let mut lines = vec![match message {
        Some(message) => format!("the API answered {status}: {}", cut(&message, MAX_MESSAGE_BYTES)),
        None => format!("the API answered {status}"),
    }];
    if let Some(known) = described(&reading.action.failures, answer.status) {
        lines.push(format!("its description says of this status: {}", one_line(known)));
    }
    lines.extend(advice(answer, reading));
    let mut text = cut(&lines.join("\n"), MAX_TEXT_BYTES);
    let is_compound =
        |json: &Value| json.as_object().map_or(json.is_array(), |members| !members.is_empty());
    if let Some(body) = json.filter(is_compound).map(|json| json.to_string()) {
        // A long body is shown where it says what nothing else does.
        if body.len() <= MAX_BODY_BYTES || !has_message {
            text.push('\n');
            text.push_str(&cut(&body, MAX_BODY_BYTES));
        }
    }
    ToolResult::error(text)
}

/// What helps besides the API's own words.
fn advice(answer: &ReceivedAnswer, reading: &AnswerReading<'_>) -> Option<String> {
    let back = || notes::come_back(&answer.headers, reading.now).map(notes::seconds);
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            // GitHub and others say 403 where calls are used up.
            let exhausted = back().map(|seconds| format!("come back in {seconds} s"));
            exhausted
                .or_else(|| Some(reading.credential.to_owned()).filter(|text| !text.is_empty()))
        }
        StatusCode::TOO_MANY_REQUESTS => Some(match back() {
            Some(seconds) => format!("too many calls: come back in {seconds} s"),
            None => "too many calls: wait before the next one".to_owned(),
        }),
        status if status.is_redirection() => {
            answer.header("location").map(|location| format!("it is to be found at {location}"))
        }
        _ => back().map(|seconds| format!("come back in {seconds} s")),
    }
}

/// What the description says of a status: of itself, of its class, or of any.
fn described(failures: &BTreeMap<String, String>, status: StatusCode) -> Option<&str> {
    let class = format!("{}XX", status.as_u16() / 100);
    let names = [status.as_str(), &class, "default"];
    let text = names.iter().find_map(|name| {
        failures.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| text)
    })?;
    // Most descriptions only repeat the status.
    let is_new = status
        .canonical_reason()
        .is_none_or(|reason| !text.trim().trim_end_matches('.').eq_ignore_ascii_case(reason));
    Some(text.as_str()).filter(|text| is_new && !text.trim().is_empty())
}

fn messages(json: &Value) -> Option<String> {
    let mut found = Vec::new();
    collect(json, "", 0, &mut found);
    found.truncate(MAX_MESSAGES);
    (!found.is_empty()).then(|| found.join("; "))
}

fn collect(value: &Value, place: &str, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH || found.len() >= MAX_MESSAGES {
        return;
    }
    match value {
        Value::String(text) if !text.trim().is_empty() => {
            let text = one_line(text);
            let text = if place.is_empty() { text } else { format!("{place}: {text}") };
            if !found.contains(&text) {
                found.push(text);
            }
        }
        Value::Array(items) => {
            items.iter().take(MAX_MESSAGES).for_each(|item| collect(item, place, depth + 1, found));
        }
        Value::Object(members) => {
            let before = found.len();
            let place = place_in(value).unwrap_or_else(|| place.to_owned());
            let known = MESSAGE_NAMES.iter().filter_map(|name| Some((*name, members.get(*name)?)));
            for (name, value) in known {
                // A title or a code beside a message adds little; what is wrong in detail adds much.
                let is_list = matches!(name, "errors" | "details") || !value.is_string();
                if found.len() == before || is_list {
                    collect_named(name, value, &place, depth, found);
                }
            }
        }
        _ => {}
    }
}

fn collect_named(name: &str, value: &Value, place: &str, depth: usize, found: &mut Vec<String>) {
    let before = found.len();
    collect(value, place, depth + 1, found);
    if let (true, "errors" | "error" | "details" | "message" | "detail", Value::Object(members)) =
        (found.len() == before, name, value)
    {
        // The members are the arguments: `{"errors": {"email": ["is taken"]}}`.
        for (argument, value) in members.iter().take(MAX_MESSAGES) {
            collect(value, argument, depth + 2, found);
        }
    }
}

/// Which argument a message is about.
fn place_in(value: &Value) -> Option<String> {
    let names = ["field", "loc", "param", "pointer", "path", "property", "source"];
    names.iter().find_map(|name| match value.get(name)? {
        Value::String(place) => Some(place.clone()),
        // FastAPI's list of keys.
        Value::Array(places) => {
            let places = places.iter().map(|place| match place {
                Value::String(place) => place.clone(),
                other => other.to_string(),
            });
            Some(places.collect::<Vec<_>>().join("."))
        }
        // JSON:API's `{"pointer": ...}`.
        Value::Object(source) => source.values().find_map(Value::as_str).map(str::to_owned),
        _ => None,
    })
}

/// The message of an answer that is no JSON: the title of a page, else its text.
fn plain_message(answer: &ReceivedAnswer, text: &str) -> Option<String> {
    let media_type = answer.media_type().unwrap_or_default().to_ascii_lowercase();
    let start = text.trim_start().get(..15).unwrap_or_default().to_ascii_lowercase();
    let is_page = media_type.contains("html")
        || start.starts_with("<!doctype html")
        || start.starts_with("<html");
    let message = if is_page {
        one_line(&without_tags(element(text, "title").or_else(|| element(text, "h1"))?))
    } else if MediaClass::of(&media_type) == MediaClass::Text && media_type.contains("xml") {
        one_line(&without_tags(text))
    } else {
        one_line(text)
    };
    (!message.is_empty()).then_some(message)
}

/// What is in the first element of a name, in any case.
fn element<'t>(page: &'t str, name: &str) -> Option<&'t str> {
    // Only ASCII changes its case, so places stay the same.
    let lower = page.to_ascii_lowercase();
    let open = lower.find(&format!("<{name}"))?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find(&format!("</{name}"))?;
    Some(&page[start..end])
}

fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        out.push(' ');
        let Some(close) = rest[open..].find('>') else { return out };
        rest = &rest[open + close + 1..];
    }
    out.push_str(rest);
    out
}

fn one_line(text: &str) -> String {
    // What is beyond is cut later: this only saves work.
    let text = &text[..text.floor_char_boundary(4 * MAX_MESSAGE_BYTES)];
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}...", &text[..text.floor_char_boundary(limit)])
}
