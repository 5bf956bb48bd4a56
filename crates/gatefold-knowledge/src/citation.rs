//! What a version of a document is called, and a part of one.

use std::fmt::{self, Display};
use std::ops::Range;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use sha2::{Digest as _, Sha256};

/// A version of a document: the first bytes of the SHA-256 of its canonical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version([u8; 6]);

/// A text that is not a version, which has 12 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a version has 12 lower-case hex digits")]
pub struct InvalidVersion;

impl Version {
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let mut bytes = [0; 6];
        for (byte, of_digest) in bytes.iter_mut().zip(digest.iter()) {
            *byte = *of_digest;
        }
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 6] {
        &self.0
    }

    pub const fn from_bytes(bytes: [u8; 6]) -> Self {
        Self(bytes)
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 12 || !text.bytes().all(is_hex) {
            return Err(InvalidVersion);
        }
        let mut bytes = [0; 6];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * index..2 * index + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidVersion)?;
        }
        Ok(Self(bytes))
    }
}

/// How every citation begins.
const SCHEME: &str = "gatefold://";

/// The longest address that is taken for a citation, in bytes. A document's name is a path.
const MAX_ADDRESS: usize = 4096;

/// What a version has of hex digits.
const VERSION_DIGITS: usize = 12;

/// What stays as it is in a document's name: `@` does not, so the first one ends the name.
const NAME: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

const DOMAIN: &AsciiSet = &NAME.add(b'/');

/// A part of one version of a document:
/// `gatefold://{domain}/kb/{document}@{version}#{start}-{end}`, in bytes of the canonical text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Citation {
    pub domain: String,
    /// The document's name in its base.
    pub document: String,
    pub version: Version,
    /// [`Citation::WHOLE`] where the whole document is meant, which has no fragment.
    pub span: Range<usize>,
}

/// A text that is not a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a citation looks like `gatefold://domain/kb/document@0123456789ab#0-99`")]
pub struct InvalidCitation;

impl Citation {
    /// The span of a citation of a whole document.
    pub const WHOLE: Range<usize> = 0..usize::MAX;

    /// What it cites of the text of its version, if the text has that.
    pub fn excerpt<'text>(&self, text: &'text str) -> Option<&'text str> {
        if self.span == Self::WHOLE { Some(text) } else { text.get(self.span.clone()) }
    }

    /// Reads a citation at the start of a text, and says how many bytes it has.
    ///
    /// Models write citations out again, so this is lenient: letters of the scheme and of the hex
    /// digits may have any case, the name may have characters that should be encoded, and others may
    /// be encoded. Without a fragment that makes sense, the whole document is cited.
    pub fn parse_start(text: &str) -> Option<(Self, usize)> {
        text.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME))?;
        let address = address_in(&text[SCHEME.len()..]);
        let (domain, rest) = address.split_once('/')?;
        let (marker, name_and_version) = rest.split_at_checked("kb/".len())?;
        marker.eq_ignore_ascii_case("kb/").then_some(())?;
        let (name, version, after) = split_version(name_and_version)?;
        let (span, fragment_length) = match parse_fragment(after) {
            Some((span, length)) => (span, length),
            None => (Self::WHOLE, 0),
        };
        let citation = Self { domain: decode(domain)?, document: decode(name)?, version, span };
        let is_named = !citation.domain.is_empty() && !citation.document.is_empty();
        let length = SCHEME.len() + address.len() - after.len() + fragment_length;
        is_named.then_some((citation, length))
    }
}

/// The bytes that an address may have: to the end of the line or the next address.
fn address_in(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(MAX_ADDRESS)];
    let line = near.split(['\n', '\r']).next().unwrap_or_default();
    line.split(SCHEME).next().unwrap_or_default()
}

/// Splits at the version: the name, the version, and what comes after it.
fn split_version(text: &str) -> Option<(&str, Version, &str)> {
    // An encoded `@` is part of the name, unless nothing else could be meant.
    let split_at = |mark: &str| {
        text.match_indices(mark).find_map(|(at, _)| {
            let after = &text[at + mark.len()..];
            let digits = after.get(..VERSION_DIGITS)?;
            let goes_on = after[VERSION_DIGITS..].starts_with(|c: char| c.is_alphanumeric());
            let version = digits.to_ascii_lowercase().parse().ok().filter(|_| !goes_on)?;
            Some((&text[..at], version, &after[VERSION_DIGITS..]))
        })
    };
    split_at("@").or_else(|| split_at("%40"))
}

/// Reads `#{start}-{end}`, and says how many bytes it has.
fn parse_fragment(text: &str) -> Option<(Range<usize>, usize)> {
    let digits = text.strip_prefix('#').or_else(|| text.strip_prefix("%23"))?;
    let (start, after_start) = parse_number(digits)?;
    let (end, after_end) = parse_number(after_start.strip_prefix(['-', '\u{2013}'])?)?;
    (start <= end).then_some((start..end, text.len() - after_end.len()))
}

fn parse_number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn decode(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

impl Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let domain = utf8_percent_encode(&self.domain, DOMAIN);
        let document = utf8_percent_encode(&self.document, NAME);
        write!(f, "{SCHEME}{domain}/kb/{document}@{}", self.version)?;
        if self.span == Self::WHOLE {
            return Ok(());
        }
        write!(f, "#{}-{}", self.span.start, self.span.end)
    }
}

impl FromStr for Citation {
    type Err = InvalidCitation;

    /// As [`Citation::parse_start`], between brackets and before punctuation.
    fn from_str(text: &str) -> Result<Self, InvalidCitation> {
        let is_around = |c: char| c.is_whitespace() || "<>[](){}\"'`.,;:!?*".contains(c);
        let inner = text.trim_start_matches(is_around);
        let (citation, length) = Self::parse_start(inner).ok_or(InvalidCitation)?;
        let rest = inner[length..].trim_matches(is_around);
        rest.is_empty().then_some(citation).ok_or(InvalidCitation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_reads_back_as_it_is_written() {
        let version = Version::of("a text");
        assert_eq!(version.to_string().parse(), Ok(version));
        for wrong in ["", "12", "ABCDEF012345", "abcdef01234g", "äbcdef01234", "abcdef0123456"] {
            assert_eq!(wrong.parse::<Version>(), Err(InvalidVersion), "{wrong}");
        }
    }
}
