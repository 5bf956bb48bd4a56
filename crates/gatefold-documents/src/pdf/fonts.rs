//! What a font's codes mean and how wide they are.

mod names;

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document, Object};

use super::file::PdfFile;
use super::letters::LetterTable;

/// The most widths of one font.
const MAX_WIDTHS: usize = 70_000;

/// A width where a font has none, in ems: that of a plain letter, and that of a character of Chinese,
/// Japanese or Korean.
const WIDTH: f32 = 0.5;
const WIDE: f32 = 1.0;

/// Glyph space has a thousand units an em.
const UNIT: f32 = 0.001;

pub(super) struct Font {
    codes: FontCodes,
    letters: Option<LetterTable>,
    /// Where a width has no entry, in ems.
    default_width: f32,
    /// By the first code of a range; the last one, and the width in ems.
    widths: BTreeMap<u32, (u32, f32)>,
}

/// How a string is cut into codes, and what they are without a table of letters.
enum FontCodes {
    Bytes(Vec<Option<String>>),
    /// Numbers of glyphs, of two bytes.
    Glyphs,
    /// UTF-16.
    Units,
}

/// One code of a string.
pub(super) struct Glyph {
    pub(super) text: Option<String>,
    /// In ems.
    pub(super) width: f32,
    /// A single byte of 32, to which the word spacing is added.
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn read(file: &PdfFile<'_>, font: &Dictionary) -> Self {
        let subtype = file.get(font, b"Subtype").and_then(|name| name.as_name().ok());
        let letters = file.get(font, b"ToUnicode").and_then(|table| table.as_stream().ok());
        let letters = letters.and_then(|table| file.data(table).ok());
        let letters = letters.map(|program| LetterTable::read(&program));
        if subtype == Some(b"Type0") {
            let (default_width, widths) = composite_widths(file, font);
            return Self { codes: composite_codes(file, font), letters, default_width, widths };
        }
        let (default_width, widths) = simple_widths(file, font);
        let codes = FontCodes::Bytes(simple_letters(file, font, subtype.unwrap_or_default()));
        Self { codes, letters, default_width, widths }
    }

    /// What a string shows.
    pub(super) fn glyphs<'s>(&'s self, string: &'s [u8]) -> impl Iterator<Item = Glyph> + 's {
        let size = if matches!(self.codes, FontCodes::Bytes(_)) { 1 } else { 2 };
        string.chunks(size).map(move |bytes| {
            let code = bytes.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
            let listed = self.letters.as_ref().and_then(|letters| letters.text(code));
            let text = listed.or_else(|| match &self.codes {
                FontCodes::Bytes(letters) => letters.get(code as usize)?.clone(),
                FontCodes::Units => char::from_u32(code).map(String::from),
                FontCodes::Glyphs => None,
            });
            Glyph { text, width: self.width(code), is_space: size == 1 && code == 32 }
        })
    }

    fn width(&self, code: u32) -> f32 {
        let range = self.widths.range(..=code).next_back();
        range
            .filter(|(_, (last, _))| code <= *last)
            .map_or(self.default_width, |(_, (_, width))| *width)
    }
}

fn composite_codes(file: &PdfFile<'_>, font: &Dictionary) -> FontCodes {
    let name = file.get(font, b"Encoding").and_then(|name| name.as_name().ok());
    let name = String::from_utf8_lossy(name.unwrap_or_default());
    if name.contains("UCS2") || name.contains("UTF16") {
        FontCodes::Units
    } else {
        FontCodes::Glyphs
    }
}

