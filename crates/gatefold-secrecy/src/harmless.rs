//! Values that are plainly not secret.

use super::shapes::{is_path, is_plain_path, is_plain_word};
use super::texts::has_secret;
use super::{REFERENCE, is_secret};

/// Replaces a byte of a reference in JSON, which has no control characters.
const IN_JSON: &str = "\u{fdd0}";

/// Whether a value is plainly not secret: words, numbers, paths, addresses, and lists of them.
pub(super) fn is_harmless(value: &str) -> bool {
    let value = value.trim();
    if value.contains(|c: char| c.is_control() && c != REFERENCE) {
        return false;
    }
    if value.starts_with(['{', '['])
        && let Ok(json) = serde_json::from_str(&value.replace(REFERENCE, IN_JSON))
    {
        return is_harmless_json("", &json);
    }
    let is_mark = |c: char| "\"'()[]<>!?".contains(c);
    let is_gap = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    !has_secret(value) && value.split(is_gap).all(|word| is_plain(word.trim_matches(is_mark)))
}

fn is_harmless_json(name: &str, value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Object(members) => members.iter().all(|(name, value)| is_harmless_json(name, value)),
        Value::Array(items) => items.iter().all(|item| is_harmless_json(name, item)),
        Value::String(text) => {
            !is_secret(name, &text.replace(IN_JSON, REFERENCE.encode_utf8(&mut [0; 4])))
        }
        Value::Number(number) => !is_secret(name, &number.to_string()),
        Value::Bool(_) | Value::Null => true,
    }
}

fn is_plain(word: &str) -> bool {
    if word.contains("://") {
        is_plain_address(word)
    } else if is_path(word) {
        is_plain_path(word)
    } else {
        is_plain_word(word)
    }
}

/// A URL that contains nothing that grants access.
fn is_plain_address(word: &str) -> bool {
    let is_legal =
        |c: char| c.is_alphanumeric() || "_-.*+/:=%?&#@[]~$".contains(c) || c == REFERENCE;
    word.chars().all(is_legal) && !has_secret(word)
}
