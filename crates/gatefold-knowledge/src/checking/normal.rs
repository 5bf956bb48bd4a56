//! Texts without what differs between a source and an honest copy of it.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::characters::{
    is_closing, is_hyphen, is_invisible, is_long_dash, is_quotation_mark, is_unspaced_script,
};

/// The most characters that are composed into one. Longer runs of marks are broken up.
const MAX_CLUSTER: usize = 32;

/// A text in a form in which copies of it are equal, and the way back to its bytes.
///
/// It is in NFKC, so without ligatures; words that a hyphen cuts at the end of a line are whole, and
/// so are words with a hyphen, since none can tell them apart; dashes are spaces, and a run of white
/// space is one; quotation marks are all the same, and signs of Markdown and characters that nobody
/// sees are left out.
#[derive(Debug)]
pub(super) struct NormalText {
    pub(super) text: String,
    /// Where the way back jumps; between two of these both texts go on byte by byte.
    anchors: Vec<Anchor>,
}

#[derive(Debug, Clone, Copy)]
struct Anchor {
    normal: usize,
    source: usize,
}

impl NormalText {
    pub(super) fn of(source: &str) -> Self {
        let mut normaliser = Normaliser {
            source,
            at: 0,
            space: None,
            last: None,
            normal: Self { text: String::with_capacity(source.len()), anchors: Vec::new() },
        };
        while let Some(c) = normaliser.peek() {
            normaliser.take(c);
        }
        normaliser.normal
    }

    /// The bytes of the source that a part of this text comes from.
    pub(super) fn source_span(&self, source: &str, normal: Range<usize>) -> Range<usize> {
        let Some(last) = self.text[normal.clone()].chars().next_back() else {
            let at = source.floor_char_boundary(self.source_of(normal.start));
            return at..at;
        };
        let start = source.floor_char_boundary(self.source_of(normal.start));
        let last_start = source.floor_char_boundary(self.source_of(normal.end - last.len_utf8()));
        let mut rest = source[last_start..].chars();
        let first_length = rest.next().map_or(0, char::len_utf8);
        let marks: usize = rest.take_while(|c| joins(*c)).map(char::len_utf8).sum();
        start..(last_start + first_length + marks).max(start)
    }

    fn source_of(&self, normal: usize) -> usize {
        let after = self.anchors.partition_point(|anchor| anchor.normal <= normal);
        match after.checked_sub(1) {
            Some(index) => self.anchors[index].source + (normal - self.anchors[index].normal),
            None => normal,
        }
    }

    /// The part of this text that comes from these bytes of the source.
    pub(super) fn normal_span(&self, source: Range<usize>) -> Range<usize> {
        let start = self.normal_of(source.start);
        start..self.normal_of(source.end).max(start)
    }

    /// The first byte that comes from this byte of the source or a later one.
    fn normal_of(&self, source: usize) -> usize {
        let after = self.anchors.partition_point(|anchor| anchor.source < source);
        let next = self.anchors.get(after).map_or(self.text.len(), |anchor| anchor.normal);
        let from_last = match after.checked_sub(1) {
            Some(index) => self.anchors[index].normal + (source - self.anchors[index].source),
            None => source,
        };
        self.text.ceil_char_boundary(from_last.min(next))
    }
}

struct Normaliser<'source> {
    source: &'source str,
    at: usize,
    /// Where white space began that is not written yet.
    space: Option<usize>,
    /// What was written last.
    last: Option<char>,
    normal: NormalText,
}

