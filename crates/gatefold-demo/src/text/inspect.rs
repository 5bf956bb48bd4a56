//! What is in a text.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::{
    arguments::{Integer, Limit, Text},
    error::{ToolError, refuse},
    text::Input,
};

/// How many matches are shown when the call does not say.
const MATCHES_DEFAULT: usize = 20;
/// How many different words are listed by frequency.
const MAX_FREQUENT: usize = 10;
/// How much of a matching line is shown.
const MAX_LINE_CHARS: usize = 200;
/// The most lines that a comparison takes on either side.
const MAX_DIFF_LINES: usize = 2_000;
const CONTEXT_DEFAULT: usize = 3;

/// Count the characters, words, lines, sentences and paragraphs of a text and list its most
/// frequent words. At most 50,000 characters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CountWords {
    /// Text to count.
    text: Input,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Statistics {
    /// Unicode scalar values.
    characters: usize,
    /// Runs of characters between white space.
    words: usize,
    lines: usize,
    /// Words that end in a full stop, a question mark or an exclamation mark.
    sentences: usize,
    /// Runs of lines between blank lines.
    paragraphs: usize,
    /// At most ten, most frequent first, in lower case and without punctuation.
    frequent_words: Vec<Frequency>,
}

#[derive(Serialize, JsonSchema)]
struct Frequency {
    word: String,
    count: usize,
}

/// Find every line that holds a text, with line and column. No patterns.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindText {
    /// Text to search.
    text: Input,
    /// Text to look for, letter for letter.
    query: Text<1, 1_000>,
    /// Treat upper and lower case as the same. Default false.
    #[serde(default)]
    ignore_case: bool,
    /// Most lines to return. Default 20.
    limit: Option<Limit>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Found {
    matches: Vec<Match>,
    /// Lines that match, those left out included.
    total: usize,
}

#[derive(Serialize, JsonSchema)]
struct Match {
    /// Counted from 1.
    line: usize,
    /// Column of the first occurrence in characters, counted from 1.
    column: usize,
    /// The line, cut after 200 characters.
    text: String,
}

/// Compare two texts line by line and give the differences as a unified diff. At most 2,000
/// lines each.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffTexts {
    /// Text before.
    old: Input,
    /// Text after.
    new: Input,
    /// Unchanged lines to show around a change. Default 3.
    context_lines: Option<Integer<0, 20>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Comparison {
    /// Unified diff; empty when the texts are the same.
    diff: String,
    lines_added: usize,
    lines_removed: usize,
}

pub(super) fn count_words(arguments: &CountWords) -> Statistics {
    let text = &*arguments.text;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        let word = word.trim_matches('\'').to_lowercase();
        if !word.is_empty() {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut frequent_words: Vec<_> =
        counts.into_iter().map(|(word, count)| Frequency { word, count }).collect();
    frequent_words.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.word.cmp(&b.word)));
    frequent_words.truncate(MAX_FREQUENT);
    let lines: Vec<_> = text.lines().collect();
    let blocks = lines.split(|line| line.trim().is_empty());
    Statistics {
        characters: text.chars().count(),
        words: text.split_whitespace().count(),
        lines: lines.len(),
        sentences: text.split_whitespace().filter(|word| word.ends_with(['.', '!', '?'])).count(),
        paragraphs: blocks.filter(|block| !block.is_empty()).count(),
        frequent_words,
    }
}

pub(super) fn find_text(arguments: &FindText) -> Found {
    let fold = |text: &str| {
        if arguments.ignore_case { text.to_lowercase() } else { text.to_owned() }
    };
    let query = fold(&arguments.query);
    let mut matches: Vec<_> = arguments
        .text
        .lines()
        .enumerate()
        .filter_map(|(index, line)| {
            let folded = fold(line);
            let at = folded.find(&query)?;
            Some(Match {
                line: index + 1,
                column: folded[..at].chars().count() + 1,
                text: line.chars().take(MAX_LINE_CHARS).collect(),
            })
        })
        .collect();
    let total = matches.len();
    matches.truncate(arguments.limit.map_or(MATCHES_DEFAULT, Limit::size));
    Found { matches, total }
}

pub(super) fn diff_texts(arguments: &DiffTexts) -> Result<Comparison, ToolError> {
    for (name, text) in [("old", &arguments.old), ("new", &arguments.new)] {
        let lines = text.lines().count();
        if lines > MAX_DIFF_LINES {
            return Err(refuse(
                format!("`{name}` has {lines} lines, more than {MAX_DIFF_LINES}"),
                "compare the texts in parts",
            ));
        }
    }
    let diff = TextDiff::from_lines(&*arguments.old, &*arguments.new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let context = arguments.context_lines.map_or(CONTEXT_DEFAULT, Integer::size);
    Ok(Comparison {
        diff: diff.unified_diff().context_radius(context).header("old", "new").to_string(),
        lines_added: count(similar::ChangeTag::Insert),
        lines_removed: count(similar::ChangeTag::Delete),
    })
}
