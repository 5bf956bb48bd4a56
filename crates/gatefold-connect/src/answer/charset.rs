//! Texts in the character sets that APIs still use.

use std::borrow::Cow;

/// What windows-1252 has at 0x80 to 0x9F, where ISO 8859-1 has control characters that nobody sends. Where it
/// has nothing the control character stays (WHATWG, "Encoding").
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of a body. One that is not UTF-8, or says so, is read as windows-1252, which has every byte.
pub(super) fn decoded<'b>(body: &'b [u8], charset: Option<&str>) -> Cow<'b, str> {
    let is_latin = charset.is_some_and(|charset| {
        let charset = charset.to_ascii_lowercase();
        matches!(
            charset.as_str(),
            "iso-8859-1" | "iso8859-1" | "latin1" | "latin-1" | "windows-1252" | "cp1252"
        )
    });
    match std::str::from_utf8(body) {
        Ok(text) if !is_latin => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        _ => Cow::Owned(body.iter().copied().map(latin).collect()),
    }
}

fn latin(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}
