//! Ready-made calls that read on.

use serde_json::Value;

use crate::json::unescaped;
use crate::paths::{joined, member_step};
use crate::survey::JsonSurvey;
use crate::{content, lines, shape, sql};

/// How many members a ready-made program picks.
const PICKED: usize = 3;

/// How long a path is that is put into a ready-made call, in bytes.
const MAX_PATH: usize = 200;

/// How many lines a ready-made call reads.
const SOME_LINES: usize = 100;

/// Where a result is kept, and what reads it.
#[derive(Debug, Clone, Copy)]
pub struct KeptResult<'a> {
    pub handle: &'a str,
    /// The tool's id, such as `results__read_result`.
    pub tool: &'a str,
}

/// Two calls, each on a line.
pub(crate) fn for_json(survey: &JsonSurvey<'_>, kept: &KeptResult<'_>) -> String {
    let list = shape::main_list(survey).filter(|(place, _)| place.len() <= MAX_PATH);
    let Some((place, items)) = list else {
        let members = survey.members(survey.root());
        let largest = members.max_by_key(|member| (member.objects + member.arrays, member.texts));
        let name = largest.map(|member| unescaped(member.name.unwrap_or_default()));
        let path = name.map_or_else(|| ".".to_owned(), |name| joined(".", &member_step(&name)));
        let path = if path.len() <= MAX_PATH { path } else { ".".to_owned() };
        return call(kept, "path", &path) + &call(kept, "chars", "1-4000");
    };
    let item = joined(&place, "[3]");
    let picked = survey.members(items).filter(|member| member.scalars() > 0);
    let picked = picked.map(|member| unescaped(member.name.unwrap_or_default()));
    let picked = picked.filter(|name| name.len() <= MAX_PATH / PICKED).take(PICKED);
    let picked: Vec<_> = picked.map(|name| Value::from(&*name).to_string()).collect();
    let program = if items.objects == items.values() && !picked.is_empty() {
        format!("[{} | {{{}}}]", joined(&place, "[]"), picked.join(", "))
    } else {
        joined(&place, "[3:20]")
    };
    call(kept, "path", &item) + &call(kept, "jq", &program)
}

/// Two calls, each on a line.
pub(crate) fn for_text(text: &str, count: usize, kept: &KeptResult<'_>) -> String {
    if content::separator(text).is_some() {
        let query = format!("SELECT * FROM {} LIMIT 20 OFFSET 100", sql::TABLE);
        return call(kept, "sql", &query) + &call(kept, "grep", "error");
    }
    if count <= 1 {
        return call(kept, "chars", "1001-5000") + &call(kept, "grep", "error");
    }
    let heading = lines::of(text).skip(1).find(|line| content::is_heading(line.text));
    let first = heading.map_or(SOME_LINES / 2, |line| line.number).min(count);
    let last = (first + SOME_LINES - 1).min(count);
    call(kept, "lines", &format!("{first}-{last}")) + &call(kept, "grep", "error|warning")
}

fn call(kept: &KeptResult<'_>, name: &str, value: &str) -> String {
    format!("{{\"handle\":{},\"{name}\":{}}}\n", Value::from(kept.handle), Value::from(value))
}
