//! The tools that a skill names, as far as its reader may use them.

use std::collections::HashSet;

use gatefold_catalog::{Tool, View, call_signature};
use gatefold_core::ToolId;

use crate::Skill;

/// The most tools of one skill whose signatures are given.
const NAMED_TOOLS: usize = 20;
/// How many words of a skill's text are looked up.
const WORDS: usize = 5_000;
/// How other programs write the id of a tool of an MCP server.
const FOREIGN_PREFIX: &str = "mcp__";

/// One tool that a skill names.
pub(super) struct NamedTool {
    pub(super) id: ToolId,
    /// How it is called.
    pub(super) signature: String,
}

/// The tools of the view that `allowed-tools` names, and those whose ids stand in the text.
pub(super) fn of(view: &View, skill: &Skill, body: &str, own: &ToolId) -> Vec<NamedTool> {
    let listed = skill.allowed_tools.iter().filter_map(|name| {
        let name = name.split('(').next().unwrap_or_default();
        view.find(name.strip_prefix(FOREIGN_PREFIX).unwrap_or(name))
    });
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let words = body.split(|c| !is_part(c)).map(|word| word.trim_matches(['.', '-']));
    // A single word is no id of ours: it might be any word of the text.
    let words = words.filter(|word| word.contains('_')).take(WORDS);
    let written = words.filter_map(|word| view.find(word).filter(|tool| is_id_of(tool, word)));
    let mut seen = HashSet::from([own]);
    let new = listed.chain(written).filter(|tool| seen.insert(tool.id())).take(NAMED_TOOLS);
    new.map(|tool| NamedTool {
        id: tool.id().clone(),
        signature: call_signature(tool).into_owned(),
    })
    .collect()
}

/// Whether a word is a tool's id, alias or long name, and not only its source's own name for it.
fn is_id_of(tool: &Tool, word: &str) -> bool {
    word == tool.id().as_str() || word == tool.alias() || word.contains("__")
}
