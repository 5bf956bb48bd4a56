//! Small functions on texts.

use std::fmt::Write as _;

/// Line and column of a byte, both from 1, the column in characters.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    (line, before[line_start(before, before.len())..].chars().count() + 1)
}

/// Where the line of `offset` begins.
pub(crate) fn line_start(text: &str, offset: usize) -> usize {
    // By bytes, since `offset` may be inside a character.
    let before = &text.as_bytes()[..offset];
    before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1)
}

/// Where the line after the one of `offset` begins, or the end of the text.
pub(crate) fn next_line(text: &str, offset: usize) -> usize {
    text[offset..].find('\n').map_or(text.len(), |newline| offset + newline + 1)
}

/// Where the line of `offset` ends, before its line break.
pub(crate) fn line_end(text: &str, offset: usize) -> usize {
    let end = text[offset..].find('\n').map_or(text.len(), |newline| offset + newline);
    if end > offset && text[..end].ends_with('\r') { end - 1 } else { end }
}

/// The line break that the text uses.
pub(crate) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The white space that begins the line of `offset`.
pub(crate) fn indent(text: &str, offset: usize) -> &str {
    let line = &text[line_start(text, offset)..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

/// `value` in double quotes, with escapes that JSON, TOML and YAML all understand.
pub(crate) fn quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for letter in value.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Control characters, and characters that YAML treats as line breaks or a byte order
            // mark.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                write!(out, "\\u{:04x}", u32::from(letter)).expect("a string takes any text");
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}
