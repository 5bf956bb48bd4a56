use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::{self, Write as _};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::marked;

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

/// Whether a JSON text has arrays and objects in one another more than so many levels deep.
///
/// Most texts have fewer brackets than that, which is quickly seen.
pub fn is_nested_deeper(json: &str, levels: usize) -> bool {
    let opens = |byte: &&u8| matches!(byte, b'[' | b'{');
    if json.as_bytes().iter().filter(opens).count() <= levels {
        return false;
    }
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > levels {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The JSON text with `\ufffd` for each half of a surrogate pair that stands alone: it is legal JSON,
/// but no text, so strict parsers and model providers refuse it.
pub fn with_whole_pairs(json: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut text, mut taken, mut at) = (String::new(), 0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += found;
        let is_low = |at| matches!(unit(at), Some(0xdc00..=0xdfff));
        at += match unit(at) {
            Some(0xd800..=0xdbff) if is_low(at + 6) => 12,
            Some(0xd800..=0xdfff) => {
                text.push_str(&json[taken..at]);
                text.push_str("\\ufffd");
                taken = at + 6;
                6
            }
            Some(_) => 6,
            None => 2,
        };
    }
    if taken == 0 {
        return json.into();
    }
    text.push_str(&json[taken..]);
    text.into()
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

/// A JSON text for a person who decides: without spaces, all of its members, and of each key, text or number that
/// is long its two ends, of this many characters. Characters that nobody sees are marked.
pub fn by_ends(json: &str, ends: usize) -> String {
    let text = without_spaces(json);
    let mut shown = String::with_capacity(text.len().min(4 * ends));
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let end = if first == '"' { end_of_string(rest) } else { end_of_word(rest) };
        let (token, behind) = rest.split_at(end);
        push_by_ends(&mut shown, token, ends);
        rest = behind;
    }
    shown
}

fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let is_end = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The end of a number, of `true` and the like, or of one sign.
fn end_of_word(text: &str) -> usize {
    let is_sign = |c: char| "{}[],:\"".contains(c);
    match text.find(is_sign) {
        Some(0) => 1,
        Some(at) => at,
        None => text.len(),
    }
}

fn push_by_ends(shown: &mut String, token: &str, ends: usize) {
    let length = token.chars().count();
    // What says how much is left out takes room itself.
    if length <= 2 * ends + LEFT_OUT {
        return push_marked(shown, token);
    }
    let at = |count: usize| token.char_indices().nth(count).map_or(token.len(), |(at, _)| at);
    push_marked(shown, &token[..at(ends)]);
    let _ = write!(shown, "<... {} characters ...>", length - 2 * ends);
    push_marked(shown, &token[at(length - ends)..]);
}

/// About as long as the note of what is left out.
const LEFT_OUT: usize = 24;

fn push_marked(shown: &mut String, text: &str) {
    for c in marked(text).chars() {
        if c.is_control() {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
    }
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

    #[test]
    fn only_brackets_outside_of_texts_count_as_levels() {
        let check = |json: &str, levels: usize| {
            assert!(!is_nested_deeper(json, levels), "{json}");
            assert!(is_nested_deeper(json, levels - 1), "{json}");
        };
        check("[[[]]]", 3);
        check(r#"{"a": [{"b": {}}, [], [], []]}"#, 4);
        check(r#"[[], [], "[[[[\"[[[[", {"[[[": "\\"}]"#, 2);
        check(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), 100_000);
    }

    proptest! {
        #[test]
        fn a_text_without_spaces_is_equal_and_as_short_as_can_be(text in any::<String>(), n in any::<i64>()) {
            let value = serde_json::json!({"a \\\"b": [n, {" ": text}], "c": [], "d": text});
            let spaced = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(without_spaces(&spaced), value.to_string());
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_marked_and_whole_ones_stay() {
        for (json, expected) in [
            (r#"{"a\ud83d":"\uDC4D x \ud83d\ude00"}"#, r#"{"a\ufffd":"\ufffd x \ud83d\ude00"}"#),
            (r#""\ud83d\ud83d\ude00\ud83d""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#""\ud83d\n\\ud83d\\\ud83d""#, r#""\ufffd\n\\ud83d\\\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""é\u00e9\\é""#, r#""é\u00e9\\é""#),
            (r#""\é""#, r#""\é""#),
            (r"\ud83d\", r"\ufffd\"),
        ] {
            assert_eq!(with_whole_pairs(json), expected);
        }
    }

    #[test]
    fn only_spaces_between_tokens_go() {
        let spaced = "{ \"a\\\\\" :\t1.50 ,\r\n\"b\\\" c\": [ 1e3 ,true ] }";
        assert_eq!(without_spaces(spaced), r#"{"a\\":1.50,"b\" c":[1e3,true]}"#);
    }

    #[test]
    fn every_member_is_shown_by_its_ends() {
        let pad = "x".repeat(500);
        for (json, expected) in [
            (
                format!(r#"{{"a": "{pad}", "amount": 999999, "b": "{pad}"}}"#),
                r#"{"a":"xxx<... 494 characters ...>xxx","amount":999999,"b":"xxx<... 494 characters ...>xxx"}"#,
            ),
            (
                format!(r#"{{"{pad}":[1{}]}}"#, "0".repeat(400)),
                r#"{"xxx<... 494 characters ...>xxx":[1000<... 393 characters ...>0000]}"#,
            ),
            (
                r#"{"a":1,"a" : 2,"b":"\\\"{","c":[true,{}]}"#.to_owned(),
                r#"{"a":1,"a":2,"b":"\\\"{","c":[true,{}]}"#,
            ),
            (
                "{\"to\":\"bob\u{202e}\u{200b}\u{85}\"}".to_owned(),
                r#"{"to":"bob<U+202E><U+200B><U+0085>"}"#,
            ),
            ("null".to_owned(), "null"),
        ] {
            assert_eq!(by_ends(&json, 4), expected);
        }
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
