//! Quotes in an answer.

use std::ops::Range;

use super::characters::is_unspaced_script;
use super::marks::Mark;
use super::regions::{Region, quoted_paragraphs};

/// The longest quote between quotation marks, in bytes.
const MAX_QUOTATION: usize = 4000;

/// How many bytes of an answer are read in search of closing marks. Marks that are never closed have
/// the same words read again and again.
const MAX_SCANNED: usize = 4 * 1024 * 1024;

/// What an answer gives as a quote.
#[derive(Debug)]
pub(super) struct Quotation {
    /// Between its quotation marks; of a block quote its lines.
    pub(super) span: Range<usize>,
    pub(super) text: String,
    /// Its region, by number.
    pub(super) region: usize,
    pub(super) is_block: bool,
}

/// The quotes of an answer, in order.
pub(super) fn quotations(answer: &str, regions: &[Region], marks: &[Mark]) -> Vec<Quotation> {
    let mut found = Vec::new();
    let mut scan_left = MAX_SCANNED;
    for (number, region) in regions.iter().enumerate() {
        let first = marks.partition_point(|mark| mark.span.end <= region.span.start);
        let past = marks.partition_point(|mark| mark.span.start < region.span.end);
        let marks = marks.get(first..past).unwrap_or_default();
        if region.is_block_quote {
            found.extend(block_quotations(answer, region, number, marks));
        } else {
            let reader = RegionReader { answer, region: &region.span, marks };
            for span in reader.spans(&mut scan_left) {
                let text = answer[span.clone()].to_owned();
                found.push(Quotation { span, text, region: number, is_block: false });
            }
        }
    }
    found
}

/// The paragraphs of a block quote, each without what says where it is from.
fn block_quotations(
    answer: &str,
    region: &Region,
    number: usize,
    marks: &[Mark],
) -> Vec<Quotation> {
    let mut found = Vec::new();
    for paragraph in quoted_paragraphs(answer, &region.span) {
        let text = &paragraph.text;
        let source = marks.iter().find(|mark| paragraph.span.contains(&mark.span.start));
        let at_source = source.and_then(|mark| text.find(&answer[mark.span.clone()]));
        let words = at_source.map_or(text.as_str(), |at| before_source(&text[..at])).trim_end();
        if !is_attribution(words) && words.contains(char::is_alphanumeric) {
            let span = paragraph.span.start..paragraph.answer_offset(words.len());
            let text = without_outer_marks(words).to_owned();
            found.push(Quotation { span, text, region: number, is_block: true });
        }
    }
    found
}

/// A text that ends where an address begins, up to the bracket, link or dash in which its source
/// begins.
fn before_source(text: &str) -> &str {
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    if is_attribution(&text[line..]) {
        return &text[..line];
    }
    let title = text.strip_suffix("](").and_then(|title| title.rfind('['));
    if let Some(title) = title {
        let before = text[..title].trim_end();
        return before.strip_suffix('(').unwrap_or(before);
    }
    match text.rfind(['(', '[', '<']) {
        Some(at) if !text[at..].contains([')', ']', '>']) => &text[..at],
        _ => text,
    }
}

fn is_attribution(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['\u{2014}', '\u{2013}']) || line.starts_with("--")
}

/// A block quote that is between quotation marks as well.
fn without_outer_marks(words: &str) -> &str {
    let mut inner = words.chars();
    let (Some(first), Some(last)) = (inner.next(), inner.next_back()) else { return words };
    let is_pair = closers(first).is_some_and(|closers| closers.contains(&last));
    if is_pair && !inner.as_str().contains([first, last]) { inner.as_str() } else { words }
}

