//! `text`: pure functions on a text.

use std::collections::HashMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::{
    error::{ToolError, refuse},
    fields::{Arguments, Field, Kind, choice, flag, integer, list, text},
    tool::{Effect::Reads, Tool, tool},
};

const MAX_CHARS: usize = 50_000;
/// How many different words are listed by frequency.
const MAX_FREQUENT: usize = 10;

pub(crate) fn tools() -> Vec<Tool> {
    let mut tools = inspecting();
    tools.extend(reshaping());
    tools.extend(encoding());
    tools
}

fn inspecting() -> Vec<Tool> {
    let word = vec![text("word", "In lower case."), integer("count", "How often it occurs.")];
    vec![
        tool(
            "count_words",
            Reads,
            "Count the characters, words and lines of a text and list its most frequent words.",
        )
        .takes([input()])
        .gives([
            integer("characters", "Unicode scalar values."),
            integer("words", "Runs of characters between white space."),
            integer("lines", "Lines, the last one included."),
            list("frequent_words", Kind::Object(word), "At most ten, most frequent first."),
        ])
        .computes(|arguments| Ok(count_words(arguments.text("text")))),
    ]
}

fn reshaping() -> Vec<Tool> {
    vec![
        tool("replace_text", Reads, "Replace every occurrence of a text, letter for letter.")
            .takes([input(), text("find", "Text to replace.").up_to(1_000)])
            .takes([text("replacement", "Text to put in its place.").up_to(1_000).or_empty()])
            .gives([output(), integer("replacements", "How many were replaced.")])
            .computes(|arguments| {
                let (text, find) = (arguments.text("text"), arguments.text("find"));
                let replaced = text.replace(find, arguments.text("replacement"));
                Ok(json!({ "text": replaced, "replacements": text.matches(find).count() }))
            }),
        tool("change_case", Reads, "Write a text in another case: upper, lower or title.")
            .takes([
                input(),
                choice("case", &["upper", "lower", "title"], "The case to write it in."),
            ])
            .gives([output()])
            .computes(|arguments| {
                let text = arguments.text("text");
                let changed = match arguments.text("case") {
                    "upper" => text.to_uppercase(),
                    "lower" => text.to_lowercase(),
                    _ => text.split_inclusive(char::is_whitespace).map(capitalised).collect(),
                };
                Ok(json!({ "text": changed }))
            }),
        tool("sort_lines", Reads, "Sort the lines of a text, and leave out repeated ones.")
            .takes([input(), flag("unique", "Leave out lines that occurred before.").or(false)])
            .takes([flag("descending", "Begin with the last.").or(false)])
            .gives([output(), integer("lines", "How many lines are left.")])
            .computes(|arguments| {
                let mut lines: Vec<_> = arguments.text("text").lines().collect();
                lines.sort_unstable();
                if arguments.flag("unique") {
                    lines.dedup();
                }
                if arguments.flag("descending") {
                    lines.reverse();
                }
                Ok(json!({ "text": lines.join("\n"), "lines": lines.len() }))
            }),
        tool("truncate_text", Reads, "Cut a text to a length, with an ellipsis at its end.")
            .takes([input(), integer("max_length", "Most characters to keep.").within(1..=50_000)])
            .gives([output(), flag("truncated", "Whether anything was cut.")])
            .computes(|arguments| {
                let (text, most) = (arguments.text("text"), arguments.size("max_length"));
                let truncated = text.chars().count() > most;
                let mut kept: String =
                    text.chars().take(if truncated { most - 1 } else { most }).collect();
                kept.extend(truncated.then_some('…'));
                Ok(json!({ "text": kept, "truncated": truncated }))
            }),
        tool("slugify", Reads, "Make a short name for web addresses out of a title.")
            .takes([text("text", "A title.").up_to(300)])
            .gives([output()])
            .computes(|arguments| {
                let lower = arguments.text("text").to_lowercase();
                let words = lower.split(|c: char| !c.is_alphanumeric());
                let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
                Ok(json!({ "text": words.join("-") }))
            }),
    ]
}

fn encoding() -> Vec<Tool> {
    vec![
        tool("encode_base64", Reads, "Encode a text as Base64 of its UTF-8 bytes (RFC 4648).")
            .takes([input()])
            .gives([text("base64", "With padding.")])
            .computes(|arguments| Ok(json!({ "base64": STANDARD.encode(arguments.text("text")) }))),
        tool("decode_base64", Reads, "Decode Base64 of UTF-8 bytes into a text.")
            .takes([text("base64", "Base64 to decode, with padding.").up_to(MAX_CHARS)])
            .gives([output()])
            .computes(decode_base64),
    ]
}

fn count_words(text: &str) -> serde_json::Value {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        if !word.is_empty() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    let mut frequent: Vec<_> = counts.into_iter().collect();
    frequent.sort_by(|(one, ones), (two, twos)| twos.cmp(ones).then_with(|| one.cmp(two)));
    let frequent = frequent.into_iter().take(MAX_FREQUENT);
    let frequent: Vec<_> =
        frequent.map(|(word, count)| json!({ "word": word, "count": count })).collect();
    json!({
        "characters": text.chars().count(),
        "words": text.split_whitespace().count(),
        "lines": text.lines().count(),
        "frequent_words": frequent,
    })
}

fn decode_base64(arguments: &Arguments) -> Result<serde_json::Value, ToolError> {
    let bytes = STANDARD.decode(arguments.text("base64").trim()).map_err(|error| {
        refuse(format!("`base64` cannot be decoded: {error}"), "check that it was copied whole")
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        refuse("the bytes are not UTF-8 text", "only encoded text can be shown here")
    })?;
    Ok(json!({ "text": text }))
}

fn capitalised(word: &str) -> String {
    let mut rest = word.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest.as_str().to_lowercase().chars()).collect()
}

fn input() -> Field {
    text("text", "The text to work on.").up_to(MAX_CHARS).or_empty()
}

fn output() -> Field {
    text("text", "The text that it comes to.")
}
