//! Gives resources in results the addresses that clients know, and removes those that they may not
//! see.

use std::borrow::Cow;

use gatefold_catalog::{address, with_fields};
use gatefold_core::Domain;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A source's result with the addresses under which clients can read its resources. Nothing else in
/// it changes, not by a byte.
pub(crate) fn readdressed(result: Box<RawValue>, domain: &Domain) -> Box<RawValue> {
    // Few results mention resources at all, so a quick look saves the parsing.
    if !result.get().contains("\"uri\"") {
        return result;
    }
    let changed = with_fields(result.get(), |key, value| match key {
        "content" | "contents" | "resources" => {
            each(value, |block| block_readdressed(block, domain))
        }
        "skill" => skill_readdressed(value, domain).map_or(value.into(), Cow::Owned),
        "skills" => each(value, |skill| skill_readdressed(skill, domain)),
        "messages" => each(value, |message| {
            with_fields(message, |key, value| match key {
                "content" if value.starts_with('[') => {
                    each(value, |block| block_readdressed(block, domain))
                }
                "content" => block_readdressed(value, domain).map_or(value.into(), Cow::Owned),
                _ => value.into(),
            })
        }),
        _ => value.into(),
    });
    changed.and_then(|text| RawValue::from_string(text).ok()).unwrap_or(result)
}

/// A content block, or the contents of a resource.
fn block_readdressed(block: &str, domain: &Domain) -> Option<String> {
    with_fields(block, |key, value| match key {
        "uri" => uri_readdressed(value, domain),
        "resource" => {
            let inner = with_fields(value, |key, value| match key {
                "uri" => uri_readdressed(value, domain),
                _ => value.into(),
            });
            inner.map_or(value.into(), Cow::Owned)
        }
        _ => value.into(),
    })
}

/// The description of a skill, which names its files.
fn skill_readdressed(skill: &str, domain: &Domain) -> Option<String> {
    with_fields(skill, |key, value| match key {
        "uri" => uri_readdressed(value, domain),
        "resources" => each(value, |file| block_readdressed(file, domain)),
        _ => value.into(),
    })
}

/// A result whose lists of these names contain only elements with a wanted URI.
pub(crate) fn kept(
    result: Box<RawValue>,
    lists: &[&str],
    is_wanted: impl Fn(&str) -> bool,
) -> Box<RawValue> {
    #[derive(Deserialize)]
    struct Element {
        #[serde(default)]
        uri: Option<String>,
    }
    let is_kept = |element: &str| {
        let uri = serde_json::from_str::<Element>(element).ok().and_then(|element| element.uri);
        uri.is_none_or(|uri| is_wanted(&uri))
    };
    let changed = with_fields(result.get(), |key, value| {
        let elements = serde_json::from_str::<Vec<&RawValue>>(value);
        match elements {
            Ok(elements) if lists.contains(&key) => {
                let kept = elements.iter().map(|element| element.get());
                let kept = kept.filter(|element| is_kept(element));
                format!("[{}]", kept.collect::<Vec<_>>().join(",")).into()
            }
            _ => value.into(),
        }
    });
    changed.and_then(|text| RawValue::from_string(text).ok()).unwrap_or(result)
}

fn uri_readdressed<'a>(value: &'a str, domain: &Domain) -> Cow<'a, str> {
    let uri = serde_json::from_str::<String>(value);
    uri.map_or(value.into(), |uri| to_text(&address(domain, &uri)).into())
}

/// An array with each element replaced where there is a replacement.
fn each(array: &str, change: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(array) else {
        return array.into();
    };
    let changed = elements
        .iter()
        .map(|element| change(element.get()).unwrap_or_else(|| element.get().to_owned()));
    format!("[{}]", changed.collect::<Vec<_>>().join(",")).into()
}

pub(crate) fn to_text(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("our own values have only text keys")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[track_caller]
    fn readdresses(result: &str, expected: &str) {
        let domain = Domain::parse("d").unwrap();
        assert_eq!(readdressed(raw(result), &domain).get(), expected);
    }

    #[test]
    fn what_may_not_be_seen_is_not_in_a_list() {
        let result = raw(r#"{"skills":[{"uri":"a","n":1.0},{"uri":"b"},{"n":2}],"more":["b"]}"#);
        let kept = kept(result, &["skills"], |uri| uri != "b");
        assert_eq!(kept.get(), r#"{"skills":[{"uri":"a","n":1.0},{"n":2}],"more":["b"]}"#);
    }

    #[test]
    fn resources_are_named_by_where_they_can_be_read() {
        readdresses(r#"{"content":[{"text":"a://b"}]}"#, r#"{"content":[{"text":"a://b"}]}"#);
        readdresses(
            r#"{"content":[{"type":"resource_link","uri":"a://b","n":1.0},{"type":"text","text":"\"uri\""}],"x":1}"#,
            r#"{"content":[{"type":"resource_link","uri":"gatefold://d/a://b","n":1.0},{"type":"text","text":"\"uri\""}],"x":1}"#,
        );
        readdresses(
            r#"{"content":[{"type":"resource","resource":{"uri":"a://b","text":"t"}}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"gatefold://d/a://b","text":"t"}}]}"#,
        );
        readdresses(
            r#"{"contents":[{"uri":"ui://p","text":"t"}]}"#,
            r#"{"contents":[{"uri":"ui://gatefold/d/p","text":"t"}]}"#,
        );
        readdresses(
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:b"}}}]}"#,
            r#"{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"gatefold://d/a:b"}}}]}"#,
        );
        readdresses(r#"{"uri":"a:b","content":7}"#, r#"{"uri":"a:b","content":7}"#);
    }
}
