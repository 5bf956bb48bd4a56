//! Lines that match a pattern.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::ReadingError;
use crate::lines::{self, NumberedLine, floor, grouped};
use crate::rows::{LONG_LINE, mark};

/// The most lines around a match.
pub(crate) const MAX_CONTEXT: usize = 50;

/// The memory that a compiled pattern may take, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The most matches in one long line that are shown.
const MAX_LINE_MATCHES: usize = 20;

/// How much is shown before a match in a long line, and after its beginning, in bytes.
const BEFORE_MATCH: usize = 150;
const AFTER_MATCH: usize = 350;

/// The most that one search gives, in bytes.
pub(crate) const MAX_FOUND_BYTES: usize = 4 << 20;

/// What to look for in the lines of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrepPattern {
    /// A regular expression in the syntax of the crate `regex`.
    pub pattern: String,
    pub case: LetterCase,
    /// How many lines are shown before and after each that matches.
    pub context: usize,
}

/// Whether the case of letters counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LetterCase {
    #[default]
    Distinct,
    Ignored,
}

/// The lines that match, as rows.
#[derive(Debug)]
pub(crate) struct FoundLines {
    pub(crate) rows: String,
    pub(crate) matching: usize,
    /// Whether [`MAX_FOUND_BYTES`] was reached.
    pub(crate) is_cut: bool,
}

pub(crate) fn grep(text: &str, pattern: &GrepPattern) -> Result<FoundLines, ReadingError> {
    let regex = compiled(pattern)?;
    let context = pattern.context.min(MAX_CONTEXT);
    let mut found = FoundLines { rows: String::new(), matching: 0, is_cut: false };
    // The lines before this one, at most [`MAX_CONTEXT`], that are not shown yet.
    let mut before: std::collections::VecDeque<NumberedLine<'_>> =
        std::collections::VecDeque::new();
    let (mut after, mut last_shown) = (0, 0);
    for line in lines::of(text) {
        if found.rows.len() > MAX_FOUND_BYTES {
            found.is_cut = true;
            break;
        }
        if regex.is_match(line.text) {
            found.matching += 1;
            let first = before.front().map_or(line.number, |line| line.number);
            if context > 0 && last_shown > 0 && first > last_shown + 1 {
                found.rows.push_str("--\n");
            }
            before.drain(..).for_each(|line| found.rows.push_str(&context_row(&line)));
            matching_rows(&line, &regex, &mut found.rows);
            (after, last_shown) = (context, line.number);
        } else if after > 0 {
            found.rows.push_str(&context_row(&line));
            (after, last_shown) = (after - 1, line.number);
        } else if context > 0 {
            if before.len() == context {
                before.pop_front();
            }
            before.push_back(line);
        }
    }
    Ok(found)
}

pub(crate) fn compiled(pattern: &GrepPattern) -> Result<Regex, ReadingError> {
    let mut builder = RegexBuilder::new(&pattern.pattern);
    builder.case_insensitive(pattern.case == LetterCase::Ignored).size_limit(MAX_PATTERN_BYTES);
    builder.build().map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let advice = "look-around and back-references do not exist here; escape . * + ? ( ) [ ] { } | \
                      with \\ to find them as they are";
        ReadingError::Syntax(format!("the pattern of `grep` cannot be used: {reason}; {advice}"))
    })
}

/// `LINE- text`, the beginning of it if it is long.
fn context_row(line: &NumberedLine<'_>) -> String {
    let NumberedLine { number, text, .. } = line;
    let shown = lines::head(text, LONG_LINE);
    if shown.len() == text.len() {
        return format!("{number}- {text}\n");
    }
    let more = text[shown.len()..].chars().count();
    format!("{number}- {shown}\n{}\n", mark(&format!("{} characters", grouped(more))))
}

/// `LINE| text`, or in a long line the parts around its first matches.
fn matching_rows(line: &NumberedLine<'_>, regex: &Regex, rows: &mut String) {
    let NumberedLine { number, text, .. } = line;
    if text.len() <= LONG_LINE {
        writeln!(rows, "{number}| {text}").expect("a String takes everything");
        return;
    }
    let (mut shown_to, mut counted_to, mut column, mut parts) = (0, 0, 1, 0);
    let mut more = 0_usize;
    for at in regex.find_iter(text).map(|found| found.start()) {
        if at < shown_to {
            continue;
        }
        if parts == MAX_LINE_MATCHES {
            more += 1;
            continue;
        }
        let start = floor(text, at.saturating_sub(BEFORE_MATCH).max(shown_to));
        let end = floor(text, at + AFTER_MATCH);
        column += text[counted_to..start].chars().count();
        writeln!(rows, "{number}:{column}| {}", &text[start..end])
            .expect("a String takes everything");
        (counted_to, shown_to, parts) = (start, end, parts + 1);
    }
    if more > 0 {
        let what = format!("{} further matches in line {number}", grouped(more));
        writeln!(rows, "{}", mark(&what)).expect("a String takes everything");
    }
}
