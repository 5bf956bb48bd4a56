//! A font's own table of letters (`ToUnicode`).
//!
//! It is a program in PostScript, whose words are those of a page's content too. The library's reader
//! of it lists every code of every range, of which four billion take twelve bytes to write.

use std::collections::BTreeMap;

use lopdf::Object;
use lopdf::content::Content;

/// The most entries of one table, and the most UTF-16 units of one entry.
const MAX_ENTRIES: usize = 100_000;
const MAX_UNITS: usize = 32;

/// Texts by code. A range has one entry, whose last unit counts up.
#[derive(Debug, Default)]
pub(super) struct LetterTable(BTreeMap<u32, LetterRange>);

#[derive(Debug)]
struct LetterRange {
    last: u32,
    units: Vec<u16>,
}

impl LetterTable {
    pub(super) fn read(program: &[u8]) -> Self {
        let mut table = Self::default();
        for operation in Content::decode_iter(program).map_while(Result::ok) {
            let operands = &operation.operands[..];
            match &operation.operator[..] {
                "endbfchar" => {
                    for [code, text] in operands.as_chunks().0 {
                        table.add(code, code, text);
                    }
                }
                "endbfrange" => {
                    for [first, last, text] in operands.as_chunks().0 {
                        table.add_range(first, last, text);
                    }
                }
                _ => {}
            }
            if table.0.len() > MAX_ENTRIES {
                break;
            }
        }
        table
    }

    fn add_range(&mut self, first: &Object, last: &Object, text: &Object) {
        let Object::Array(texts) = text else { return self.add(first, last, text) };
        let Some(first) = code(first) else { return };
        for (code, text) in (first..).zip(texts).take(MAX_ENTRIES) {
            self.insert(code, code, text);
        }
    }

    fn add(&mut self, first: &Object, last: &Object, text: &Object) {
        if let (Some(first), Some(last)) = (code(first), code(last)) {
            self.insert(first, last, text);
        }
    }

    fn insert(&mut self, first: u32, last: u32, text: &Object) {
        let Ok(bytes) = text.as_str() else { return };
        let units =
            bytes.as_chunks().0.iter().take(MAX_UNITS).map(|unit| u16::from_be_bytes(*unit));
        let units = if bytes.len() == 1 { vec![bytes[0].into()] } else { units.collect() };
        self.0.insert(first, LetterRange { last, units });
    }

    pub(super) fn text(&self, code: u32) -> Option<String> {
        let (first, range) = self.0.range(..=code).next_back()?;
        if code > range.last {
            return None;
        }
        let mut units = range.units.clone();
        let last = units.last_mut()?;
        *last = u16::try_from(u32::from(*last) + (code - first)).ok()?;
        let text = String::from_utf16(&units).ok()?;
        (text != "\0" && text != "\u{fffd}").then_some(text)
    }
}

fn code(object: &Object) -> Option<u32> {
    let bytes = object.as_str().ok().filter(|bytes| bytes.len() <= 4)?;
    Some(bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}
