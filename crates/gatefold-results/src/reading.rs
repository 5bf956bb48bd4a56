use std::borrow::Cow;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::grep::{self, GrepPattern, LetterCase, MAX_FOUND_BYTES};
use crate::jq::{self, JqFault, JqOutcome};
use crate::lines::{self, grouped};
use crate::{KeptResult, ReadingError, TokenBudget, pages, paths, sql};

/// What an answer needs besides the part of the text, in tokens.
const HEADER_TOKENS: usize = 250;

/// The longest jq program, in bytes.
const MAX_PROGRAM: usize = 4_000;

/// How long an argument is repeated in the call that reads on, in bytes.
const MAX_REPEATED: usize = 200;

/// A part of a kept result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResultPart {
    Whole,
    Characters(PartRange),
    Lines(PartRange),
    /// The lines that match.
    Grep(GrepPattern),
    /// A value of JSON: `.items[3].title`, `$.items[3]`, or a JSON pointer.
    Path(String),
    /// What a jq program gives.
    Jq(String),
    /// What a SELECT over the rows gives.
    Sql(String),
}

/// From one, both included. What lies behind the end does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRange {
    first: NonZeroUsize,
    last: NonZeroUsize,
}

impl PartRange {
    /// `None` if nothing lies within.
    pub fn new(first: NonZeroUsize, last: NonZeroUsize) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    pub fn first(self) -> usize {
        self.first.get()
    }

    pub fn last(self) -> usize {
        self.last.get()
    }
}

/// What a model wants to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultReading {
    pub part: ResultPart,
    /// Which page of that part, from one.
    pub page: NonZeroUsize,
}

/// A page of a part of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAnswer {
    /// A first line that says what follows and how to read on, and the page itself.
    pub text: String,
    /// The arguments that read the next page, as JSON.
    pub next: Option<String>,
}

/// A part in full.
struct WholePart<'a> {
    what: String,
    text: Cow<'a, str>,
}

/// Reads a part of a text, one page of it at a time.
pub fn read(
    text: &str,
    reading: &ResultReading,
    kept: &KeptResult<'_>,
    budget: TokenBudget,
) -> Result<ReadAnswer, ReadingError> {
    let whole = whole_part(text, &reading.part)?;
    let number = reading.page.get();
    let tokens = budget.tokens() - HEADER_TOKENS;
    let Some(page) = pages::page(&whole.text, number, tokens) else {
        let what = &whole.what;
        return Err(ReadingError::Missing(format!("{what} has fewer than {number} pages")));
    };
    let all = whole.text.chars().count();
    let shown = &whole.text[page.clone()];
    if page == (0..whole.text.len()) {
        let text = format!("{}, all of it ({}):\n{shown}", whole.what, characters(all));
        return Ok(ReadAnswer { text, next: None });
    }
    let before = whole.text[..page.start].chars().count();
    let place = format!(
        "{}, characters {} to {} of {}",
        whole.what,
        before + 1,
        before + shown.chars().count(),
        all
    );
    if page.end == whole.text.len() {
        return Ok(ReadAnswer { text: format!("{place}, the end:\n{shown}"), next: None });
    }
    let next = next_call(reading, kept.handle);
    let text = format!("{place}. Read on with {}: {next}\n{shown}", kept.tool);
    Ok(ReadAnswer { text, next: Some(next) })
}

fn whole_part<'a>(text: &'a str, part: &ResultPart) -> Result<WholePart<'a>, ReadingError> {
    match part {
        ResultPart::Whole => Ok(WholePart { what: "The result".to_owned(), text: text.into() }),
        ResultPart::Characters(range) => characters_part(text, *range),
        ResultPart::Lines(range) => lines_part(text, *range),
        ResultPart::Grep(pattern) => grep_part(text, pattern),
        ResultPart::Path(path) => {
            let found = paths::find(text, path)?;
            Ok(WholePart { what: format!("The value at {}", found.path), text: found.text })
        }
        ResultPart::Jq(program) => {
            let outcome = run_jq(text, program)?;
            let what = match outcome.values {
                0 => "What jq gives, which is nothing".to_owned(),
                1 => "What jq gives".to_owned(),
                values => format!("The {} values that jq gives, one a line", grouped(values)),
            };
            Ok(WholePart { what, text: outcome.into_text().into() })
        }
        ResultPart::Sql(statement) => {
            let outcome = sql::run(text, statement)?;
            let (count, noun) = match outcome.rows {
                1 => ("one".to_owned(), "row"),
                rows => (grouped(rows), "rows"),
            };
            let what = format!("What the query gives, {count} {noun}.{} As JSON", outcome.note);
            Ok(WholePart { what, text: outcome.text.into() })
        }
    }
}

