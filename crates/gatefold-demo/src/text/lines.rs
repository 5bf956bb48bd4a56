//! A text as a list of lines.

use std::{cmp::Ordering, collections::HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::Input;

/// Sort the lines of a text by characters, by characters ignoring case, or by the number that
/// each begins with. Equal lines keep their order; lines without a number come last.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SortLines {
    /// Lines to sort.
    text: Input,
    /// What to sort by. Default "text".
    by: Option<SortBy>,
    /// Largest first. Default false.
    #[serde(default)]
    descending: bool,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SortBy {
    Text,
    IgnoreCase,
    Number,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Lines {
    text: String,
    lines: usize,
}

/// Remove lines that occurred before, keeping the first of each and the order of the rest.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DedupeLines {
    /// Lines to go through.
    text: Input,
    /// Treat upper and lower case as the same. Default false.
    #[serde(default)]
    ignore_case: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Deduped {
    text: String,
    lines: usize,
    removed: usize,
}

pub(super) fn sort_lines(arguments: &SortLines) -> Lines {
    let mut lines: Vec<_> = arguments.text.lines().collect();
    let descending = arguments.descending;
    match arguments.by.unwrap_or(SortBy::Text) {
        SortBy::Text => lines.sort_by(|a, b| directed(a.cmp(b), descending)),
        SortBy::IgnoreCase => {
            lines.sort_by(|a, b| directed(a.to_lowercase().cmp(&b.to_lowercase()), descending));
        }
        SortBy::Number => {
            lines.sort_by(|a, b| directed(leading(a).total_cmp(&leading(b)), descending));
            lines.sort_by_key(|line| leading(line).is_nan());
        }
    }
    Lines { text: lines.join("\n"), lines: lines.len() }
}

pub(super) fn dedupe_lines(arguments: &DedupeLines) -> Deduped {
    let mut seen = HashSet::new();
    let all = arguments.text.lines();
    let kept: Vec<_> = all
        .clone()
        .filter(|line| {
            let key = if arguments.ignore_case { line.to_lowercase() } else { (*line).to_owned() };
            seen.insert(key)
        })
        .collect();
    Deduped { text: kept.join("\n"), lines: kept.len(), removed: all.count() - kept.len() }
}

fn directed(order: Ordering, descending: bool) -> Ordering {
    if descending { order.reverse() } else { order }
}

/// The number that a line begins with; not a number when there is none.
fn leading(line: &str) -> f64 {
    let line = line.trim_start();
    let end = line.find(|c: char| !c.is_ascii_digit() && !"+-.".contains(c));
    line[..end.unwrap_or(line.len())].parse().unwrap_or(f64::NAN)
}
