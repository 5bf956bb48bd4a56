//! Sources' results on their way to a client: unchanged, except for what its era requires.

use std::borrow::Cow;

use gatefold_catalog::with_fields;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::Era;

/// Which results a client of the stateless era may cache. The result says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CachePolicy {
    /// Results of calls: never.
    No,
    /// Lists, and contents of resources: for one user, until they expire.
    Private,
}

/// The kind of a result, which the stateless era requires each to state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultKind {
    Complete,
    /// The call continues as a task.
    Task,
}

impl ResultKind {
    const fn written(self) -> &'static str {
        match self {
            Self::Complete => r#""complete""#,
            Self::Task => r#""task""#,
        }
    }
}

/// How long a client may cache results without a stated lifetime, in milliseconds.
const TTL_MS: u64 = 0;

/// The members that are looked for, to add those that are missing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultHead<'a> {
    #[serde(borrow, default)]
    result_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    ttl_ms: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_scope: Option<&'a RawValue>,
}

/// A source's result in the form that a client of this era needs.
pub(super) fn shaped(
    result: &RawValue,
    era: Era,
    kind_of_result: ResultKind,
    caching: CachePolicy,
) -> String {
    if era == Era::Handshake {
        return result.get().to_owned();
    }
    let Ok(peek) = serde_json::from_str::<ResultHead<'_>>(result.get()) else {
        return result.get().to_owned();
    };
    let mut more = Vec::new();
    let mut text = Cow::Borrowed(result.get());
    match peek.result_type {
        None => more.push(format!(r#""resultType":{}"#, kind_of_result.written())),
        Some(kind) if kind.get() == kind_of_result.written() => {}
        // A server of the older era may use a member of this name for something else.
        Some(_) => {
            let typed = with_fields(&text, |key, value| match key {
                "resultType" => kind_of_result.written().into(),
                _ => value.into(),
            });
            text = typed.map_or(text, Cow::Owned);
        }
    }
    if caching == CachePolicy::Private {
        if peek.ttl_ms.is_none() {
            more.push(format!(r#""ttlMs":{TTL_MS}"#));
        }
        // Who may see it depends on the principal, whatever the source says.
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

/// An object with more members after its own.
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
pub(super) fn head(era: Era, caching: CachePolicy) -> String {
    match (era, caching) {
        (Era::Handshake, _) => String::new(),
        (Era::Stateless, CachePolicy::No) => r#""resultType":"complete","#.to_owned(),
        (Era::Stateless, CachePolicy::Private) => {
            format!(r#""resultType":"complete","ttlMs":{TTL_MS},"cacheScope":"private","#)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[track_caller]
    fn shapes(result: &str, caching: CachePolicy, expected: &str) {
        assert_eq!(shaped(&raw(result), Era::Stateless, ResultKind::Complete, caching), expected);
        assert_eq!(shaped(&raw(result), Era::Handshake, ResultKind::Complete, caching), result);
    }

    #[test]
    fn the_stateless_era_has_what_it_demands_and_nothing_is_lost() {
        shapes("{}", CachePolicy::No, r#"{"resultType":"complete"}"#);
        shapes(r#"{"n":1.50}"#, CachePolicy::No, r#"{"n":1.50,"resultType":"complete"}"#);
        let forged = r#"{"resultType":"input_required","requestState":"x"}"#;
        let told = r#"{"resultType":"complete","requestState":"x"}"#;
        shapes(forged, CachePolicy::No, told);
        shapes(
            r#"{"contents":[]}"#,
            CachePolicy::Private,
            r#"{"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#,
        );
        shapes(
            r#"{"resultType":"complete","ttlMs":9,"cacheScope":"public"}"#,
            CachePolicy::Private,
            r#"{"resultType":"complete","ttlMs":9,"cacheScope":"private"}"#,
        );
    }
}