impl Normaliser<'_> {
    fn peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    fn take(&mut self, c: char) {
        if is_hyphen(c) || is_long_dash(c) {
            return self.take_dash();
        }
        let start = self.at;
        self.at += c.len_utf8();
        if is_invisible(c) || matches!(c, '*' | '`') || (c == '\\' && self.is_escape()) {
            return;
        }
        if c == '_' && !(self.is_after_word() && self.peek().is_some_and(char::is_alphanumeric)) {
            return;
        }
        if c.is_ascii() && !self.peek().is_some_and(joins) {
            return self.push(c, start);
        }
        self.push_composed(start);
    }

    fn is_escape(&self) -> bool {
        self.peek().is_some_and(|next| next.is_ascii_punctuation() || is_quotation_mark(next))
    }

    fn is_after_word(&self) -> bool {
        self.space.is_none() && self.last.is_some_and(char::is_alphanumeric)
    }

    /// A character with the marks that belong to it.
    fn push_composed(&mut self, start: usize) {
        let marks = self.source[self.at..].chars().take_while(|c| joins(*c)).take(MAX_CLUSTER);
        self.at += marks.map(char::len_utf8).sum::<usize>();
        for composed in self.source[start..self.at].nfkc() {
            self.push(composed, start);
        }
    }

    fn push(&mut self, c: char, source: usize) {
        if c.is_whitespace() || c == '|' || c.is_control() {
            self.space = self.space.or(Some(source));
            return;
        }
        let written = if is_quotation_mark(c) { '\'' } else { c };
        if let Some(space) = self.space.take() {
            let is_within_script =
                is_unspaced_script(written) && self.last.is_some_and(is_unspaced_script);
            if self.last.is_some() && !is_closing(written) && !is_within_script {
                self.write(' ', space);
            }
        }
        // Two marks typed for one.
        if !(written == '\'' && self.last == Some('\'')) {
            self.write(written, source);
        }
    }

    fn write(&mut self, c: char, source: usize) {
        let normal = self.normal.text.len();
        if self.normal.source_of_end() != source {
            self.normal.anchors.push(Anchor { normal, source });
        }
        self.normal.text.push(c);
        self.last = Some(c);
    }

    /// A run of hyphens and dashes: part of a word, a sign of a number, or a space.
    fn take_dash(&mut self) {
        let start = self.at;
        let rest = &self.source[start..];
        let is_part = |c: char| is_hyphen(c) || is_long_dash(c) || is_invisible(c);
        let run = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let after = &rest[run.len()..];
        self.at += run.len();
        if run.chars().all(|c| c == '\u{ad}' || is_invisible(c)) {
            if let Some(blank) = broken_line(after).filter(|_| self.is_after_word()) {
                self.at += blank;
            }
            return;
        }
        let is_single = run.chars().filter(|c| !is_invisible(*c)).count() == 1
            && !run.chars().any(is_long_dash);
        let is_after_letter = self.space.is_none() && self.last.is_some_and(char::is_alphabetic);
        let next = after.chars().next();
        if is_single && is_after_letter {
            if next.is_some_and(char::is_alphabetic) {
                return;
            }
            if let Some(blank) = broken_line(after) {
                self.at += blank;
                return;
            }
        }
        let is_sign =
            is_single && !self.is_after_word() && next.is_some_and(|c| c.is_ascii_digit());
        if is_sign {
            self.push('-', start);
        } else {
            self.space = self.space.or(Some(start));
        }
    }
}

impl NormalText {
    fn source_of_end(&self) -> usize {
        let end = self.text.len();
        self.anchors.last().map_or(end, |last| last.source + (end - last.normal))
    }
}

/// The white space after a hyphen at the end of a line, where the word goes on after it. Copies have
/// a space in place of the line's end; then only a small letter says that the word goes on.
fn broken_line(after: &str) -> Option<usize> {
    let word = after.trim_start_matches(|c: char| c.is_whitespace() || is_invisible(c));
    let blank = &after[..after.len() - word.len()];
    let next = word.chars().next().filter(|c| c.is_alphabetic())?;
    let lines = blank.matches('\n').count();
    (!blank.is_empty() && lines < 2 && (lines == 1 || next.is_lowercase())).then_some(blank.len())
}

/// A character that belongs to the one before.
fn joins(c: char) -> bool {
    c > '\u{2ff}' && (is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11ff}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(NormalText::of(text).text, expected, "{text:?}");
    }

    #[test]
    fn copies_are_equal_in_normal_form() {
        for (text, expected) in [
            ("of\u{fb01}ce  hours,\u{a0}daily", "office hours, daily"),
            ("an exam-\nple of exam- ples", "an example of examples"),
            ("an exam\u{ad}\nple, an ex\u{ad}ample", "an example, an example"),
            ("well-known \u{2014} and 10\u{2013}20--or -5", "wellknown and 10 20 or -5"),
            ("\u{201c}don\u{2019}t\u{201d} say \u{ab}no\u{bb}", "'don't' say 'no'"),
            ("**bold** and `code` of_it _so_", "bold and code of_it so"),
            ("| a | b |\n| c | d |", "a b c d"),
            ("wait . . . then \u{2026}", "wait... then..."),
            ("it\\\u{2019}s \\*", "it's"),
            ("漢字\n漢字。\n text", "漢字漢字。 text"),
            ("e\u{301}te\u{301}", "été"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("", ""),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn a_line_that_ends_in_a_hyphen_before_a_blank_line_ends_there() {
        check("a word-\n\nNext", "a word Next");
    }

    #[test]
    fn spans_lead_back_to_the_source() {
        for (text, part, expected) in [
            ("an of\u{fb01}ce-\nbuilding now", "officebuilding", "of\u{fb01}ce-\nbuilding"),
            ("x \u{fb01}n y", "fin", "\u{fb01}n"),
            ("a e\u{301}te\u{301} b", "été", "e\u{301}te\u{301}"),
            ("plain text", "text", "text"),
            ("a  \u{2014} b c", "b", "b"),
        ] {
            let normal = NormalText::of(text);
            let start = normal.text.find(part).unwrap();
            let span = normal.source_span(text, start..start + part.len());
            assert_eq!(&text[span.clone()], expected);
            assert_eq!(normal.normal_span(span), start..start + part.len(), "{text}");
        }
    }
}
