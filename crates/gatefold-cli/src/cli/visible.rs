//! Makes foreign text harmless: characters that would control a terminal are shown instead.
//!
//! Our own colours are represented by marks, noncharacters of Unicode, and become escape sequences
//! only when text is printed. So no escape sequence from a source can pass for one of ours.

use std::fmt::Write as _;

use gatefold_catalog::marked;
use gatefold_core::is_hidden;

/// Ends a colour.
const END: char = '\u{fdd0}';

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Strong,
    Faint,
    Good,
    Bad,
    Accent,
}

impl Paint {
    const ALL: [Self; 5] = [Self::Strong, Self::Faint, Self::Good, Self::Bad, Self::Accent];

    fn begin(self) -> char {
        match self {
            Self::Strong => '\u{fdd1}',
            Self::Faint => '\u{fdd2}',
            Self::Good => '\u{fdd3}',
            Self::Bad => '\u{fdd4}',
            Self::Accent => '\u{fdd5}',
        }
    }

    /// The parameters of the sequence "select graphic rendition" (ECMA-48, 8.3.117).
    fn parameters(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Accent => "36",
        }
    }

    fn of(mark: char) -> Option<Self> {
        Self::ALL.into_iter().find(|paint| paint.begin() == mark)
    }

    pub(super) fn mark(self, text: &str) -> String {
        format!("{}{}{END}", self.begin(), unmarked(text))
    }
}

/// The text without marks, and the colour of its first one.
pub(super) fn unpainted(text: &str) -> (String, Option<Paint>) {
    (unmarked(text), text.chars().find_map(Paint::of))
}

fn is_mark(c: char) -> bool {
    ('\u{fdd0}'..='\u{fdef}').contains(&c)
}

fn unmarked(text: &str) -> String {
    text.chars().filter(|c| !is_mark(*c)).collect()
}

/// The text as printed: marks become colours or disappear, and control characters and invisible
/// ones become visible. Line feeds and tabs stay.
pub(super) fn shown(text: &str, has_colour: bool) -> String {
    let text = marked(text);
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            _ if !is_mark(c) => push_visible(&mut shown, c),
            END if has_colour => shown.push_str("\x1b[0m"),
            _ => {
                if let Some(paint) = Paint::of(c).filter(|_| has_colour) {
                    shown.extend(["\x1b[", paint.parameters(), "m"]);
                }
            }
        }
    }
    shown
}

/// The text on one line: white space becomes spaces, other invisible characters become visible.
pub(super) fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in marked(text.trim()).chars() {
        if matches!(c, '\n' | '\r' | '\t') { line.push(' ') } else { push_visible(&mut line, c) }
    }
    line
}

/// A record of the log, whose values may be somebody else's: what would steer a terminal is shown instead, and a
/// further line is indented, so that it cannot pass for a record. Escapes stay: they are our own colours, and those
/// of values are escaped before.
pub(super) fn log_record(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let (record, end) = text.strip_suffix('\n').map_or((&*text, ""), |record| (record, "\n"));
    let mut shown = String::with_capacity(text.len());
    for c in marked(record).chars() {
        match c {
            '\n' => shown.push_str("\n    "),
            '\t' | '\x1b' => shown.push(c),
            c => push_visible(&mut shown, c),
        }
    }
    shown.push_str(end);
    shown.into_bytes()
}

/// JSON with control characters of terminals and invisible characters escaped, which keeps its
/// meaning (RFC 8259, section 7).
pub(super) fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\x7f' || is_steering(c) || is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Control characters beyond ASCII, and marks that reorder a line: they make one text look like
/// another.
fn is_steering(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// Control characters as Unicode's control pictures if possible, otherwise by number.
fn push_visible(text: &mut String, c: char) {
    match c {
        '\0'..='\x1f' => text.extend(char::from_u32(0x2400 + u32::from(c))),
        '\x7f' => text.push('\u{2421}'),
        _ if is_steering(c) => {
            let _ = write!(text, "<U+{:04X}>", u32::from(c));
        }
        _ => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_shown_instead() {
        for (text, expected) in [
            ("plain ünïcode 工具 👍🏽", "plain ünïcode 工具 👍🏽"),
            ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
            ("a\rb\x08\x7f", "a␍b␈␡"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("evil\u{202e}txt.exe", "evil<U+202E>txt.exe"),
            ("pay\u{200b}pal \u{e0041}", "pay<U+200B>pal <U+E0041>"),
            ("two\nlines\tand a tab", "two\nlines\tand a tab"),
            ("\u{fdd4}not ours\u{fdd0}", "not ours"),
        ] {
            assert_eq!(shown(text, false), expected);
        }
    }

    #[test]
    fn a_value_in_the_log_makes_no_record_of_its_own() {
        for (record, expected) in [
            ("a record\n", "a record\n"),
            ("client=x\n2026-11-28 forged\n", "client=x\n    2026-11-28 forged\n"),
            ("a\rb\u{2028}c\u{202e}d\u{85}\n", "a␍b<U+2028>c<U+202E>d<U+0085>\n"),
            ("\x1b[2mfaint\x1b[0m\tx\n", "\x1b[2mfaint\x1b[0m\tx\n"),
        ] {
            assert_eq!(String::from_utf8(log_record(record.as_bytes())).unwrap(), expected);
        }
    }

    #[test]
    fn json_with_what_would_steer_a_terminal_escaped_is_the_same_json() {
        let value = serde_json::json!({"a\u{9b}31m": ["evil\u{202e}txt", "\x7f\x1b[2J", "工具\u{200b}\u{e0041}"]});
        let text = escaped(&value.to_string());
        assert!(
            !text.chars().any(|c| c.is_control() || is_steering(c) || is_hidden(c)),
            "{text:?}"
        );
        assert!(text.contains("\\u009b") && text.contains("工具"), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn colours_are_ours_and_end() {
        let painted = Paint::Bad.mark("no\x1b[0m \u{fdd3}way");
        assert_eq!(shown(&painted, true), "\x1b[1;31mno␛[0m way\x1b[0m");
        assert_eq!(shown(&painted, false), "no␛[0m way");
        assert_eq!(unpainted(&painted), ("no\x1b[0m way".to_owned(), Some(Paint::Bad)));
    }
}