fn composite_widths(file: &PdfFile<'_>, font: &Dictionary) -> (f32, BTreeMap<u32, (u32, f32)>) {
    let mut widths = BTreeMap::new();
    let below = file.get(font, b"DescendantFonts").and_then(|fonts| fonts.as_array().ok());
    let Some(below) = below.and_then(|fonts| file.dictionary(fonts.first()?)) else {
        return (WIDE, widths);
    };
    let default = below.get(b"DW").ok().and_then(|width| file.number(width));
    let default = default.map_or(WIDE, |width| width * UNIT);
    let list = file.get(below, b"W").and_then(|list| list.as_array().ok());
    let mut list = list.into_iter().flatten().map(|item| file.follow(item));
    while let (Some(first), Some(next)) = (list.next(), list.next()) {
        let Some(first) = code(first) else { break };
        if let Object::Array(each) = next {
            for (code, width) in (first..).zip(each) {
                let width = file.number(width).unwrap_or_default();
                widths.insert(code, (code, width * UNIT));
            }
        } else if let (Some(last), Some(width)) = (code(next), list.next()) {
            widths.insert(first, (last, file.number(width).unwrap_or_default() * UNIT));
        }
        if widths.len() > MAX_WIDTHS {
            break;
        }
    }
    (default, widths)
}

fn simple_widths(file: &PdfFile<'_>, font: &Dictionary) -> (f32, BTreeMap<u32, (u32, f32)>) {
    // A font whose glyphs are drawings has a measure of its own.
    let matrix = file.get(font, b"FontMatrix").and_then(|matrix| matrix.as_array().ok());
    let unit = matrix.and_then(|matrix| file.number(matrix.first()?)).map_or(UNIT, f32::abs);
    let about = file.get(font, b"FontDescriptor").and_then(|about| about.as_dict().ok());
    let missing = about.and_then(|about| file.number(about.get(b"MissingWidth").ok()?));
    let default = missing.filter(|width| *width > 0.0).map_or(WIDTH, |width| width * unit);
    let first = file.get(font, b"FirstChar").and_then(code).unwrap_or_default();
    let list = file.get(font, b"Widths").and_then(|list| list.as_array().ok());
    let widths = (first..).zip(list.into_iter().flatten()).take(256);
    let widths =
        widths.filter_map(|(code, width)| Some((code, (code, file.number(width)? * unit))));
    (default, widths.collect())
}

fn code(object: &Object) -> Option<u32> {
    object.as_i64().ok()?.try_into().ok()
}

/// What each byte means: the named encoding with the font's own differences.
fn simple_letters(file: &PdfFile<'_>, font: &Dictionary, subtype: &[u8]) -> Vec<Option<String>> {
    let is_truetype = subtype == b"TrueType";
    let usual: &[u8] = if is_truetype { b"WinAnsiEncoding" } else { b"StandardEncoding" };
    let encoding = file.get(font, b"Encoding");
    let (base, differences) = match encoding {
        Some(Object::Name(name)) => (&name[..], None),
        Some(Object::Dictionary(own)) => {
            let base = file.get(own, b"BaseEncoding").and_then(|name| name.as_name().ok());
            (base.unwrap_or(usual), file.get(own, b"Differences"))
        }
        _ => (usual, None),
    };
    let mut letters = encoded(Object::Name(base.to_vec()));
    let mut code = 0;
    for item in differences.and_then(|list| list.as_array().ok()).into_iter().flatten() {
        match file.follow(item) {
            Object::Name(name) => {
                if let Some(letter) = letters.get_mut(code) {
                    let of_tex = || names::of_tex(name, code).filter(|_| subtype == b"Type3");
                    *letter = names::text(name).or_else(of_tex);
                }
                code += 1;
            }
            number => {
                let number = number.as_i64().ok().and_then(|code| code.try_into().ok());
                code = number.unwrap_or(letters.len());
            }
        }
    }
    letters
}

/// What each byte means in an encoding of the library's.
fn encoded(encoding: Object) -> Vec<Option<String>> {
    let font = Dictionary::from_iter([("Type", Object::from("Font")), ("Encoding", encoding)]);
    let nothing = Document::new();
    let encoding = font.get_font_encoding_with_limit(&nothing, 0);
    let letter = |byte: u8| {
        let text = encoding.as_ref().ok()?.bytes_to_string(&[byte]).ok()?;
        (!text.is_empty()).then_some(text)
    };
    (0..=u8::MAX).map(letter).collect()
}
