//! JSON as providers really write it: `null` is absent, a number stands where a text should, and one
//! text where a list should. What is not understood is absent too, so each field says what it needs.

use gatefold_core::Secret;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A text. Client ids and lifetimes may be numbers.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
}

/// A text that is not empty and is a secret.
pub(crate) fn secret<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Secret>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) if !text.is_empty() => Some(Secret::new(text)),
        _ => None,
    })
}

/// Seconds, as a number, with or without a fraction, or as a text.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::String(text) => whole_seconds(text.trim()),
        Value::Number(number) => whole_seconds(&number.to_string()),
        _ => None,
    })
}

/// More than a number holds is as good as no word.
pub(crate) fn whole_seconds(text: &str) -> Option<u64> {
    match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|b| b.is_ascii_digit()) => {
            whole.parse().ok()
        }
        _ => text.parse().ok(),
    }
}

pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Bool(flag) => flag,
        Value::String(text) => text == "true",
        _ => false,
    })
}

/// Texts: a list of them, or one text with spaces between.
pub(crate) fn list<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    optional_list(from).map(Option::unwrap_or_default)
}

pub(crate) fn optional_list<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<String>>, D::Error> {
    Ok(words(Value::deserialize(from)?, |c| c == ' '))
}

/// Scopes, which some providers write with commas between (RFC 6749, section 5.1 wants spaces).
pub(crate) fn scopes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    Ok(words(Value::deserialize(from)?, |c| matches!(c, ' ' | ',')))
}

fn words(value: Value, is_between: fn(char) -> bool) -> Option<Vec<String>> {
    let filled = |text: &&str| !text.is_empty();
    match value {
        Value::String(text) => {
            Some(text.split(is_between).filter(filled).map(str::to_owned).collect())
        }
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str).filter(filled);
            Some(texts.map(str::to_owned).collect())
        }
        _ => None,
    }
}

/// A value of a kind that may be unknown to us.
pub(crate) fn known<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}
