//! Regular expressions, in time linear in the text (RE2's syntax).

use regex::{Regex, RegexBuilder};
use serde::Serialize;

use super::MAX_RESULT;
use crate::{BuiltinAnswer, BuiltinError, arguments};

/// The longest pattern, in bytes.
pub(super) const MAX_PATTERN: usize = 1000;

/// The most matches that are shown, and how many without a wish.
pub(super) const MAX_MATCHES: usize = 500;
const MATCHES: usize = 50;

/// The longest text of one match that is shown, in characters.
const SHOWN_MATCH: usize = 500;

/// How large a compiled pattern may become, in bytes.
const COMPILED: usize = 512 * 1024;

#[derive(Serialize)]
struct PatternAnswer {
    count: usize,
    matches: Vec<PatternMatch>,
}

#[derive(Serialize)]
struct PatternMatch {
    /// From 1.
    line: usize,
    /// In characters, from 1.
    column: usize,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<Option<String>>,
}

#[derive(Serialize)]
struct ReplaceAnswer {
    result: String,
    count: usize,
}

pub(super) fn found(
    text: &str,
    pattern: &str,
    max_matches: Option<usize>,
) -> Result<BuiltinAnswer, BuiltinError> {
    let pattern = compiled(pattern)?;
    let most = max_matches.unwrap_or(MATCHES).min(MAX_MATCHES);
    let (mut count, mut matches) = (0, Vec::new());
    let mut place = LinePlace::default();
    for captures in pattern.captures_iter(text) {
        count += 1;
        if matches.len() < most {
            let whole = captures.get_match();
            let (line, column) = place.at(text, whole.start());
            let groups = captures.iter().skip(1).map(|group| group.map(|it| cut(it.as_str())));
            let groups = groups.collect();
            matches.push(PatternMatch { line, column, text: cut(whole.as_str()), groups });
        }
    }
    let lines = matches.iter().map(|it| format!("{}:{}: {}", it.line, it.column, it.text));
    let head = match count {
        0 => "no match".to_owned(),
        1 => "1 match".to_owned(),
        _ if count > matches.len() => format!("{count} matches, the first {}", matches.len()),
        _ => format!("{count} matches"),
    };
    let shown: Vec<_> = std::iter::once(head).chain(lines).collect();
    Ok(BuiltinAnswer::new(shown.join("\n"), &PatternAnswer { count, matches }))
}

pub(super) fn replaced(
    text: &str,
    pattern: &str,
    replacement: &str,
) -> Result<BuiltinAnswer, BuiltinError> {
    let pattern = compiled(pattern)?;
    let (mut result, mut count, mut end) = (String::new(), 0, 0);
    for captures in pattern.captures_iter(text) {
        let whole = captures.get_match();
        result.push_str(&text[end..whole.start()]);
        captures.expand(replacement, &mut result);
        end = whole.end();
        count += 1;
        // A replacement may hold a large group many times.
        if result.len() > MAX_RESULT {
            break;
        }
    }
    result.push_str(&text[end..]);
    let result = super::bounded_result(result)?;
    Ok(BuiltinAnswer::new(result.clone(), &ReplaceAnswer { result, count }))
}

pub(crate) fn compiled(pattern: &str) -> Result<Regex, BuiltinError> {
    arguments::bounded("pattern", pattern, MAX_PATTERN)?;
    RegexBuilder::new(pattern).size_limit(COMPILED).build().map_err(|error| {
        let message = match error {
            regex::Error::CompiledTooBig(_) => "`pattern` repeats too much".to_owned(),
            // The library draws the place over several lines, and says what is wrong in the last.
            other => {
                let text = other.to_string();
                let last = text.lines().last().unwrap_or_default();
                let fault = last.trim().trim_start_matches("error: ").to_owned();
                format!("`pattern` is no regular expression: {fault}")
            }
        };
        BuiltinError::Arguments(message)
    })
}

/// Counts lines up to places that only grow, so that a text is walked once.
#[derive(Default)]
struct LinePlace {
    at: usize,
    lines: usize,
    line_start: usize,
}

impl LinePlace {
    fn at(&mut self, text: &str, place: usize) -> (usize, usize) {
        for (offset, _) in text[self.at..place].match_indices('\n') {
            self.lines += 1;
            self.line_start = self.at + offset + 1;
        }
        self.at = place;
        (self.lines + 1, text[self.line_start..place].chars().count() + 1)
    }
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_MATCH).collect()
}
