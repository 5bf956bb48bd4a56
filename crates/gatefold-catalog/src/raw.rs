use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of a JSON object in order, with the values' own text. Of two fields with one key the
/// last wins, as in most parsers. `None` if the text is not an object.
pub fn object_fields(json: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let Fields(mut fields) = serde_json::from_str(json).ok()?;
    if fields.len() <= FEW && has_each_key_once(&fields) {
        return Some(fields);
    }
    let mut seen = HashSet::new();
    let last: Vec<bool> = fields.iter().rev().map(|(key, _)| seen.insert(key.clone())).collect();
    let mut last = last.into_iter().rev();
    fields.retain(|_| last.next().unwrap_or(true));
    Some(fields)
}

/// The object with other values under the same keys, each as JSON text. `None` when the text is not an
/// object.
pub fn with_fields(
    json: &str,
    change: impl for<'a> Fn(&str, &'a str) -> Cow<'a, str>,
) -> Option<String> {
    let mut text = "{".to_owned();
    for (key, value) in object_fields(json)? {
        text.extend((text.len() > 1).then_some(','));
        text.push_str(&serde_json::Value::from(key.as_ref()).to_string());
        text.push(':');
        text.push_str(&change(&key, value));
    }
    text.push('}');
    Some(text)
}

/// A JSON text without the white space between its tokens: a model pays for each space, and sources
/// that indent their schemas have many. Everything else stays unchanged.
pub fn without_spaces(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut in_string, mut is_escaped) = (false, false);
    for c in json.chars() {
        if !in_string && matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        if !is_escaped && c == '"' {
            in_string = !in_string;
        }
        is_escaped = in_string && !is_escaped && c == '\\';
        text.push(c);
    }
    text
}

/// Up to this many fields are compared each with each, which is cheaper than a set.
const FEW: usize = 16;

fn has_each_key_once(fields: &[(Cow<'_, str>, &str)]) -> bool {
    fields
        .iter()
        .enumerate()
        .all(|(at, (key, _))| fields[..at].iter().all(|(other, _)| other != key))
}

struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

#[derive(Deserialize)]
struct FieldKey<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Vec<(Cow<'de, str>, &'de str)> = Vec::new();
        while let Some((FieldKey(key), value)) = map.next_entry::<FieldKey<'de>, &'de RawValue>()? {
            fields.push((key, value.get()));
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_without_spaces_is_equal_and_as_short_as_can_be(text in any::<String>(), n in any::<i64>()) {
            let value = serde_json::json!({"a \\\"b": [n, {" ": text}], "c": [], "d": text});
            let spaced = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(without_spaces(&spaced), value.to_string());
        }
    }

    #[test]
    fn only_spaces_between_tokens_go() {
        let spaced = "{ \"a\\\\\" :\t1.50 ,\r\n\"b\\\" c\": [ 1e3 ,true ] }";
        assert_eq!(without_spaces(spaced), r#"{"a\\":1.50,"b\" c":[1e3,true]}"#);
    }

    #[test]
    fn values_keep_their_text_and_the_last_of_a_key_counts() {
        let fields = object_fields(r#" {"a": 1.0, "b\u0041":[ 1 ], "a": "x" } "#).unwrap();
        assert_eq!(fields, [("bA".into(), "[ 1 ]"), ("a".into(), "\"x\"")]);
        assert_eq!(object_fields("[]"), None);
    }

    #[test]
    fn a_changed_object_keeps_its_keys_and_the_text_of_other_values() {
        let changed = |json| {
            with_fields(json, |key, value| if key == "a" { "[]".into() } else { value.into() })
        };
        let text = r#" {"b\"": 1.50, "a":{ }, "c": [ 1 ]} "#;
        assert_eq!(changed(text).unwrap(), r#"{"b\"":1.50,"a":[],"c":[ 1 ]}"#);
        assert_eq!(changed("{}").unwrap(), "{}");
        assert_eq!(changed("[]"), None);
    }
}
