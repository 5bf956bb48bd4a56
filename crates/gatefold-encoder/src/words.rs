//! WordPiece as uncased BERT models expect it.
//!
//! The rules are those of BERT's `BasicTokenizer` and `WordpieceTokenizer` (Devlin et al. 2018).
//! One difference is deliberate: `[CLS]` and the like in a text are punctuation and words, never
//! the special tokens, since anyone may have written the text.

use std::collections::HashMap;
use std::path::Path;

use unicode_normalization::char::decompose_canonical;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory as _};

use crate::EncoderError;

/// Longer words are unknown, as in BERT.
const WORD_CHARS: usize = 100;
/// How much of a text is read; 512 tokens rarely need 3 KiB.
const TEXT_BYTES: usize = 64 * 1024;
/// The most entries of a vocabulary; BERT's has 30,522, the multilingual one 119,547.
const ENTRIES: usize = 250_000;
/// The longest entry.
const ENTRY_BYTES: usize = 512;

/// The word pieces.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// Pieces that begin a word.
    heads: HashMap<Box<str>, u32>,
    /// Pieces inside a word, without the `##` they are written with.
    tails: HashMap<Box<str>, u32>,
    /// The length of the longest piece, which bounds the search for one.
    longest_bytes: usize,
    unknown: u32,
    first: u32,
    last: u32,
}

impl Vocabulary {
    /// One piece a line; a piece's number is its line's, from 0.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, EncoderError> {
        let fault = |fault: String| EncoderError::Vocabulary { path: path.to_owned(), fault };
        let (mut heads, mut tails) = (HashMap::with_capacity(32 * 1024), HashMap::new());
        let mut longest_bytes = 0;
        for (id, line) in (0_u32..).zip(text.lines()) {
            if id as usize >= ENTRIES {
                return Err(fault(format!("it has more than {ENTRIES} lines")));
            }
            if line.len() > ENTRY_BYTES {
                return Err(fault(format!("line {} is longer than {ENTRY_BYTES} bytes", id + 1)));
            }
            let (pieces, piece) = match line.strip_prefix("##") {
                Some(tail) if !tail.is_empty() => (&mut tails, tail),
                _ => (&mut heads, line),
            };
            longest_bytes = longest_bytes.max(piece.len());
            pieces.insert(piece.into(), id);
        }
        let special = |name: &str| {
            heads.get(name).copied().ok_or_else(|| fault(format!("it has no line `{name}`")))
        };
        let (unknown, first, last) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(Self { heads, tails, longest_bytes, unknown, first, last })
    }

    /// The numbers of a text's tokens, at most `limit` including the special ones at both ends
    /// (which are always there).
    pub(crate) fn tokens(&self, text: &str, limit: usize) -> Vec<u32> {
        let text = &text[..text.floor_char_boundary(TEXT_BYTES)];
        let inside = limit.saturating_sub(2);
        let mut tokens = vec![self.first];
        let mut word = Word::default();
        for c in text.chars() {
            if tokens.len() > inside {
                break;
            }
            if is_dropped(c) {
                continue;
            }
            if c.is_whitespace() {
                self.end(&mut word, &mut tokens);
            } else if is_ideograph(c) {
                // Compatibility ideographs are written as the usual ones.
                decompose_canonical(c, |part| self.alone(part, &mut word, &mut tokens));
            } else {
                decompose_canonical(c, |part| {
                    if part.general_category() == GeneralCategory::NonspacingMark {
                        return;
                    }
                    for lower in part.to_lowercase() {
                        if is_punctuation(lower) {
                            self.alone(lower, &mut word, &mut tokens);
                        } else {
                            word.push(lower);
                        }
                    }
                });
            }
        }
        self.end(&mut word, &mut tokens);
        tokens.truncate(inside + 1);
        tokens.push(self.last);
        tokens
    }

    /// A character that is a word by itself and ends the one before it.
    fn alone(&self, c: char, word: &mut Word, tokens: &mut Vec<u32>) {
        self.end(word, tokens);
        word.push(c);
        self.end(word, tokens);
    }

    /// Adds the pieces of the word so far, each the longest that fits, and begins a new one.
    fn end(&self, word: &mut Word, tokens: &mut Vec<u32>) {
        let before = tokens.len();
        let mut from = 0;
        while from < word.starts.len() {
            let found = if word.is_long { None } else { self.piece(word, from) };
            let Some((id, to)) = found else {
                tokens.truncate(before);
                tokens.push(self.unknown);
                break;
            };
            tokens.push(id);
            from = to;
        }
        word.clear();
    }

    /// The longest piece that begins at character `from` of the word, and the character after it.
    fn piece(&self, word: &Word, from: usize) -> Option<(u32, usize)> {
        let pieces = if from == 0 { &self.heads } else { &self.tails };
        let start = word.start(from);
        (from + 1..=word.starts.len()).rev().find_map(|to| {
            let end = word.start(to);
            if end - start > self.longest_bytes {
                return None;
            }
            pieces.get(&word.text[start..end]).map(|&id| (id, to))
        })
    }
}

/// The current word, its characters normalized.
#[derive(Debug, Default)]
struct Word {
    text: String,
    /// Where each character starts in `text`.
    starts: Vec<usize>,
    is_long: bool,
}

impl Word {
    fn push(&mut self, c: char) {
        if self.starts.len() == WORD_CHARS {
            self.is_long = true;
            return;
        }
        self.starts.push(self.text.len());
        self.text.push(c);
    }

    fn start(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.text.len())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
        self.is_long = false;
    }
}

/// Control characters except the usual white space, format characters, private use, and the
/// replacement character. Characters that Unicode has not assigned yet stay and make their word
/// unknown.
fn is_dropped(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        char::REPLACEMENT_CHARACTER => true,
        _ => matches!(
            c.general_category(),
            GeneralCategory::Control | GeneralCategory::Format | GeneralCategory::PrivateUse
        ),
    }
}

/// All ASCII symbols count as punctuation; other symbols do not.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// The blocks of CJK ideographs that BERT splits at. Kana and Hangul form words like others.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2A6DF}' | '\u{2A700}'..='\u{2B73F}' | '\u{2B740}'..='\u{2B81F}'
        | '\u{2B820}'..='\u{2CEAF}' | '\u{2F800}'..='\u{2FA1F}')
}

#[cfg(test)]
mod tests;
