//! JSON as clients write it: with comments and trailing commas.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Entry, Node, SyntaxFault, Value};

const HINT: &str = "check the quotes, commas and brackets before this place";

/// How deep values may nest. Clients' files need four levels.
const DEPTH_LIMIT: usize = 64;

/// Reads a JSON text. Comments and trailing commas are ignored.
pub fn parse(text: &str) -> Result<Node, SyntaxFault> {
    let plain = without_trailing_commas(without_comments(text));
    let root = serde_json::from_str::<&RawValue>(&plain).map_err(|error| fault(text, &error))?;
    node(root, &plain, DEPTH_LIMIT)
}

fn fault(text: &str, error: &serde_json::Error) -> SyntaxFault {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let line_start: usize = lines.map(str::len).sum();
    let full = error.to_string();
    let message = full.split(" at line ").next().unwrap_or_default().to_owned();
    let mut offset = (line_start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    SyntaxFault { offset, message, hint: HINT }
}

/// Replaces comments by spaces, so that every other byte keeps its place.
fn without_comments(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes[..3].fill(b' ');
    }
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'"', ..] => {
                at += string_length(rest);
                continue;
            }
            [b'/', b'/', ..] => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                end.map_or(rest.len(), |end| end + 4)
            }
            _ => {
                at += 1;
                continue;
            }
        };
        let comment = &mut bytes[at..at + length];
        comment.iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        at += length;
    }
    bytes
}

/// The length in bytes of the string that begins here, quotes included.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn without_trailing_commas(mut bytes: Vec<u8>) -> String {
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += string_length(&bytes[at..]),
            b',' => {
                let next = bytes[at + 1..].iter().find(|b| !b.is_ascii_whitespace());
                if matches!(next, Some(b'}' | b']')) {
                    bytes[at] = b' ';
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    String::from_utf8(bytes).expect("only whole characters were made spaces")
}

/// Builds a node from a raw value inside `text`, which determines its place.
fn node(raw: &RawValue, text: &str, depth: usize) -> Result<Node, SyntaxFault> {
    let json = raw.get();
    let start = json.as_ptr().addr() - text.as_ptr().addr();
    let span = start..start + json.len();
    let wrong = |error: serde_json::Error| SyntaxFault {
        offset: start,
        message: error.to_string(),
        hint: HINT,
    };
    let inner = depth.checked_sub(1).ok_or_else(|| SyntaxFault {
        offset: start,
        message: format!("values nest deeper than {DEPTH_LIMIT} levels"),
        hint: "give the configuration of an MCP client, which needs four",
    })?;
    let value = match json.as_bytes()[0] {
        b'{' => {
            let members = serde_json::Deserializer::from_str(json).deserialize_map(Members);
            let entry = |(key, raw): (String, &RawValue)| {
                let node = node(raw, text, inner)?;
                Ok(Entry { key, key_span: node.span.clone(), node })
            };
            Value::Table(members.map_err(wrong)?.into_iter().map(entry).collect::<Result<_, _>>()?)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(json).map_err(wrong)?;
            let items = items.into_iter().map(|raw| node(raw, text, inner));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        b'"' => Value::Text(serde_json::from_str(json).map_err(wrong)?),
        b't' => Value::Flag(true),
        b'f' => Value::Flag(false),
        b'n' => Value::Null,
        _ => Value::Number(json.to_owned()),
    };
    Ok(Node { span, value })
}

/// Collects an object's members in order, each value as its raw text.
struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_do_not_count() {
        let text = "{ // one\n \"a,}\": [1, /* , ] */ 2,],\n \"b\\\"//\": {\"c\": null,},\n}";
        let Ok(root) = parse(text) else { panic!("it is readable") };
        let c = root.get("b\"//").and_then(|b| b.get("c")).unwrap();
        assert_eq!(&text[c.span.clone()], "null");
        let Some(Node { value: Value::List(items), .. }) = root.get("a,}") else { panic!() };
        assert_eq!(&text[items[1].span.clone()], "2");
    }

    #[test]
    fn a_broken_file_says_where() {
        for (text, offset) in [("", 0), ("{\n  \"é\": 1\n  \"b\": 2\n}", 14), ("[1, 2", 4)] {
            let Err(fault) = parse(text) else { panic!("{text} was read") };
            assert_eq!(fault.offset, offset, "{text}: {}", fault.message);
        }
        assert!(parse(&format!("{}{}", "[".repeat(99), "]".repeat(99))).is_err());
    }
}