fn run_jq(text: &str, program: &str) -> Result<JqOutcome, ReadingError> {
    if program.len() > MAX_PROGRAM {
        let message =
            format!("the jq program is longer than {MAX_PROGRAM} bytes: write a shorter one");
        return Err(ReadingError::Syntax(message));
    }
    jq::run(text, program).map_err(|fault| match fault {
        JqFault::Program(message) => ReadingError::Syntax(message),
        JqFault::NotJson => ReadingError::Unsuitable(format!("{fault}: use `lines` or `grep`")),
        JqFault::LongNumber => ReadingError::Unsuitable(format!("{fault}: use `path` or `grep`")),
        JqFault::Unfit { .. } => ReadingError::Unsuitable(fault.to_string()),
        JqFault::TooMuch => ReadingError::TooMuch(fault.to_string()),
    })
}

fn characters_part(text: &str, range: PartRange) -> Result<WholePart<'_>, ReadingError> {
    let (first, last) = (range.first(), range.last());
    let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    let Some(start) = starts.nth(first - 1).filter(|start| *start < text.len()) else {
        let count = text.chars().count();
        let message = format!("the result has no character {first}, only {}", grouped(count));
        return Err(ReadingError::Missing(message));
    };
    let end = starts.nth(last - first).unwrap_or(text.len());
    let what = format!("What stands from character {first} on");
    Ok(WholePart { what, text: text[start..end].into() })
}

fn lines_part(text: &str, range: PartRange) -> Result<WholePart<'_>, ReadingError> {
    let (first, last) = (range.first(), range.last());
    let mut lines = lines::of(text).skip(first - 1);
    let Some(line) = lines.next() else {
        let count = lines::count(text);
        let lines = if count == 1 { "is 1 line" } else { "are only so many lines" };
        let message = format!("there is no line {first}: there {lines}, {}", grouped(count));
        return Err(ReadingError::Missing(message));
    };
    // The end of the last line belongs to it.
    let end = lines.nth(last - first).map_or(text.len(), |next| next.start);
    let part = &text[line.start..end];
    let count = lines::count(part);
    let what = if count == 1 {
        format!("Line {first}")
    } else {
        format!("Lines {first} to {}", first + count - 1)
    };
    Ok(WholePart { what, text: part.into() })
}

fn grep_part<'a>(text: &'a str, pattern: &GrepPattern) -> Result<WholePart<'a>, ReadingError> {
    let found = grep::grep(text, pattern)?;
    let count = grouped(found.matching);
    let what = match (found.matching, found.is_cut) {
        (0, _) => {
            let advice = if pattern.case == LetterCase::Distinct {
                "try a shorter pattern, or \"ignore_case\": true"
            } else {
                "try a shorter pattern"
            };
            let message = format!("no line matches the pattern of `grep`; {advice}");
            return Err(ReadingError::Missing(message));
        }
        (_, true) => format!(
            "Matching lines (the first {count}, which take {} MiB; narrow the pattern for others)",
            MAX_FOUND_BYTES >> 20
        ),
        (1, false) => "The one matching line".to_owned(),
        (_, false) => format!("The {count} matching lines"),
    };
    Ok(WholePart { what: format!("{what} as LINE| text"), text: found.rows.into() })
}

fn characters(count: usize) -> String {
    let noun = if count == 1 { "character" } else { "characters" };
    format!("{} {noun}", grouped(count))
}

/// The arguments that read the next page.
fn next_call(reading: &ResultReading, handle: &str) -> String {
    let mut arguments = vec![("handle", Value::from(handle))];
    let range = |range: &PartRange| Value::from(format!("{}-{}", range.first, range.last));
    match &reading.part {
        ResultPart::Whole => {}
        ResultPart::Characters(part) => arguments.push(("chars", range(part))),
        ResultPart::Lines(part) => arguments.push(("lines", range(part))),
        ResultPart::Path(path) => arguments.push(("path", repeated(path))),
        ResultPart::Jq(program) => arguments.push(("jq", repeated(program))),
        ResultPart::Sql(statement) => arguments.push(("sql", repeated(statement))),
        ResultPart::Grep(GrepPattern { pattern, case, context }) => {
            arguments.push(("grep", repeated(pattern)));
            if *case == LetterCase::Ignored {
                arguments.push(("ignore_case", Value::from(true)));
            }
            if *context > 0 {
                arguments.push(("context", Value::from(*context)));
            }
        }
    }
    arguments.push(("page", Value::from(reading.page.get() + 1)));
    let fields = arguments.iter().map(|(key, value)| format!("\"{key}\":{value}"));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

/// What was asked, if it is short.
fn repeated(text: &str) -> Value {
    Value::from(if text.len() <= MAX_REPEATED { text } else { "(as before)" })
}
