//! Texts in the character sets that APIs still use.

use std::borrow::Cow;

/// What windows-1252 has at 0x80 to 0x9F, where ISO 8859-1 has control characters that nobody sends. Where it
/// has nothing the control character stays (WHATWG, "Encoding").
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text of a body. What is not UTF-8 is read as windows-1252, which has every byte, whatever the server
/// says: a text that happens to be both is UTF-8 in all likelihood, and a secret in it must be found.
pub(super) fn decoded(body: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(body) {
        return Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text));
    }
    let mut text = String::with_capacity(body.len());
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().copied().map(latin));
    }
    Cow::Owned(text)
}

fn latin(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        other => char::from(other),
    }
}
