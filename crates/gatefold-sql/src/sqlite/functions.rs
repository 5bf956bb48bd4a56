//! Functions of SQLite's whose own versions take the product of their arguments' lengths in time, and
//! cannot be stopped meanwhile: a statement of one line could hold its thread for hours. These answer
//! the same in linear time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::CStr;

/// A function that is answered here instead of by SQLite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinearFunction {
    Instr,
    Replace,
    Trim(TrimmedEnd),
    Unhex,
}

/// An end of a text that is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrimmedEnd {
    Both,
    Left,
    Right,
}

/// A value that such a function is given. Without nulls, for which all of them answer null.
#[derive(Debug)]
pub(super) enum FunctionArgument<'a> {
    Blob(&'a [u8]),
    Text(Cow<'a, str>),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum FunctionAnswer {
    Null,
    Number(i64),
    Text(String),
    Blob(Vec<u8>),
    TooLong,
}

impl LinearFunction {
    /// With their names and numbers of arguments.
    pub(super) const ALL: [(&'static CStr, i32, Self); 6] = [
        (c"instr", 2, Self::Instr),
        (c"replace", 3, Self::Replace),
        (c"trim", 2, Self::Trim(TrimmedEnd::Both)),
        (c"ltrim", 2, Self::Trim(TrimmedEnd::Left)),
        (c"rtrim", 2, Self::Trim(TrimmedEnd::Right)),
        (c"unhex", 2, Self::Unhex),
    ];

    /// What the function answers, at most `limit` bytes of it.
    pub(super) fn call(self, arguments: &[FunctionArgument<'_>], limit: usize) -> FunctionAnswer {
        use FunctionArgument::Blob;

        if let (Self::Instr, [Blob(text), Blob(part)]) = (self, arguments) {
            return number(blob_position(text, part));
        }
        let texts: Vec<_> = arguments.iter().map(FunctionArgument::text).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        match (self, &texts[..]) {
            (Self::Instr, [text, part]) => number(text_position(text, part)),
            (Self::Replace, [text, "", _]) => FunctionAnswer::Text((*text).to_owned()),
            (Self::Replace, [text, part, new]) => {
                let replaced = replaced(text, part, new, limit);
                replaced.map_or(FunctionAnswer::TooLong, FunctionAnswer::Text)
            }
            (Self::Trim(end), [text, characters]) => {
                FunctionAnswer::Text(trimmed(text, characters, end).to_owned())
            }
            (Self::Unhex, [text, ignored]) => {
                unhexed(text, ignored).map_or(FunctionAnswer::Null, FunctionAnswer::Blob)
            }
            _ => FunctionAnswer::Null,
        }
    }
}

impl FunctionArgument<'_> {
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Blob(bytes) => String::from_utf8_lossy(bytes),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

fn number(value: usize) -> FunctionAnswer {
    FunctionAnswer::Number(i64::try_from(value).unwrap_or(i64::MAX))
}

/// `instr(X, Y)` of two blobs: the byte at which Y starts in X, counted from one, or zero.
fn blob_position(text: &[u8], part: &[u8]) -> usize {
    // As texts whose characters are the bytes, which the standard library searches in linear time.
    let latin = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
    text_position(&latin(text), &latin(part))
}

/// `instr(X, Y)` of two texts: the character at which Y starts in X, counted from one, or zero.
fn text_position(text: &str, part: &str) -> usize {
    text.find(part).map_or(0, |at| text[..at].chars().count() + 1)
}

/// `replace(X, Y, Z)` for a Y that is not empty, or `None` where the result would be longer than
/// `limit` bytes.
fn replaced(text: &str, part: &str, new: &str, limit: usize) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(part) {
        result.push_str(&rest[..at]);
        result.push_str(new);
        if result.len() > limit {
            return None;
        }
        rest = &rest[at + part.len()..];
    }
    result.push_str(rest);
    (result.len() <= limit).then_some(result)
}

/// `trim(X, Y)` and its like: X without the characters of Y at these ends.
fn trimmed<'a>(text: &'a str, characters: &str, end: TrimmedEnd) -> &'a str {
    let set = CharacterSet::new(characters);
    let is_cut = |char: char| set.contains(char);
    match end {
        TrimmedEnd::Both => text.trim_matches(is_cut),
        TrimmedEnd::Left => text.trim_start_matches(is_cut),
        TrimmedEnd::Right => text.trim_end_matches(is_cut),
    }
}

/// `unhex(X, Y)`: the bytes that X writes in hexadecimal, with characters of Y between them.
fn unhexed(text: &str, ignored: &str) -> Option<Vec<u8>> {
    let set = CharacterSet::new(ignored);
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut chars = text.chars();
    while let Some(first) = chars.next() {
        let Some(high) = first.to_digit(16) else {
            if set.contains(first) {
                continue;
            }
            return None;
        };
        let low = chars.next()?.to_digit(16)?;
        bytes.push(u8::try_from(high << 4 | low).ok()?);
    }
    Some(bytes)
}

/// The characters of a text.
struct CharacterSet {
    ascii: [bool; 128],
    others: HashSet<char>,
}

impl CharacterSet {
    fn new(text: &str) -> Self {
        let mut set = Self { ascii: [false; 128], others: HashSet::new() };
        for char in text.chars() {
            match set.ascii.get_mut(char as usize) {
                Some(is_in) => *is_in = true,
                None => _ = set.others.insert(char),
            }
        }
        set
    }

    fn contains(&self, char: char) -> bool {
        self.ascii.get(char as usize).copied().unwrap_or_else(|| self.others.contains(&char))
    }
}
