//! From text to the terms that are indexed and looked up.
//!
//! A term is a stem of a word in lower case without accents, a compound (`createIssue`,
//! `pull-request` and `GitHub` stand as `createissue`, `pullrequest`, `github` beside their words)
//! or, in scripts written without spaces, two neighbouring letters (Nie et al. 2000, "On the use of
//! words and n-grams for Chinese information retrieval").

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use crate::words;

/// The longest term, in bytes. What is longer is data, not language.
pub(crate) const TERM_BYTES: usize = 64;

/// The most words of a compound.
const COMPOUND_PARTS: usize = 8;

/// What a term was made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One word, stemmed; two letters of a script without spaces.
    Word,
    /// Several words that stood as one.
    Compound,
}

/// Calls `each` with the terms of a text in their order, without stop words, until `limit` words
/// are read.
pub(crate) fn terms(text: &str, limit: usize, mut each: impl FnMut(&str, Kind)) {
    walk(text, limit, |word, kind| match kind {
        Kind::Word if words::is_stop_word(word) => {}
        Kind::Word => each(words::stem(word), kind),
        Kind::Compound => each(word, kind),
    });
}

/// The words of a text in lower case and without accents, joined; words that say nothing are left
/// out unless there are no others. Names are compared by it.
pub(crate) fn key(name: &str) -> String {
    let (mut key, mut whole) = (String::new(), String::new());
    walk(name, COMPOUND_PARTS * 4, |word, kind| {
        if kind == Kind::Word {
            whole.push_str(word);
            key.push_str(if words::is_stop_word(word) { "" } else { word });
        }
    });
    if key.is_empty() { whole } else { key }
}

/// Calls `each` with the words of a text in lower case, unstemmed and with stop words.
pub(crate) fn walk(text: &str, limit: usize, mut each: impl FnMut(&str, Kind)) {
    let text = fold(bounded(text, limit));
    let mut left = limit;
    let mut walker = Walker::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if left == 0 {
            return;
        }
        let next = chars.peek().copied();
        walker.step(c, next, &mut |term, kind| {
            left = left.saturating_sub(usize::from(kind == Kind::Word));
            each(term, kind);
        });
    }
    walker.end_compound(&mut each);
}

/// The beginning of a text that can hold this many words, so that a huge text costs no more.
pub(crate) fn bounded(text: &str, words: usize) -> &str {
    &text[..text.floor_char_boundary(words.saturating_mul(TERM_BYTES))]
}

/// Reads a text letter by letter.
#[derive(Default)]
struct Walker {
    word: String,
    compound: String,
    parts: usize,
    before: Option<char>,
    /// The last letter of a run in a script without spaces, and the run's length so far.
    run: Option<(char, usize)>,
}

impl Walker {
    fn step(&mut self, c: char, next: Option<char>, each: &mut impl FnMut(&str, Kind)) {
        if is_spaceless(c) {
            self.end_compound(each);
            self.pair(c, next, each);
            self.before = None;
            return;
        }
        self.run = None;
        if !is_letter(c) {
            self.end_word(each);
            let joins = matches!(c, '_' | '-' | '.') && self.before.is_some_and(is_letter);
            if !joins || !next.is_some_and(|next| is_letter(next) && !is_spaceless(next)) {
                self.end_compound(each);
            }
            self.before = Some(c);
            return;
        }
        let next_is_lower = next.is_some_and(char::is_lowercase);
        if self.before.is_some_and(|last| words::is_boundary(last, c, next_is_lower)) {
            self.end_word(each);
        }
        if c.is_ascii() {
            self.word.push(c.to_ascii_lowercase());
        } else {
            self.word.extend(c.to_lowercase());
        }
        self.before = Some(c);
    }

    /// Two neighbouring letters; a letter without neighbours becomes a term alone.
    fn pair(&mut self, c: char, next: Option<char>, each: &mut impl FnMut(&str, Kind)) {
        let count = self.run.map_or(0, |(_, count)| count);
        if let Some((last, _)) = self.run {
            self.word.push(last);
        }
        if count > 0 || !next.is_some_and(is_spaceless) {
            self.word.push(c);
            each(&self.word, Kind::Word);
        }
        self.word.clear();
        self.run = Some((c, count + 1));
    }

    fn end_word(&mut self, each: &mut impl FnMut(&str, Kind)) {
        if self.word.is_empty() {
            return;
        }
        if self.word.len() <= TERM_BYTES {
            each(&self.word, Kind::Word);
        }
        if self.compound.len() <= TERM_BYTES {
            self.compound.push_str(&self.word);
        }
        self.parts += 1;
        self.word.clear();
    }

    fn end_compound(&mut self, each: &mut impl FnMut(&str, Kind)) {
        self.end_word(each);
        if (2..=COMPOUND_PARTS).contains(&self.parts) && self.compound.len() <= TERM_BYTES {
            each(&self.compound, Kind::Compound);
        }
        self.compound.clear();
        self.parts = 0;
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() && is_combining_mark(c)
}

/// Letters of scripts that put no spaces between words: Chinese, Japanese, Korean (whose spaces
/// separate phrases rather than words), Thai, Lao, Burmese and Khmer. Blocks as in Unicode 17.
pub(crate) fn is_spaceless(c: char) -> bool {
    !c.is_ascii()
        && matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1100..=0x11FF | 0x1780..=0x17FF
        | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
        && is_letter(c)
}

/// The text without accents, with full-width letters and ligatures decomposed (Unicode
/// normalisation form KC, minus the combining diacritical marks and those of Arabic vowels).
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mark = |c: &char| matches!(u32::from(*c), 0x0300..=0x036F | 0x0640 | 0x064B..=0x0652);
    Cow::Owned(text.nfkd().filter(|c| !mark(c)).nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut found = Vec::new();
        terms(text, 100, |term, _| found.push(term.to_owned()));
        assert_eq!(found.join(" "), expected, "{text}");
    }

    #[test]
    fn names_are_indexed_as_words_and_as_a_whole() {
        check("createIssue", "creat issu createissue");
        check("list_pull-requests.v2", "list pull request v 2 listpullrequestsv2");
        check("Ask GitHub, please.", "ask git hub github");
        check("end. Next", "end next");
    }

    #[test]
    fn accents_and_widths_do_not_count() {
        check("Café ＡＰＩ naïve", "caf api naiv");
        check("مَكْتَب", "مكتب");
    }

    #[test]
    fn scripts_without_spaces_are_read_in_pairs() {
        check("获取天气 x", "获取 取天 天气 x");
        check("天 API", "天 api");
        check("がくせい", "がく くせ せい");
        check("ไทย", "ไท ทย");
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let mut read = 0;
        terms(&"word ".repeat(1000), 7, |_, _| read += 1);
        assert_eq!(read, 7);
    }

    #[test]
    fn a_key_ignores_how_a_name_is_written() {
        assert_eq!(key("create_issue"), key("Create an Issue"));
        assert_eq!(key("about_me"), "aboutme");
        assert_eq!(key("listHTTPRoutes"), "listhttproutes");
    }
}
