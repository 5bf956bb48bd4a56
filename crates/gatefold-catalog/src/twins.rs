//! Tools of one source that are easily taken for one another, and what tells them apart.

use std::fmt::Write as _;

use gatefold_search::words::{is_stop_word, split, stem};
use serde_json::Value;

use crate::raw::object_fields;
use crate::snapshot::Tool;

/// The least share of the words of two names that both have.
const ALIKE: f32 = 0.5;

/// The most words, and the most parameters, that tell a tool from its twin.
const NAMED: usize = 3;

/// How alike the names of two tools of one source are; nothing if they are not easily taken for one
/// another.
pub fn likeness(tool: &Tool, other: &Tool) -> Option<f32> {
    if tool.domain() != other.domain() || tool.id() == other.id() {
        return None;
    }
    let (own, others) = (words(tool.definition().name()), words(other.definition().name()));
    let common = own.iter().filter(|word| has(&others, word)).count();
    let all = own.len() + others.len() - common;
    #[expect(clippy::cast_precision_loss, reason = "a name has few words")]
    let share = common as f32 / all.max(1) as f32;
    (share >= ALIKE).then_some(share)
}

/// What a tool is about and its twin is not, and the reverse: `user, not channel; takes user_id, not
/// channel_id`. Nothing if neither names nor required parameters nor first lines differ.
pub fn told_apart(tool: &Tool, twin: &Tool) -> Option<String> {
    let of_names = [tool, twin].map(|each| words(each.definition().name()));
    let of_lines = [tool, twin].map(|each| words(each.line()));
    let words = difference(&of_names).or_else(|| difference(&of_lines));
    let parameters = difference(&[tool, twin].map(required));
    let mut text = words.unwrap_or_default();
    if let Some(parameters) = parameters {
        let between = if text.is_empty() { "" } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{between}takes {parameters}");
    }
    Some(text).filter(|text| !text.is_empty())
}

/// What the first has and the second has not, then the reverse, each at most [`NAMED`].
fn difference([own, others]: &[Vec<String>; 2]) -> Option<String> {
    let only = |these: &[String], those: &[String]| {
        let these = these.iter().filter(|word| !has(those, word)).take(NAMED);
        these.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    match (only(own, others), only(others, own)) {
        (own, others) if own.is_empty() && others.is_empty() => None,
        (own, others) if others.is_empty() => Some(own),
        (own, others) if own.is_empty() => Some(format!("no {others}")),
        (own, others) => Some(format!("{own}, not {others}")),
    }
}

/// The words of a text that say something, each once.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in split(text).into_iter().filter(|word| !is_stop_word(word)) {
        if !has(&words, &word) {
            words.push(word);
        }
    }
    words
}

/// Whether a word is among others, in whichever form.
fn has(words: &[String], word: &str) -> bool {
    words.iter().any(|other| stem(other) == stem(word))
}

/// The names of the parameters that a tool cannot do without.
fn required(tool: &Tool) -> Vec<String> {
    let fields = object_fields(tool.definition().input_schema()).unwrap_or_default();
    let required = fields.iter().find(|(key, _)| key == "required");
    let names: Option<Vec<Value>> =
        required.and_then(|(_, names)| serde_json::from_str(names).ok());
    let names = names.unwrap_or_default().into_iter();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}
