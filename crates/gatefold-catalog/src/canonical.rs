use gatefold_core::Digest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The digest of a JSON text regardless of its key order and spacing. Numbers count as written.
///
/// A text nested too deeply to be parsed is hashed byte by byte.
pub(crate) fn digest(json: &str) -> Digest {
    let canonical = serde_json::from_str(json).map(text);
    let text = canonical.as_deref().unwrap_or(json);
    Digest::new(Sha256::digest(text).into())
}

/// A value as text in one fixed key order.
pub(crate) fn text(value: Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_order_and_spacing_do_not_count_but_digits_do() {
        let one = digest(r#"{"a": {"y": [1, 2], "x": 12345678901234567890}, "b": 1.0}"#);
        assert_eq!(one, digest(r#"{"b":1.0,"a":{"x":12345678901234567890,"y":[1,2]}}"#));
        assert_ne!(one, digest(r#"{"b":1.0,"a":{"x":12345678901234567891,"y":[1,2]}}"#));
        assert_ne!(one, digest(r#"{"b":1.0,"a":{"x":12345678901234567890,"y":[2,1]}}"#));
    }
}
