//! Percent-encoding by the place that a text goes into.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but the unreserved characters (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const DOTS: &AsciiSet = &RESERVED.add(b'.');

/// What may not stand in a path as it is, even where reserved characters are allowed. What would change the
/// path's structure stays encoded: OpenAPI 3.2, "Path Templating", forbids `/`, `?` and `#` in values.
const RESERVED_IN_PATH: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// The same for a query: `&` would begin another parameter, `#` a fragment, and `+` is read as a space.
const RESERVED_IN_QUERY: &AsciiSet =
    &RESERVED_IN_PATH.remove(b'/').remove(b'?').remove(b'[').remove(b']').add(b'&').add(b'+');

/// What the fixed text of a path may not contain. Its percent signs are its own.
const ILLEGAL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// How a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// All but unreserved characters.
    Full,
    /// The same, and dots: where they stand between items.
    Dots,
    /// Reserved characters stay, and so do percent-encoded ones.
    ReservedInPath,
    ReservedInQuery,
    /// No percent-encoding: headers, parts of a multipart body.
    Nothing,
}

impl Escape {
    pub(super) fn text(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Full => utf8_percent_encode(text, RESERVED).into(),
            Self::Dots => utf8_percent_encode(text, DOTS).into(),
            Self::ReservedInPath => keeping_triples(text, RESERVED_IN_PATH).into(),
            Self::ReservedInQuery => keeping_triples(text, RESERVED_IN_QUERY).into(),
            Self::Nothing => text.into(),
        }
    }

    /// A character that stands between items.
    pub(super) fn delimiter(self, delimiter: char) -> Cow<'static, str> {
        match (self, delimiter) {
            (Self::Nothing, _) | (_, ',' | '.') => delimiter.to_string().into(),
            (_, ' ') => "%20".into(),
            (_, '|') => "%7C".into(),
            _ => "%09".into(),
        }
    }
}

/// The fixed text of a path.
pub(super) fn literal(text: &str) -> String {
    utf8_percent_encode(text, ILLEGAL).to_string()
}

/// RFC 6570, section 3.2.3: a percent sign stays where two hexadecimal digits follow it.
fn keeping_triples(text: &str, set: &'static AsciiSet) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.extend(utf8_percent_encode(&rest[..at], set));
        let digits = rest.as_bytes().get(at + 1..at + 3);
        let is_triple = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        out.push_str(if is_triple { "%" } else { "%25" });
        rest = &rest[at + 1..];
    }
    out.extend(utf8_percent_encode(rest, set));
    out
}
