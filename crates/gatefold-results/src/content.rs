use std::fmt;

use crate::json::unescaped;
use crate::lines;
use crate::survey::{JsonSurvey, PathSurvey};

/// The most lines that are looked at to tell what a text is.
const SAMPLED_LINES: usize = 2_000;

/// The least lines of a table that is not JSON.
const TABLE_LINES: usize = 3;

/// What a result is, by the look of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentKind {
    Json,
    /// Rows with columns: in JSON, or with commas or tabs.
    Table,
    Markdown,
    Text,
}

impl ContentKind {
    pub fn of(text: &str) -> Self {
        match JsonSurvey::of(text) {
            Ok(survey) => Self::of_json(&survey),
            Err(_) => Self::of_plain(text),
        }
    }

    pub(crate) fn of_json(survey: &JsonSurvey<'_>) -> Self {
        let root = survey.root();
        let items = survey.items(root).filter(|_| root.arrays == 1);
        if items.is_some_and(|items| is_flat(items, survey)) || has_rows(root, survey) {
            Self::Table
        } else {
            Self::Json
        }
    }

    /// What a text is that is not JSON.
    pub(crate) fn of_plain(text: &str) -> Self {
        if separator(text).is_some() {
            Self::Table
        } else if is_markdown(text) {
            Self::Markdown
        } else {
            Self::Text
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Table => "table",
            Self::Markdown => "Markdown",
            Self::Text => "text",
        }
    }
}

impl fmt::Display for ContentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether all are objects of the same members, and nearly all their values neither objects nor lists.
fn is_flat(items: &PathSurvey<'_>, survey: &JsonSurvey<'_>) -> bool {
    let (mut values, mut nested) = (0, 0);
    for member in survey.members(items) {
        values += member.values();
        nested += member.objects + member.arrays;
    }
    items.objects > 1
        && items.objects == items.values()
        && survey.others(items).is_none()
        && nested * 20 <= values
        && values * 10 >= items.objects * survey.members(items).count() * 9
}

/// Whether it is `{"columns": [...], "rows": [[...]], ...}`, the answer of a database.
fn has_rows(root: &PathSurvey<'_>, survey: &JsonSurvey<'_>) -> bool {
    let member = |name: &str| {
        survey.members(root).find(|member| member.name.is_some_and(|own| unescaped(own) == name))
    };
    let rows = member("rows").filter(|rows| rows.arrays == 1 && rows.values() == 1);
    let rows = rows.and_then(|rows| survey.items(rows));
    let columns = member("columns").is_some_and(|columns| columns.arrays == 1);
    columns && rows.is_some_and(|rows| rows.arrays == rows.values() && rows.least == rows.most)
}

/// What separates values, if all lines have as many commas or tabs outside of quotes as the first, at
/// least one.
pub(crate) fn separator(text: &str) -> Option<u8> {
    let is_by = |separator: &u8| {
        let mut sampled = lines::of(text).take(SAMPLED_LINES).filter(|line| !line.text.is_empty());
        let Some(columns) = sampled.next().map(|line| separators(line.text, *separator)) else {
            return false;
        };
        let mut others = 0;
        columns > 0
            && sampled.all(|line| {
                others += 1;
                separators(line.text, *separator) == columns
            })
            && others + 1 >= TABLE_LINES
    };
    [b'\t', b','].into_iter().find(is_by)
}

fn separators(line: &str, separator: u8) -> usize {
    let mut is_quoted = false;
    let found = line.bytes().filter(|byte| {
        is_quoted ^= *byte == b'"';
        *byte == separator && !is_quoted
    });
    found.count()
}

/// Whether there are headings of Markdown, the first of them near the beginning.
fn is_markdown(text: &str) -> bool {
    let sampled = lines::of(text).take(SAMPLED_LINES);
    sampled.filter(|line| is_heading(line.text)).take(2).count() == 2
}

pub(crate) fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && text.starts_with(' ') && !text.trim().is_empty()
}
