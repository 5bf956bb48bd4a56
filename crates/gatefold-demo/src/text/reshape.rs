//! Another form of a text.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    arguments::{Integer, Text},
    error::{ToolError, refuse},
    text::{Input, MAX_CHARS},
};

/// The longest text that a replacement gives.
const MAX_OUTPUT_CHARS: usize = 2 * MAX_CHARS;
const WIDTH_DEFAULT: usize = 80;

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    text: String,
}

/// Replace every occurrence of a text, letter for letter. No patterns. The result has at most
/// 100,000 characters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplaceText {
    /// Text to change.
    text: Input,
    /// Text to look for.
    find: Text<1, 1_000>,
    /// Text to put in its place; empty to remove.
    replacement: Text<0, 1_000>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Replaced {
    text: String,
    replacements: usize,
}

/// Change a text to upper, lower, title, sentence, snake, kebab or camel case.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangeCase {
    /// Text to change.
    text: Input,
    /// Case to change it to. "snake", "kebab" and "camel" join the words and drop punctuation.
    case: Case,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Case {
    Upper,
    Lower,
    Title,
    Sentence,
    Snake,
    Kebab,
    Camel,
}

/// Make a short name for a web address from a title: lower case, letters and digits of any
/// script, hyphens between words.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Slugify {
    /// Title to shorten.
    text: Text<1, 1_000>,
    /// Most characters of the result. Words are left out whole. Default 80.
    max_length: Option<Integer<1, 200>>,
}

/// Break the lines of a text at spaces so that none is longer than a width in characters. A
/// single longer word stays whole. Blank lines between paragraphs are kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrapText {
    /// Text to wrap.
    text: Input,
    /// Longest line in characters. Default 80.
    width: Option<Integer<10, 500>>,
}

/// Shorten a text to a number of characters at the end of a word and mark the cut with "…",
/// which counts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TruncateText {
    /// Text to shorten.
    text: Input,
    /// Most characters of the result.
    max_length: Integer<1, 50_000>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Truncated {
    text: String,
    truncated: bool,
}

pub(super) fn replace_text(arguments: &ReplaceText) -> Result<Replaced, ToolError> {
    let (text, find, replacement) = (&*arguments.text, &*arguments.find, &*arguments.replacement);
    let replacements = text.matches(find).count();
    let removed = find.chars().count() * replacements;
    let added = replacement.chars().count() * replacements;
    let length = text.chars().count() - removed + added;
    if length > MAX_OUTPUT_CHARS {
        return Err(refuse(
            format!("the result would have {length} characters, more than {MAX_OUTPUT_CHARS}"),
            "replace in smaller parts of the text",
        ));
    }
    Ok(Replaced { text: text.replace(find, replacement), replacements })
}

pub(super) fn change_case(arguments: &ChangeCase) -> Output {
    let text = &*arguments.text;
    let text = match arguments.case {
        Case::Upper => text.to_uppercase(),
        Case::Lower => text.to_lowercase(),
        Case::Title => text.split_inclusive(char::is_whitespace).map(capitalise).collect(),
        Case::Sentence => {
            text.split_inclusive(['.', '!', '?', '\n']).map(capitalise_after_space).collect()
        }
        Case::Snake => lower_words(text).join("_"),
        Case::Kebab => lower_words(text).join("-"),
        Case::Camel => {
            let words = lower_words(text);
            let first = words.iter().take(1).cloned();
            first.chain(words.iter().skip(1).map(|word| capitalise(word))).collect()
        }
    };
    Output { text }
}

pub(super) fn slugify(arguments: &Slugify) -> Result<Output, ToolError> {
    let max = arguments.max_length.map_or(WIDTH_DEFAULT, Integer::size);
    let mut slug = String::new();
    for word in lower_words(&arguments.text) {
        let hyphen = usize::from(!slug.is_empty());
        if slug.chars().count() + hyphen + word.chars().count() > max {
            break;
        }
        slug.push_str(&"-"[..hyphen]);
        slug.push_str(&word);
    }
    if slug.is_empty() {
        return Err(refuse(
            format!("no word of the text fits into {max} characters"),
            "give a text with letters or digits, or a larger `max_length`",
        ));
    }
    Ok(Output { text: slug })
}

pub(super) fn wrap_text(arguments: &WrapText) -> Output {
    let width = arguments.width.map_or(WIDTH_DEFAULT, Integer::size);
    let mut lines = Vec::new();
    for line in arguments.text.lines() {
        let mut current = String::new();
        let mut length = 0;
        for word in line.split_whitespace() {
            let word_length = word.chars().count();
            if length > 0 && length + 1 + word_length > width {
                lines.push(std::mem::take(&mut current));
                length = 0;
            }
            if length > 0 {
                current.push(' ');
                length += 1;
            }
            current.push_str(word);
            length += word_length;
        }
        lines.push(current);
    }
    Output { text: lines.join("\n") }
}

pub(super) fn truncate_text(arguments: &TruncateText) -> Truncated {
    let (text, max) = (&*arguments.text, arguments.max_length.size());
    if text.chars().count() <= max {
        return Truncated { text: text.to_owned(), truncated: false };
    }
    let kept: String = text.chars().take(max - 1).collect();
    let next = text.chars().nth(max - 1);
    // Back to the last space, unless the cut is at the end of a word or there is none.
    let inside = next.is_some_and(|c| !c.is_whitespace());
    let end = if inside { kept.rfind(char::is_whitespace) } else { None };
    let kept = kept[..end.unwrap_or(kept.len())].trim_end();
    Truncated { text: format!("{kept}…"), truncated: true }
}

fn lower_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

fn capitalise(word: &str) -> String {
    let mut rest = word.chars();
    let first = rest.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(rest.as_str().to_lowercase().chars()).collect()
}

fn capitalise_after_space(sentence: &str) -> String {
    let body = sentence.trim_start();
    let space = &sentence[..sentence.len() - body.len()];
    format!("{space}{}", capitalise(body))
}
