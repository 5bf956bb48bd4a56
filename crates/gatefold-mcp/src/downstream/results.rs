//! Results of sources on their way to a client: whole, but for what its era demands and for the
//! addresses of resources.

use std::borrow::Cow;

use gatefold_catalog::{address, object_fields};
use gatefold_core::Domain;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::Era;
use crate::protocol::rpc::to_text;

/// Which results a client of the stateless era may keep for a while, and says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caching {
    /// Results of calls: never.
    No,
    /// Lists, and contents of resources: for one's own, until it is old.
    Private,
}

/// What a result is, as the stateless era says of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Complete,
    /// The call goes on as a task.
    Task,
}

impl Kind {
    const fn written(self) -> &'static str {
        match self {
            Self::Complete => r#""complete""#,
            Self::Task => r#""task""#,
        }
    }
}

/// How long a client may keep what nobody says how long to keep, in milliseconds.
const TTL_MS: u64 = 0;

/// The members that decide what is missing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Peek<'a> {
    #[serde(borrow, default)]
    result_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    ttl_ms: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_scope: Option<&'a RawValue>,
}

/// A source's result as a client of this era is to have it.
pub(super) fn shaped(
    result: &RawValue,
    era: Era,
    kind_of_result: Kind,
    caching: Caching,
) -> String {
    if era == Era::Handshake {
        return result.get().to_owned();
    }
    let Ok(peek) = serde_json::from_str::<Peek<'_>>(result.get()) else {
        return result.get().to_owned();
    };
    let mut more = Vec::new();
    let mut text = Cow::Borrowed(result.get());
    match peek.result_type {
        None => more.push(r#""resultType":"complete""#.to_owned()),
        Some(kind) if kind.get() == kind_of_result.written() => {}
        // A server that knows no kinds of results may have a member of that name all the same.
        Some(_) => {
            let typed = with_fields(&text, |key, value| match key {
                "resultType" => kind_of_result.written().into(),
                _ => value.into(),
            });
            text = typed.map_or(text, Cow::Owned);
        }
    }
    if caching == Caching::Private {
        if peek.ttl_ms.is_none() {
            more.push(format!(r#""ttlMs":{TTL_MS}"#));
        }
        // Who may see it depends on the principal, whatever the source thinks.
        match peek.cache_scope {
            None => more.push(r#""cacheScope":"private""#.to_owned()),
            Some(scope) if scope.get() == r#""private""# => {}
            Some(_) => {
                let scoped = with_fields(&text, |key, value| match key {
                    "cacheScope" => r#""private""#.into(),
                    _ => value.into(),
                });
                text = scoped.map_or(text, Cow::Owned);
            }
        }
    }
    extended(&text, &more)
}

/// An object with more members behind its own.
fn extended(object: &str, more: &[String]) -> String {
    if more.is_empty() {
        return object.to_owned();
    }
    let Some(open) = object.trim_end().strip_suffix('}') else {
        return object.to_owned();
    };
    let comma = if open.trim_end().ends_with('{') { "" } else { "," };
    format!("{open}{comma}{}}}", more.join(","))
}

/// The members that our own results begin with.
pub(super) fn head(era: Era, caching: Caching) -> String {
    match (era, caching) {
        (Era::Handshake, _) => String::new(),
        (Era::Stateless, Caching::No) => r#""resultType":"complete","#.to_owned(),
        (Era::Stateless, Caching::Private) => {
            format!(r#""resultType":"complete","ttlMs":{TTL_MS},"cacheScope":"private","#)
        }
    }
}

/// A source's result whose resources have the addresses that they can be read by here.
/// Nothing else of it changes, not by a letter.
pub(super) fn readdressed(result: Box<RawValue>, domain: &Domain) -> Box<RawValue> {
    // Few results speak of resources at all.
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

/// A result whose lists of these names have only the elements with a URI that is wanted.
pub(super) fn kept(
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

/// An object with other values; nothing when it is none.
fn with_fields(
    object: &str,
    change: impl for<'a> Fn(&str, &'a str) -> Cow<'a, str>,
) -> Option<String> {
    let fields = object_fields(object)?;
    let fields =
        fields.iter().map(|(key, value)| format!("{}:{}", to_text(key), change(key, value)));
    Some(format!("{{{}}}", fields.collect::<Vec<_>>().join(",")))
}

/// An array with other elements, where there is one to be had.
fn each(array: &str, change: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(array) else {
        return array.into();
    };
    let changed = elements
        .iter()
        .map(|element| change(element.get()).unwrap_or_else(|| element.get().to_owned()));
    format!("[{}]", changed.collect::<Vec<_>>().join(",")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[track_caller]
    fn shapes(result: &str, caching: Caching, expected: &str) {
        assert_eq!(shaped(&raw(result), Era::Stateless, Kind::Complete, caching), expected);
        assert_eq!(shaped(&raw(result), Era::Handshake, Kind::Complete, caching), result);
    }

    #[test]
    fn the_stateless_era_has_what_it_demands_and_nothing_is_lost() {
        shapes("{}", Caching::No, r#"{"resultType":"complete"}"#);
        shapes(r#"{"n":1.50}"#, Caching::No, r#"{"n":1.50,"resultType":"complete"}"#);
        let forged = r#"{"resultType":"input_required","requestState":"x"}"#;
        let told = r#"{"resultType":"complete","requestState":"x"}"#;
        shapes(forged, Caching::No, told);
        shapes(
            r#"{"contents":[]}"#,
            Caching::Private,
            r#"{"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#,
        );
        shapes(
            r#"{"resultType":"complete","ttlMs":9,"cacheScope":"public"}"#,
            Caching::Private,
            r#"{"resultType":"complete","ttlMs":9,"cacheScope":"private"}"#,
        );
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
