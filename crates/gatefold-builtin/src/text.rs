//! `text`: what models are bad at with texts: counting, comparing, patterns, codes and digests.

mod codes;
mod diff;
mod patterns;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::face::{self, ToolCategory, ToolFace};
use crate::tool::BuiltinTool;
use crate::workers::{CallerWork, WorkKind, Workers};
use crate::{BuiltinAnswer, BuiltinCall, BuiltinError, arguments};
use codes::{HashName, TextEncoding};
pub(crate) use patterns::compiled;

/// The longest text, in bytes.
const MAX_TEXT: usize = 256 * 1024;

/// The longest text of an answer, in bytes.
const MAX_RESULT: usize = 512 * 1024;

const ACTIONS: [&str; 7] = ["count", "find", "replace", "diff", "encode", "decode", "hash"];

pub(crate) struct Text {
    workers: Workers,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextArguments {
    action: TextAction,
    text: String,
    other: Option<String>,
    pattern: Option<String>,
    replacement: Option<String>,
    encoding: Option<TextEncoding>,
    algorithm: Option<HashName>,
    max_matches: Option<usize>,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum TextAction {
    Count,
    Find,
    Replace,
    Diff,
    Encode,
    Decode,
    Hash,
}

#[derive(Serialize)]
struct CountAnswer {
    characters: usize,
    words: usize,
    lines: usize,
    bytes: usize,
}

/// An answer that is a text.
#[derive(Serialize)]
struct TextAnswer<'t> {
    result: &'t str,
}

impl Text {
    pub(crate) fn new(workers: Workers) -> Self {
        Self { workers }
    }

    async fn answer(&self, call: &BuiltinCall) -> Result<BuiltinAnswer, BuiltinError> {
        let asked: TextArguments = arguments::read(&call.arguments)?;
        arguments::bounded("text", &asked.text, MAX_TEXT)?;
        for (name, text) in [("other", &asked.other), ("replacement", &asked.replacement)] {
            arguments::bounded(name, text.as_deref().unwrap_or_default(), MAX_TEXT)?;
        }
        let work = CallerWork::new(WorkKind::Text, &asked)?;
        self.workers.run(&call.principal, &work, &[]).await
    }
}

/// What a worker does.
pub(crate) fn answer(asked: TextArguments) -> Result<BuiltinAnswer, BuiltinError> {
    let text = &asked.text;
    let result = match asked.action {
        TextAction::Count => return Ok(counted(text)),
        TextAction::Find => {
            let pattern = arguments::needed("pattern", "find", asked.pattern)?;
            return patterns::found(text, &pattern, asked.max_matches);
        }
        TextAction::Replace => {
            let pattern = arguments::needed("pattern", "replace", asked.pattern)?;
            let replacement = arguments::needed("replacement", "replace", asked.replacement)?;
            return patterns::replaced(text, &pattern, &replacement);
        }
        TextAction::Diff => {
            let other = arguments::needed("other", "diff", asked.other)?;
            return diff::compared(text, &other);
        }
        TextAction::Encode => {
            codes::encoded(text, arguments::needed("encoding", "encode", asked.encoding)?)
        }
        TextAction::Decode => {
            codes::decoded(text, arguments::needed("encoding", "decode", asked.encoding)?)?
        }
        TextAction::Hash => codes::hashed(text, asked.algorithm.unwrap_or_default()),
    };
    let result = bounded_result(result)?;
    Ok(BuiltinAnswer::new(result.clone(), &TextAnswer { result: &result }))
}

fn bounded_result(result: String) -> Result<String, BuiltinError> {
    if result.len() <= MAX_RESULT {
        return Ok(result);
    }
    let size = result.len();
    let message = format!("the result has {size} bytes, more than the limit: {MAX_RESULT}");
    Err(BuiltinError::Arguments(message))
}

fn counted(text: &str) -> BuiltinAnswer {
    let answer = CountAnswer {
        characters: text.chars().count(),
        words: text.split_whitespace().count(),
        lines: text.lines().count(),
        bytes: text.len(),
    };
    let CountAnswer { characters, words, lines, bytes } = answer;
    let line = format!("{characters} characters, {words} words, {lines} lines, {bytes} bytes");
    BuiltinAnswer::new(line, &answer)
}

impl BuiltinTool for Text {
    fn face(&self) -> ToolFace {
        ToolFace {
            name: "text",
            title: "Text",
            description: "Work on a text exactly: count characters, words and lines; find or replace by \
                          regular expression; compare two texts line by line; encode and decode base64, \
                          hex, URLs and JSON strings; hash with SHA-256 or SHA-512."
                .to_owned(),
            category: ToolCategory::Computation,
            hints: face::reading(),
            input: face::object(
                &json!({
                    "action": face::choice(
                        "`find` needs `pattern`; `replace` needs `pattern` and `replacement`; `diff` \
                         needs `other`; `encode` and `decode` need `encoding`.",
                        &ACTIONS,
                    ),
                    "text": face::bounded_text("The text.", MAX_TEXT),
                    "other": face::bounded_text("For `diff`: the changed text.", MAX_TEXT),
                    "pattern": face::bounded_text(
                        "A regular expression. `(?i)` ignores case, `(?m)` lets `^` and `$` match at \
                         lines, `(?s)` lets `.` match line breaks. No look-around, no back-references.",
                        patterns::MAX_PATTERN,
                    ),
                    "replacement": face::text("`$1` and `${name}` stand for groups, `$$` for `$`."),
                    "encoding": face::choice("For `encode` and `decode`.", &codes::ENCODINGS),
                    "algorithm": face::choice("For `hash`. `sha256` if left out.", &codes::HASHES),
                    "max_matches": face::count(
                        "For `find`: how many matches are shown. All are counted.",
                        patterns::MAX_MATCHES,
                    ),
                }),
                &["action", "text"],
            ),
            output: face::object(
                &json!({
                    "result": face::text("The new text, difference, code or digest."),
                    "count": { "type": "integer", "description": "How often the pattern matched." },
                    "matches": { "type": "array", "items": { "type": "object" } },
                    "added": { "type": "integer" },
                    "removed": { "type": "integer" },
                    "characters": { "type": "integer" },
                    "words": { "type": "integer" },
                    "lines": { "type": "integer" },
                    "bytes": { "type": "integer" },
                }),
                &[],
            ),
        }
    }

    fn call<'a>(
        &'a self,
        call: &'a BuiltinCall,
    ) -> BoxFuture<'a, Result<BuiltinAnswer, BuiltinError>> {
        self.answer(call).boxed()
    }
}
