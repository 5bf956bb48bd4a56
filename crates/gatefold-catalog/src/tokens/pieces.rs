//! How o200k cuts a text into pieces before it encodes them, without tables of Unicode.
//!
//! The pattern, from tiktoken's `openai_public.py` (U: Lu, Lt, Lm, Lo, M; L: Ll, Lm, Lo, M):
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?U+L*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! A character that [`Class::of`] does not classify makes its surroundings unsure, up to the next
//! point where a piece starts whatever that character is.

/// A stretch of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Exactly one piece.
    Sure(&'a str),
    /// One or more whole pieces.
    Unsure(&'a str),
}

pub(super) fn of(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let sure = piece_length(rest);
        let (piece, behind) = rest.split_at(sure.unwrap_or_else(|| unsure_length(rest)));
        rest = behind;
        Some(if sure.is_some() { Piece::Sure(piece) } else { Piece::Unsure(piece) })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Lu
    Upper,
    /// Ll
    Lower,
    /// Lo, which counts as both upper and lower case
    Letter,
    /// N
    Number,
    Newline,
    /// `\s` without the newlines
    Space,
    /// none of these, and not a mark
    Symbol,
    Unknown,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::Newline,
            _ if c.is_whitespace() => Self::Space,
            '\0'..='\x7f'
            | '×'
            | '÷'
            | '\u{2010}'..='\u{2027}'
            | '\u{2030}'..='\u{205e}'
            | '\u{2190}'..='\u{21ff}'
            | '\u{2500}'..='\u{2775}'
            | '\u{2794}'..='\u{27bf}'
            | '\u{3001}'..='\u{3003}'
            | '\u{3008}'..='\u{3020}'
            | '\u{ff01}'..='\u{ff0f}'
            | '\u{ff1a}'..='\u{ff20}'
            | '\u{1f300}'..='\u{1f64f}' => Self::Symbol,
            // `ſ`, the last of this block, folds to `s`: it may end a contraction.
            'À'..='\u{17e}' | 'Α'..='Ρ' | 'Σ'..='ώ' | '\u{400}'..='\u{481}' => {
                if c.is_uppercase() { Self::Upper } else { Self::Lower }
            }
            '\u{3041}'..='\u{3096}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' => Self::Letter,
            _ => Self::Unknown,
        }
    }

    fn is_upper(self) -> bool {
        matches!(self, Self::Upper | Self::Letter)
    }

    fn is_lower(self) -> bool {
        matches!(self, Self::Lower | Self::Letter)
    }

    fn is_letter(self) -> bool {
        self.is_upper() || self.is_lower()
    }
}

fn class_at(text: &str) -> Option<Class> {
    text.chars().next().map(Class::of)
}

/// The length of a text's leading characters in some classes.
fn run(text: &str, belongs: impl Fn(Class) -> bool) -> usize {
    text.char_indices().find(|(_, c)| !belongs(Class::of(*c))).map_or(text.len(), |(at, _)| at)
}

/// The length of the piece that a text starts with, if it is certain.
fn piece_length(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    let first = chars.next()?;
    let class = Class::of(first);
    let behind = chars.as_str();
    let next = class_at(behind);
    match class {
        Class::Unknown => None,
        Class::Upper | Class::Lower | Class::Letter => word_length(text),
        Class::Number => {
            let length = run(text, |class| class == Class::Number).min(3);
            let goes_on = length < 3 && class_at(&text[length..]) == Some(Class::Unknown);
            (!goes_on).then_some(length)
        }
        Class::Symbol | Class::Space if next.is_some_and(Class::is_letter) => {
            Some(first.len_utf8() + word_length(behind)?)
        }
        Class::Symbol | Class::Space if next == Some(Class::Unknown) => None,
        Class::Symbol => symbols_length(text),
        Class::Space if first == ' ' && next == Some(Class::Symbol) => {
            Some(1 + symbols_length(behind)?)
        }
        Class::Space | Class::Newline => Some(space_length(text)),
    }
}

fn word_length(text: &str) -> Option<usize> {
    let upper = run(text, Class::is_upper);
    let lower = run(&text[upper..], Class::is_lower);
    let mut end = upper + lower;
    if class_at(&text[end..]) == Some(Class::Unknown) {
        return None;
    }
    if lower == 0 {
        // `U*L+` gives characters back until one of both cases can end it.
        let both = text[..upper].char_indices().rfind(|(_, c)| Class::of(*c) == Class::Letter);
        end = both.map_or(upper, |(at, c)| at + c.len_utf8());
    }
    Some(end + contraction_length(&text[end..]))
}

fn contraction_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let letter = |at: usize| bytes.get(at).map(u8::to_ascii_lowercase);
    match (bytes.first(), letter(1), letter(2)) {
        (Some(b'\''), Some(b's' | b't' | b'm' | b'd'), _) => 2,
        (Some(b'\''), Some(b'r' | b'v'), Some(b'e')) | (Some(b'\''), Some(b'l'), Some(b'l')) => 3,
        _ => 0,
    }
}

fn symbols_length(text: &str) -> Option<usize> {
    let symbols = run(text, |class| class == Class::Symbol);
    let behind = &text[symbols..];
    if class_at(behind) == Some(Class::Unknown) {
        return None;
    }
    let tail = behind.len() - behind.trim_start_matches(['\r', '\n', '/']).len();
    Some(symbols + tail)
}

fn space_length(text: &str) -> usize {
    let all = run(text, |class| matches!(class, Class::Space | Class::Newline));
    let spaces = &text[..all];
    if let Some(last) = spaces.rfind(['\r', '\n']) {
        return last + 1;
    }
    let last = spaces.chars().next_back().map_or(0, char::len_utf8);
    if all == text.len() || all == last { all } else { all - last }
}

/// The length up to the next point, after the first character, where a piece certainly starts: at a
/// space after anything else; at a letter or digit after two symbols, the first of which the
/// pattern's tail `[\r\n/]*` cannot have taken.
fn unsure_length(text: &str) -> usize {
    let (mut before, mut last) = (None, None);
    for (at, c) in text.char_indices() {
        let class = Class::of(c);
        let after_other = last.is_some_and(|c: char| !c.is_whitespace());
        let symbol = |c: Option<char>| c.is_some_and(|c| Class::of(c) == Class::Symbol);
        let after_symbols = symbol(before) && before != Some('/') && symbol(last);
        let starts_word = class.is_letter() || class == Class::Number;
        if class == Class::Space && after_other || starts_word && after_symbols {
            return at;
        }
        (before, last) = (last, Some(c));
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token_bound;

    #[test]
    fn every_character_that_is_placed_is_placed_rightly() {
        let o200k = tiktoken_rs::o200k_base_singleton();
        let placed = ('\u{80}'..='\u{1f650}').filter(|c| Class::of(*c) != Class::Unknown);
        let sampled = placed.filter(|c| *c < '\u{3400}' || u32::from(*c) % 37 == 0);
        for c in sampled {
            // In long runs of letters, a wrong cut shows as a count that is too low.
            let text = format!(
                "name{c}Name{c}{c}name 1{c}2 {c}\n{c}'s {c}{c}{c}\"{c}internationalization"
            );
            assert!(token_bound(&text) >= o200k.count_ordinary(&text), "{c:?}");
        }
    }

    #[test]
    fn pieces_join_to_the_text() {
        let text = "I'll go\u{301} 12345  \n\n x—y\u{378}z\", \"w";
        let joined: String = of(text)
            .map(|piece| match piece {
                Piece::Sure(piece) | Piece::Unsure(piece) => piece,
            })
            .collect();
        assert_eq!(joined, text);
    }
}
