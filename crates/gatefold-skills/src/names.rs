//! Names of files as they are shown, and what no name or description may contain.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;

use gatefold_catalog::marked;

/// A name for messages: what cannot be seen is written as its number.
pub(crate) fn shown(name: &OsStr) -> String {
    visible(&name.to_string_lossy()).into_owned()
}

/// Hidden entries, and what other programs keep for themselves, are no part of any skill: nobody who
/// lists a folder sees them, and what lies in a `.env` is nobody's business.
pub(crate) fn is_left_out(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "node_modules" || name == "__pycache__"
}

/// A text on one line, with characters that cannot be seen as their numbers.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let text = marked(text);
    if !text.chars().any(char::is_control) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            let _ = write!(shown, "<U+{:04X}>", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    shown.into()
}

/// The first character of a text that people do not see, as its number: control characters but for
/// white space, and those with which a text can hide another.
pub(crate) fn unseen(text: &str) -> Option<String> {
    let number = |c: char| format!("U+{:04X}", u32::from(c));
    let control = text.chars().find(|c| c.is_control() && !c.is_whitespace());
    control.map(number).or_else(|| {
        let marked = marked(text);
        let start =
            text.char_indices().zip(marked.char_indices()).find(|(own, other)| own != other);
        let missing = start.map(|((_, c), _)| c);
        missing.map(number)
    })
}