/// What ends a quote that begins with this mark.
fn closers(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '\'' => &['\''],
        '\u{201c}' => &['\u{201d}'],
        '\u{201e}' => &['\u{201c}', '\u{201d}'],
        '\u{2018}' => &['\u{2019}'],
        '\u{201a}' => &['\u{2018}', '\u{2019}'],
        '\u{ab}' => &['\u{bb}'],
        '\u{bb}' => &['\u{ab}'],
        '\u{2039}' => &['\u{203a}'],
        '\u{300c}' => &['\u{300d}'],
        '\u{300e}' => &['\u{300f}'],
        _ => return None,
    })
}

/// A mark that is an apostrophe as well.
fn is_apostrophe(mark: char) -> bool {
    matches!(mark, '\'' | '\u{2019}')
}

struct RegionReader<'answer> {
    answer: &'answer str,
    region: &'answer Range<usize>,
    marks: &'answer [Mark],
}

impl RegionReader<'_> {
    fn spans(&self, scan_left: &mut usize) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        let mut read_to = self.region.start;
        for (offset, c) in self.answer[self.region.clone()].char_indices() {
            let at = self.region.start + offset;
            if at < read_to || closers(c).is_none() || !self.opens(at, c) {
                continue;
            }
            let start = at + c.len_utf8();
            let closing = self.close(start, c);
            let scanned = closing.map_or(MAX_QUOTATION, |(_, after)| after - start);
            let Some(left) = scan_left.checked_sub(scanned) else { return spans };
            *scan_left = left;
            if let Some((end, after)) = closing {
                read_to = after;
                let end = self.end_before_source(start, end);
                if self.answer[start..end].contains(char::is_alphanumeric) {
                    spans.push(start..end);
                }
            }
        }
        spans
    }

    /// Whether a mark begins a quote, rather than ends one or is part of a word.
    fn opens(&self, at: usize, c: char) -> bool {
        let before = self.answer[self.region.start..at].chars().next_back();
        let after = self.answer[at + c.len_utf8()..self.region.end].chars().next();
        let mark = self.mark_before(at);
        if mark.is_some_and(|mark| mark.span.contains(&at) || self.is_title_of_link(mark, at, c)) {
            return false;
        }
        let is_in_word = before.is_some_and(|it| it.is_alphanumeric() && !is_unspaced_script(it));
        match c {
            '"' => !is_in_word && after.is_some_and(|it| !it.is_whitespace() && it != '"'),
            '\'' | '\u{2018}' => {
                !is_in_word && after.is_some_and(|it| it.is_alphanumeric() || it == '[')
            }
            '\u{bb}' => !is_in_word && after.is_some_and(char::is_alphanumeric),
            _ => true,
        }
    }

    fn mark_before(&self, at: usize) -> Option<&Mark> {
        let after = self.marks.partition_point(|mark| mark.span.start <= at);
        self.marks.get(after.checked_sub(1)?)
    }

    /// `[text](address "title")` quotes nothing.
    fn is_title_of_link(&self, mark: &Mark, at: usize, c: char) -> bool {
        let between = self.answer.get(mark.span.end..at);
        c == '"'
            && between.is_some_and(|between| !between.is_empty() && between.trim().is_empty())
            && self.answer[at + 1..self.region.end].contains("\")")
    }

    /// Where the quote ends that begins here, and where its closing mark ends.
    fn close(&self, start: usize, open: char) -> Option<(usize, usize)> {
        let closers = closers(open)?;
        let limit = self.answer.floor_char_boundary((start + MAX_QUOTATION).min(self.region.end));
        let mut depth = 0_u32;
        let mut first = None;
        let mut before = open;
        for (offset, c) in self.answer[start..limit].char_indices() {
            let at = start + offset;
            let end = (at, at + c.len_utf8());
            if closers.contains(&c) && self.closes(before, end) {
                first = first.or(Some(end));
                if depth == 0 {
                    return Some(end);
                }
                depth -= 1;
            } else if (c == open || c == '\u{201c}') && !is_apostrophe(c) && self.opens(at, c) {
                depth += 1;
            }
            before = c;
        }
        // The marks do not pair up: the first that could end it does.
        first
    }

    fn closes(&self, before: char, (at, end): (usize, usize)) -> bool {
        let mark = self.answer[at..end].chars().next().unwrap_or_default();
        let mut rest = self.answer[end..self.region.end].chars();
        let after = rest.next();
        let is_in_word = after.is_some_and(|it| it.is_alphanumeric() && !is_unspaced_script(it));
        if mark == '"' {
            return !is_in_word && (!before.is_whitespace() || !self.opens(at, mark));
        }
        if mark == '\u{201c}' {
            // Between low and high marks it may begin a quote within the quote.
            return !(before.is_whitespace() && after.is_some_and(char::is_alphanumeric));
        }
        if !is_apostrophe(mark) {
            return true;
        }
        let is_possessive =
            before == 's' && after == Some(' ') && rest.next().is_some_and(char::is_lowercase);
        !before.is_whitespace() && !is_in_word && !is_possessive
    }

    /// Leaves out a citation that is between the quotation marks, too.
    fn end_before_source(&self, start: usize, end: usize) -> usize {
        let source = self.marks.iter().find(|mark| (start..end).contains(&mark.span.start));
        source.map_or(end, |mark| start + before_source(&self.answer[start..mark.span.start]).len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::marks::marks;
    use super::super::regions::regions;
    use super::*;

    const ADDRESS: &str = "gatefold://d/kb/a.md@0123456789ab#0-9";

    fn check(answer: &str, expected: &[&str]) {
        let answer = answer.replace('@', ADDRESS);
        let regions = regions(&answer);
        let marks = marks(&answer, &regions);
        let found = quotations(&answer, &regions, &marks);
        let texts: Vec<_> = found.iter().map(|quotation| quotation.text.trim()).collect();
        assert_eq!(texts, expected, "{answer}");
    }

    #[test]
    fn quotes_are_between_marks_of_all_kinds() {
        for answer in [
            "He said \"a b c\".",
            "\u{201c}a b c\u{201d} [@]",
            "\u{201e}a b c\u{201c}, sagt er",
            "\u{ab}\u{a0}a b c\u{a0}\u{bb}",
            "\u{bb}a b c\u{ab}",
            "\u{2018}a b c\u{2019}",
            "It's 'a b c', he said",
            "\u{300c}a b c\u{300d}",
            "the 5\" pipe \"a b c\"",
            "[\"a b c\"](@)",
            "\"a b c\"([t](@ \"title of it\"))",
            "> a b c",
            "> \"a b c\" ([t](@))",
            "> a b c\n>\n> \u{2014} [t, p. 4](@)",
            "> a b c [@]",
            "> a b c\n> \u{2014} t, @",
            "\"a b c [@]\"",
        ] {
            check(answer, &["a b c"]);
        }
    }

    #[test]
    fn marks_within_a_quote_and_apostrophes_do_not_end_it() {
        check("\"he said \"yes\" to it\" ok", &["he said \"yes\" to it"]);
        check("\u{201c}a \u{201c}b\u{201d} c\u{201d}", &["a \u{201c}b\u{201d} c"]);
        check(
            "\u{2018}the workers\u{2019} rights don\u{2019}t end\u{2019}.",
            &["the workers\u{2019} rights don\u{2019}t end"],
        );
        check("\"a b\" and \"c d\"", &["a b", "c d"]);
        check("\u{201e}a \u{201c}b\u{201d} c\u{201c}", &["a \u{201c}b\u{201d} c"]);
        check("漢字「一二三」漢字『四五』", &["一二三", "四五"]);
    }

    #[test]
    fn what_is_not_closed_is_not_a_quote() {
        for answer in [
            "a \"b c",
            "the dogs' house",
            "don't and won't",
            "",
            "\"\"",
            "> > >",
            "\u{201c}\n\n\u{201d}",
        ] {
            check(answer, &[]);
        }
    }
}
