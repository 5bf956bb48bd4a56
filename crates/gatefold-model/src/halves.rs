//! Halves of surrogate pairs in JSON (RFC 8259, section 8.2).
//!
//! Servers that count characters in UTF-16 cut answers between the two, and no reader of JSON takes
//! one alone: the piece would be lost as a whole.

use std::borrow::Cow;

/// Puts the halves of pairs together that stand at the end of one text and the beginning of a later one.
#[derive(Debug, Default)]
pub(crate) struct SplitPairs {
    /// The escape that is waited with, such as `\ud83e`.
    first: Option<String>,
}

impl SplitPairs {
    /// A JSON text without halves. One that ends its string is kept for the next string that begins with
    /// another half; any other is replaced by U+FFFD.
    pub(crate) fn join<'j>(&mut self, json: &'j str) -> Cow<'j, str> {
        if !json.contains("\\ud") && !json.contains("\\uD") {
            return Cow::Borrowed(json);
        }
        let (mut joined, mut rest) = (String::with_capacity(json.len() + 6), json);
        while let Some(at) = rest.find('\\') {
            joined.push_str(&rest[..at]);
            rest = &rest[at..];
            let escape = match surrogate(rest) {
                // A backslash and whatever it escapes, which may be another one.
                None => rest.chars().take(2).map(char::len_utf8).sum(),
                Some(Half::First) if surrogate(&rest[6..]) == Some(Half::Second) => 12,
                Some(half) => {
                    self.take_alone(half, rest, &mut joined);
                    rest = &rest[6..];
                    continue;
                }
            };
            joined.push_str(&rest[..escape]);
            rest = &rest[escape..];
        }
        joined.push_str(rest);
        Cow::Owned(joined)
    }

    fn take_alone(&mut self, half: Half, rest: &str, joined: &mut String) {
        match half {
            Half::First if rest[6..].starts_with('"') => self.first = Some(rest[..6].to_owned()),
            Half::Second if joined.ends_with('"') && self.first.is_some() => {
                joined.extend(self.first.take());
                joined.push_str(&rest[..6]);
            }
            Half::First | Half::Second => joined.push_str("\\ufffd"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

/// Which half a text begins with, written as an escape.
fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..0xdc00 => Some(Half::First),
        0xdc00..0xe000 => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of strings that came one after the other.
    fn read(pieces: &[&str]) -> Vec<String> {
        let mut pairs = SplitPairs::default();
        let read = |piece: &&str| serde_json::from_str(&pairs.join(piece)).unwrap();
        pieces.iter().map(read).collect()
    }

    #[test]
    fn a_pair_is_whole_wherever_it_was_cut() {
        assert_eq!(read(&[r#""a \ud83e""#, r#""\uDD89 b""#]), ["a ", "🦉 b"]);
        assert_eq!(read(&[r#""\ud83e""#, r#""""#, r#""\udd89""#]), ["", "", "🦉"]);
        assert_eq!(read(&[r#""\ud83e\udd89\ud83e""#, r#""\udd89""#]), ["🦉", "🦉"]);
    }

    #[test]
    fn a_half_without_another_is_replaced_and_the_rest_stays() {
        assert_eq!(read(&[r#""a\ud83eb""#]), ["a\u{fffd}b"]);
        assert_eq!(read(&[r#""\udd89 b""#]), ["\u{fffd} b"]);
        assert_eq!(read(&[r#""a\ud83e\ud83e\udd89""#]), ["a\u{fffd}🦉"]);
    }

    #[test]
    fn what_only_looks_like_a_half_is_a_text() {
        assert_eq!(read(&[r#""\\ud83e\"""#, r#""\u00e9\\\\ud""#]), [r#"\ud83e""#, r"é\\ud"]);
        let mut pairs = SplitPairs::default();
        // Not JSON, which is for others to say.
        for text in ["\\ud8", "\\ud83", "\\", "\\ud83e", "\\é\\ud83é"] {
            pairs.join(text);
        }
    }
}
