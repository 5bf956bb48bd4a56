//! The names of HTTP headers, and the encoding of values that a header cannot carry as they are.

use std::borrow::Cow;

use ::http::header::HeaderName;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub(crate) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The prefix of headers that mirror a tool's arguments (SEP-2243).
pub(crate) const PARAMETER_PREFIX: &str = "mcp-param-";
/// The member of a property's schema that names such a header.
pub(crate) const PARAMETER_ANNOTATION: &str = "x-mcp-header";

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// A text as a header's value: itself when it is plain, else in base64 (SEP-2243).
pub(crate) fn encoded(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|b| matches!(b, 0x21..=0x7e | b' '))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if is_plain {
        return text.into();
    }
    format!("=?base64?{}?=", STANDARD.encode(text)).into()
}

/// Reverses [`encoded`]. None if the base64 is broken, or what it holds is not UTF-8.
pub(crate) fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.into());
    };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_side_writes_the_other_reads() {
        for (text, is_plain) in [
            ("plain name", true),
            ("", true),
            (" padded", false),
            ("Müller", false),
            ("two\nlines", false),
            ("=?base64?eA==?=", false),
        ] {
            let value = encoded(text);
            assert_eq!(value == text, is_plain, "{text}");
            assert_eq!(decoded(&value).as_deref(), Some(text));
        }
        assert_eq!(decoded("=?base64?%?="), None);
    }
}
