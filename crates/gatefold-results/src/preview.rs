use std::fmt::Write as _;

use gatefold_catalog::token_bound;

use crate::excerpt::JsonExcerpt;
use crate::lines::{self, NumberedLine, grouped};
use crate::rows::{mark, row};
use crate::survey::JsonSurvey;
use crate::{ContentKind, KeptResult, TokenBudget, calls, content, shape};

/// How often a preview is tried with fewer bytes until it fits.
const TRIES: usize = 8;

/// The bytes of a token that a preview is first tried with.
const GUESSED_BYTES: usize = 4;

/// What the words between sections take, in bytes.
const SECTION_BYTES: usize = 16;

/// The most headings that are looked at.
const MAX_HEADINGS: usize = 5_000;

/// What is shown of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPreview {
    pub text: String,
    pub kind: ContentKind,
}

/// Shows what a text is, the most telling parts of it, and how to read on.
pub fn preview(text: &str, kept: &KeptResult<'_>, budget: TokenBudget) -> ResultPreview {
    let (kind, text) = if let Ok(survey) = JsonSurvey::of(text) {
        let kind = ContentKind::of_json(&survey);
        (kind, json_preview(text, &survey, kind, kept, budget))
    } else {
        let kind = ContentKind::of_plain(text);
        (kind, text_preview(text, kind, kept, budget))
    };
    ResultPreview { text, kind }
}

fn json_preview(
    text: &str,
    survey: &JsonSurvey<'_>,
    kind: ContentKind,
    kept: &KeptResult<'_>,
    budget: TokenBudget,
) -> String {
    let format = if kind == ContentKind::Table { "table in JSON" } else { "JSON" };
    let calls = calls::for_json(survey, kept);
    let head = format!(
        "{}{calls}Each line is PATH = VALUE, in jq's notation. …[ ]… outside quotes marks what is left \
         out.\n\nShape:\n",
        opening(&format!("{format}, {} bytes", grouped(text.len())), kept)
    );
    let excerpt = JsonExcerpt::new(text, survey);
    fitted(budget, |bytes| {
        let room = bytes.saturating_sub(head.len());
        let shape = shape::shape(survey, room * 3 / 10);
        let values = excerpt.lines(room.saturating_sub(shape.len() + SECTION_BYTES));
        format!("{head}{shape}\nValues:\n{values}")
    })
}

fn text_preview(
    text: &str,
    kind: ContentKind,
    kept: &KeptResult<'_>,
    budget: TokenBudget,
) -> String {
    let count = lines::count(text);
    let (bytes, noun) = (grouped(text.len()), if count == 1 { "line" } else { "lines" });
    let head = format!(
        "{}{}Rows are LINE| text, or LINE:COLUMN| text from within a long line. …[ ]… between rows \
         marks what is left out.\n",
        opening(&format!("{kind}, {bytes} bytes, {} {noun}", grouped(count)), kept),
        calls::for_text(text, count, kept)
    );
    fitted(budget, |bytes| {
        let mut shown = head.clone();
        let room = bytes.saturating_sub(head.len());
        let outline = match kind {
            ContentKind::Markdown => outline(text, room * 3 / 10),
            _ => String::new(),
        };
        let sections = if outline.is_empty() { ["", ""] } else { ["\nOutline:\n", "\nText:\n"] };
        let ends = ends(text, count, room.saturating_sub(outline.len()));
        shown.extend([sections[0], &outline, sections[1], &ends]);
        shown
    })
}

fn opening(what: &str, kept: &KeptResult<'_>) -> String {
    let KeptResult { handle, tool } = kept;
    format!(
        "This result is too large to be shown whole: {what}. It is kept under the handle {handle}. Read \
         on with {tool}, for example:\n"
    )
}

/// The headings of Markdown, outer levels first where not all fit, as rows.
fn outline(text: &str, bytes: usize) -> String {
    let mut is_code = false;
    let headings = lines::of(text).filter(|line| {
        is_code ^= line.text.trim_start().starts_with("```");
        !is_code && content::is_heading(line.text)
    });
    let headings: Vec<_> = headings.take(MAX_HEADINGS).collect();
    let level =
        |line: &NumberedLine<'_>| line.text.bytes().take_while(|byte| *byte == b'#').count();
    for most in (1..=6).rev() {
        let chosen = headings.iter().filter(|line| level(line) <= most);
        let rows: String = chosen.clone().map(row).collect();
        let others = headings.len() - chosen.count();
        if rows.len() <= bytes && !rows.is_empty() {
            let noun = if others == 1 { "heading" } else { "headings" };
            let left_out = mark(&format!("{others} inner {noun}"));
            return if others > 0 { format!("{rows}{left_out}\n") } else { rows };
        }
    }
    let mut rows = String::new();
    for (shown, line) in headings.iter().enumerate() {
        let row = row(line);
        if rows.len() + row.len() > bytes {
            let left_out = mark(&format!("{} headings", headings.len() - shown));
            return format!("{rows}{left_out}\n");
        }
        rows.push_str(&row);
    }
    rows
}

/// The first text that fits, of those made with ever fewer bytes.
fn fitted(budget: TokenBudget, render: impl Fn(usize) -> String) -> String {
    let mut bytes = budget.tokens() * GUESSED_BYTES;
    for _ in 0..TRIES {
        let text = render(bytes);
        let bound = token_bound(&text);
        if bound <= budget.tokens() {
            return text;
        }
        bytes = bytes * budget.tokens() / bound * 15 / 16;
    }
    render(0)
}

/// The first and the last lines, in so many bytes.
fn ends(text: &str, count: usize, bytes: usize) -> String {
    let (mut shown, mut next) = (String::new(), 1);
    for line in lines::of(text) {
        let row = row(&line);
        if shown.len() + row.len() > bytes * 2 / 3 {
            break;
        }
        shown.push_str(&row);
        next = line.number + 1;
    }
    let last = last_lines(text, count, next, bytes / 3);
    let begin = last.first().map_or(count + 1, |(number, _)| *number);
    if begin > next {
        let left_out = mark(&format!("lines {next} to {}", begin - 1));
        writeln!(shown, "{left_out}").expect("a String takes everything");
    }
    shown.extend(last.into_iter().map(|(_, row)| row));
    shown
}

/// The last rows from line `first` on, with their numbers, in so many bytes.
fn last_lines(text: &str, count: usize, first: usize, bytes: usize) -> Vec<(usize, String)> {
    let mut rows = Vec::new();
    let (mut end, mut number, mut left) = (text.len(), count, bytes);
    while number >= first {
        let body = &text[..end];
        let body =
            body.strip_suffix('\n').map_or(body, |body| body.strip_suffix('\r').unwrap_or(body));
        let body = if body.len() == end { body.strip_suffix('\r').unwrap_or(body) } else { body };
        let start = memchr::memrchr2(b'\n', b'\r', body.as_bytes()).map_or(0, |at| at + 1);
        let row = row(&NumberedLine { number, start, text: &body[start..] });
        if row.len() > left {
            break;
        }
        left -= row.len();
        rows.push((number, row));
        (end, number) = (start, number - 1);
    }
    rows.reverse();
    rows
}
