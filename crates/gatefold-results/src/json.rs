//! JSON read as slices of its text: nothing is copied, no tree is made, and nothing recurs.

use std::borrow::Cow;

/// How deep containers may lie in each other. It is as deep as `serde_json` reads.
pub(crate) const MAX_DEPTH: u32 = 127;

/// A step through a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonEvent<'a> {
    OpenArray,
    OpenObject,
    Close,
    /// A member's key without its quotes, escapes as they are written.
    Key(&'a str),
    /// With its quotes.
    Text(&'a str),
    Number(&'a str),
    Boolean,
    Null,
}

/// That a text is not JSON, or too deep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MalformedJson;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    FirstItem,
    FirstKey,
    Key,
    CommaOrEnd,
    End,
}

/// Goes through a text once and checks all of it.
#[derive(Debug)]
pub(crate) struct JsonWalk<'a> {
    text: &'a str,
    at: usize,
    /// The open containers, the innermost in the lowest bit: one for an object.
    open: u128,
    depth: u32,
    expected: Expected,
}

impl<'a> JsonWalk<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0, open: 0, depth: 0, expected: Expected::Value }
    }

    /// The next step, or `None` at the end.
    pub(crate) fn step(&mut self) -> Result<Option<JsonEvent<'a>>, MalformedJson> {
        self.skip_spaces();
        let byte = self.text.as_bytes().get(self.at).copied();
        match (self.expected, byte) {
            (Expected::End, None) => Ok(None),
            (Expected::CommaOrEnd, Some(b',')) => {
                self.at += 1;
                self.expected = if self.is_in_object() { Expected::Key } else { Expected::Value };
                self.step_after_comma().map(Some)
            }
            (Expected::CommaOrEnd | Expected::FirstItem, Some(b']')) if !self.is_in_object() => {
                Ok(Some(self.close()))
            }
            (Expected::CommaOrEnd | Expected::FirstKey, Some(b'}')) if self.is_in_object() => {
                Ok(Some(self.close()))
            }
            (Expected::Key | Expected::FirstKey, Some(b'"')) => self.key().map(Some),
            (Expected::Value | Expected::FirstItem, Some(byte)) => self.value(byte).map(Some),
            _ => Err(MalformedJson),
        }
    }

    /// How far the walk has come, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn step_after_comma(&mut self) -> Result<JsonEvent<'a>, MalformedJson> {
        self.skip_spaces();
        match (self.expected, self.text.as_bytes().get(self.at)) {
            (Expected::Key, Some(b'"')) => self.key(),
            (Expected::Value, Some(byte)) => self.value(*byte),
            _ => Err(MalformedJson),
        }
    }

    fn key(&mut self) -> Result<JsonEvent<'a>, MalformedJson> {
        let text = self.string()?;
        self.skip_spaces();
        if self.text.as_bytes().get(self.at) != Some(&b':') {
            return Err(MalformedJson);
        }
        self.at += 1;
        self.expected = Expected::Value;
        Ok(JsonEvent::Key(&text[1..text.len() - 1]))
    }

    fn value(&mut self, byte: u8) -> Result<JsonEvent<'a>, MalformedJson> {
        match byte {
            b'[' => self.open(0, Expected::FirstItem).map(|()| JsonEvent::OpenArray),
            b'{' => self.open(1, Expected::FirstKey).map(|()| JsonEvent::OpenObject),
            b'"' => self.string().map(|text| self.ended(JsonEvent::Text(text))),
            b't' => self.word("true", JsonEvent::Boolean),
            b'f' => self.word("false", JsonEvent::Boolean),
            b'n' => self.word("null", JsonEvent::Null),
            _ => {
                let bytes = &self.text.as_bytes()[self.at..];
                let length = number_length(bytes).ok_or(MalformedJson)?;
                let text = &self.text[self.at..self.at + length];
                self.at += length;
                Ok(self.ended(JsonEvent::Number(text)))
            }
        }
    }

    fn open(&mut self, bit: u128, expected: Expected) -> Result<(), MalformedJson> {
        if self.depth >= MAX_DEPTH {
            return Err(MalformedJson);
        }
        self.open = self.open << 1 | bit;
        (self.depth, self.at, self.expected) = (self.depth + 1, self.at + 1, expected);
        Ok(())
    }

    fn close(&mut self) -> JsonEvent<'a> {
        self.open >>= 1;
        (self.depth, self.at) = (self.depth - 1, self.at + 1);
        self.ended(JsonEvent::Close)
    }

    fn ended(&mut self, event: JsonEvent<'a>) -> JsonEvent<'a> {
        self.expected = if self.depth == 0 { Expected::End } else { Expected::CommaOrEnd };
        event
    }

    fn word(&mut self, word: &str, event: JsonEvent<'a>) -> Result<JsonEvent<'a>, MalformedJson> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(MalformedJson);
        }
        self.at += word.len();
        Ok(self.ended(event))
    }

    fn string(&mut self) -> Result<&'a str, MalformedJson> {
        let length = string_length(&self.text.as_bytes()[self.at..]).ok_or(MalformedJson)?;
        let text = &self.text[self.at..self.at + length];
        self.at += length;
        Ok(text)
    }

    fn skip_spaces(&mut self) {
        self.at += spaces(&self.text.as_bytes()[self.at..]);
    }

    fn is_in_object(&self) -> bool {
        self.open & 1 == 1
    }
}

/// Whether a text is JSON that is not too deep.
pub(crate) fn is_valid(text: &str) -> bool {
    let mut walk = JsonWalk::new(text);
    loop {
        match walk.step() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(MalformedJson) => return false,
        }
    }
}

fn spaces(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count()
}

/// The length of the string that begins here, with its quotes.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += bytes[at..].iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            },
            _ => return None,
        }
    }
}

fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    match bytes.get(at)? {
        b'0' => at += 1,
        b'1'..=b'9' => at += digits(at),
        _ => return None,
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1 + Some(digits(at + 1)).filter(|digits| *digits > 0)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at += Some(digits(at)).filter(|digits| *digits > 0)?;
    }
    Some(at)
}

/// The length of the value that begins here, in JSON that was checked.
fn value_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'"') => checked_string_length(bytes),
        Some(b'[' | b'{') => container_length(bytes),
        _ => {
            let is_end =
                |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
            bytes.iter().position(is_end).unwrap_or(bytes.len())
        }
    }
}

fn container_length(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += checked_string_length(&bytes[at..]);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn checked_string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        if bytes[at + found] == b'"' {
            return at + found + 1;
        }
        at += found + 2;
    }
    bytes.len()
}

/// The items of an array, raw. The text must be JSON that was checked; other values have none.
pub(crate) fn items(array: &str) -> impl Iterator<Item = &str> {
    items_with(array, |_| None)
}

/// The same where the ends of some values are known by where they begin.
pub(crate) fn items_with(
    array: &str,
    end: impl Fn(usize) -> Option<usize>,
) -> impl Iterator<Item = &str> {
    let bytes = array.as_bytes();
    let mut at = 1;
    std::iter::from_fn(move || {
        if bytes.first() != Some(&b'[') {
            return None;
        }
        at += separators(bytes.get(at..)?);
        if bytes.get(at).is_none_or(|byte| *byte == b']') {
            return None;
        }
        let start = at;
        at = value_end(bytes, at, &end);
        Some(&array[start..at])
    })
}

/// The members of an object, raw: the key without its quotes, and the value.
pub(crate) fn members(object: &str) -> impl Iterator<Item = (&str, &str)> {
    members_with(object, |_| None)
}

/// The same where the ends of some values are known by where they begin.
pub(crate) fn members_with(
    object: &str,
    end: impl Fn(usize) -> Option<usize>,
) -> impl Iterator<Item = (&str, &str)> {
    let bytes = object.as_bytes();
    let mut at = 1;
    std::iter::from_fn(move || {
        if bytes.first() != Some(&b'{') {
            return None;
        }
        at += separators(bytes.get(at..)?);
        if bytes.get(at) != Some(&b'"') {
            return None;
        }
        let key_start = at + 1;
        at += checked_string_length(&bytes[at..]);
        let key = &object[key_start..at - 1];
        at += spaces(&bytes[at..]) + 1;
        at += spaces(&bytes[at..]);
        let start = at;
        at = value_end(bytes, at, &end);
        Some((key, &object[start..at]))
    })
}

fn value_end(bytes: &[u8], at: usize, end: &impl Fn(usize) -> Option<usize>) -> usize {
    let known = if matches!(bytes[at], b'[' | b'{') { end(at) } else { None };
    known.unwrap_or_else(|| at + value_length(&bytes[at..]))
}

/// How many characters a string has, given without its quotes. Each half of a pair of surrogates
/// that stands alone counts as one.
pub(crate) fn character_count(raw: &str) -> usize {
    let (mut rest, mut count) = (raw, 0);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        count += rest[..at].chars().count() + 1;
        rest = &rest[at + escaped(&rest[at..]).1..];
    }
    count + rest.chars().count()
}

/// Where so many characters of a string end, in bytes.
pub(crate) fn character_end(raw: &str, count: usize) -> usize {
    let (mut at, mut left) = (0, count);
    while left > 0 && at < raw.len() {
        let plain = memchr::memchr(b'\\', &raw.as_bytes()[at..]).map_or(raw.len(), |end| at + end);
        let part = &raw[at..plain];
        if let Some((end, _)) = part.char_indices().nth(left) {
            return at + end;
        }
        left -= part.chars().count();
        at = plain;
        if left > 0 && at < raw.len() {
            at += escaped(&raw[at..]).1;
            left -= 1;
        }
    }
    at
}

fn separators(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b',' | b' ' | b'\n' | b'\r' | b'\t')).count()
}

/// A string's text, given without its quotes. Half of a surrogate pair reads `\u{fffd}`.
pub(crate) fn unescaped(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw.as_bytes()) else { return raw.into() };
    let mut text = String::with_capacity(raw.len());
    text.push_str(&raw[..first]);
    let mut rest = &raw[first..];
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (character, length) = escaped(&rest[at..]);
        text.push(character);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    text.into()
}

/// The character that an escape stands for, and the escape's length.
fn escaped(raw: &str) -> (char, usize) {
    let unit = |at: usize| u32::from_str_radix(raw.get(at..at + 4)?, 16).ok();
    let plain = |character| (character, 2);
    match raw.as_bytes().get(1) {
        Some(b'n') => plain('\n'),
        Some(b't') => plain('\t'),
        Some(b'r') => plain('\r'),
        Some(b'b') => plain('\u{8}'),
        Some(b'f') => plain('\u{c}'),
        Some(b'u') => {
            let first = unit(2).unwrap_or_default();
            if let Some(character) = char::from_u32(first) {
                return (character, 6);
            }
            let second = raw.get(6..8).filter(|start| *start == "\\u").and_then(|_| unit(8));
            let pair = second.filter(|second| first < 0xdc00 && (0xdc00..0xe000).contains(second));
            match pair.and_then(|second| {
                char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
            }) {
                Some(character) => (character, 12),
                None => ('\u{fffd}', 6),
            }
        }
        Some(byte) => plain(char::from(*byte)),
        None => ('\\', 1),
    }
}

/// The text of a value that is a string.
pub(crate) fn text_of(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    Some(unescaped(inner))
}

#[cfg(test)]
mod tests;
