//! The parts of an answer within which a quote belongs to a citation.

use std::ops::Range;

/// A paragraph, an item of a list, a row of a table, or a block quote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) span: Range<usize>,
    pub(super) is_block_quote: bool,
}

/// The regions of an answer in Markdown, in order. Blocks of code are left out: strings in a program
/// are no quotes.
pub(super) fn regions(answer: &str) -> Vec<Region> {
    let mut regions: Vec<Region> = Vec::new();
    let mut at = 0;
    let mut may_have_code = true;
    let mut is_open = false;
    while at < answer.len() {
        let end =
            memchr::memchr(b'\n', &answer.as_bytes()[at..]).map_or(answer.len(), |it| at + it);
        let line = answer[at..end].trim_start();
        if let Some(fence) = fence(line).filter(|_| may_have_code) {
            match answer[end..].find(&format!("\n{fence}")) {
                Some(close) => {
                    at = line_end(answer, end + close + 1);
                    is_open = false;
                    continue;
                }
                // A fence that is never closed would hide the rest.
                None => may_have_code = false,
            }
        }
        let is_block_quote = line.starts_with('>');
        match regions.last_mut().filter(|_| is_open) {
            Some(last) if last.is_block_quote == is_block_quote && !begins_region(line) => {
                last.span.end = end;
            }
            _ if line.trim_end().is_empty() => {}
            _ => regions.push(Region { span: at..end, is_block_quote }),
        }
        is_open = !line.trim_end().is_empty();
        at = end + 1;
    }
    regions
}

fn line_end(answer: &str, at: usize) -> usize {
    answer[at..].find('\n').map_or(answer.len(), |end| at + end + 1)
}

fn fence(line: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| line.starts_with(fence))
}

/// Whether a line begins something new although no blank line is before it.
fn begins_region(line: &str) -> bool {
    if line.is_empty() || line.starts_with(['#', '|', '[']) {
        return true;
    }
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = digits.len() < line.len() && digits.starts_with(['.', ')']);
    let after_marker = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None if is_number => &digits[1..],
        None => return false,
    };
    after_marker.starts_with([' ', '\t'])
}

/// A paragraph of a block quote.
#[derive(Debug)]
pub(super) struct QuotedParagraph {
    pub(super) span: Range<usize>,
    /// Without the markers.
    pub(super) text: String,
    /// Where each line begins, in `text` and in the answer.
    lines: Vec<(usize, usize)>,
}

impl QuotedParagraph {
    /// Where a byte of its text is in the answer.
    pub(super) fn answer_offset(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|(in_text, _)| *in_text <= at);
        let line = after.checked_sub(1).and_then(|index| self.lines.get(index));
        line.map_or(self.span.start, |(in_text, in_answer)| in_answer + (at - in_text))
    }
}

/// The paragraphs of a block quote.
pub(super) fn quoted_paragraphs(answer: &str, region: &Range<usize>) -> Vec<QuotedParagraph> {
    let mut paragraphs: Vec<QuotedParagraph> = Vec::new();
    let mut at = region.start;
    let mut is_open = false;
    for line in answer[region.clone()].split_inclusive('\n') {
        let words = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
        let start = at + line.len() - words.len();
        let words = words.trim_end();
        at += line.len();
        if words.is_empty() {
            is_open = false;
            continue;
        }
        let span = start..start + words.len();
        if let Some(paragraph) = paragraphs.last_mut().filter(|_| is_open) {
            paragraph.span.end = span.end;
            paragraph.text.push('\n');
            paragraph.lines.push((paragraph.text.len(), start));
            paragraph.text.push_str(words);
        } else {
            let (text, lines) = (words.to_owned(), vec![(0, start)]);
            paragraphs.push(QuotedParagraph { span, text, lines });
        }
        is_open = true;
    }
    paragraphs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: &[(&str, bool)]) {
        let found = regions(answer);
        let found: Vec<_> =
            found.iter().map(|it| (&answer[it.span.clone()], it.is_block_quote)).collect();
        assert_eq!(found, expected, "{answer}");
    }

    #[test]
    fn an_answer_falls_into_paragraphs_items_rows_and_block_quotes() {
        check("a\nb\n\nc", &[("a\nb", false), ("c", false)]);
        check("- a\n  b\n- c\n2. d", &[("- a\n  b", false), ("- c", false), ("2. d", false)]);
        check("a\n> b\n>\n> c\nd", &[("a", false), ("> b\n>\n> c", true), ("d", false)]);
        check("a\n```\n\"x\"\n```\nb", &[("a", false), ("b", false)]);
        check("a\n```\n\"x\"", &[("a\n```\n\"x\"", false)]);
        check("", &[]);
    }

    #[test]
    fn a_block_quote_loses_its_markers() {
        let answer = "> one\n> two\n>\n> three";
        let found = quoted_paragraphs(answer, &(0..answer.len()));
        let texts: Vec<_> = found.iter().map(|it| (it.span.clone(), it.text.as_str())).collect();
        assert_eq!(texts, [(2..11, "one\ntwo"), (16..21, "three")]);
        assert_eq!(found[0].answer_offset(4), 8);
    }
}
