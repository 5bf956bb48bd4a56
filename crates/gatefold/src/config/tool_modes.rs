//! How the disclosure `typed` shows each kind of source: a variable wins over a file.

use gatefold_config::parsed;
use gatefold_disclose::{SelectionLimits, SkillMode, ToolMode, ToolModes};
use serde::{Deserialize, Deserializer};

use crate::Environment;

/// What a mode is called.
pub(super) const WORDS: [&str; 2] = ["progressive", "legacy"];
/// The same for skills.
pub(super) const SKILL_WORDS: [&str; 2] = ["progressive", "inline"];

/// Sets a mode by its word. False if there is no such word.
type SetMode = fn(&mut ToolModes, &str) -> bool;

/// The variables, and the mode that each sets.
const VARIABLES: [(&str, &[&str; 2], SetMode); 4] = [
    ("SKILL_TOOL_MODE", &SKILL_WORDS, |modes, word| set(&mut modes.skills, skill_mode(word))),
    ("CONNECTOR_TOOL_MODE", &WORDS, |modes, word| set(&mut modes.connectors, mode(word))),
    ("DATABASE_TOOL_MODE", &WORDS, |modes, word| set(&mut modes.databases, mode(word))),
    ("MCP_TOOL_MODE", &WORDS, |modes, word| set(&mut modes.mcp, mode(word))),
];

fn set<M>(mode: &mut M, given: Option<M>) -> bool {
    let Some(given) = given else { return false };
    *mode = given;
    true
}

fn mode(word: &str) -> Option<ToolMode> {
    [ToolMode::Progressive, ToolMode::Legacy].into_iter().find(|mode| self::word(*mode) == word)
}

fn skill_mode(word: &str) -> Option<SkillMode> {
    let modes = [SkillMode::Progressive, SkillMode::Inline];
    modes.into_iter().find(|mode| skill_word(*mode) == word)
}

pub(super) fn word(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Progressive => WORDS[0],
        ToolMode::Legacy => WORDS[1],
    }
}

pub(super) fn skill_word(mode: SkillMode) -> &'static str {
    match mode {
        SkillMode::Progressive => SKILL_WORDS[0],
        SkillMode::Inline => SKILL_WORDS[1],
    }
}

/// A mode as a file has it.
#[derive(Clone, Copy)]
pub(super) struct ModeOf<M>(pub(super) M);

impl<'de> Deserialize<'de> for ModeOf<ToolMode> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer, "a mode", &either(&WORDS), mode).map(Self)
    }
}

impl<'de> Deserialize<'de> for ModeOf<SkillMode> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parsed(deserializer, "a mode", &either(&SKILL_WORDS), skill_mode).map(Self)
    }
}

fn either(words: &[&str; 2]) -> String {
    format!("use `{}` or `{}`", words[0], words[1])
}

/// The modes under the variables of an environment. One with another value is reported and ignored.
pub(super) fn with_variables(mut modes: ToolModes, environment: &Environment) -> ToolModes {
    for (name, words, set) in VARIABLES {
        let Some(given) = environment.get_filled(name) else { continue };
        if set(&mut modes, &given.trim().to_ascii_lowercase()) {
            continue;
        }
        let shown: String = given.chars().take(40).collect();
        tracing::warn!(
            "the variable `{name}` is `{shown}` and is ignored: set it to `{}` or `{}`",
            words[0],
            words[1]
        );
    }
    modes
}

/// The limits of a selection under the variables of an environment. One that is no number above zero
/// is reported and ignored.
pub(super) fn selection(mut limits: SelectionLimits, environment: &Environment) -> SelectionLimits {
    let variables = [
        ("REACT_TOOL_SELECTION_THRESHOLD", &mut limits.threshold),
        ("REACT_TOOL_SELECTION_MAX", &mut limits.most),
    ];
    for (name, limit) in variables {
        let Some(given) = environment.get_filled(name) else { continue };
        match given.trim().parse::<usize>() {
            Ok(number) if number > 0 => *limit = number,
            _ => {
                let shown: String = given.chars().take(40).collect();
                tracing::warn!(
                    "the variable `{name}` is `{shown}` and is ignored: set it to a number above 0"
                );
            }
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_wins_and_a_wrong_one_is_ignored() {
        let environment = Environment::new(
            [
                ("CONNECTOR_TOOL_MODE", "Legacy"),
                ("DATABASE_TOOL_MODE", "inline"),
                ("MCP_TOOL_MODE", ""),
                ("SKILL_TOOL_MODE", " inline "),
            ],
            "/",
        );
        let of_file = ToolModes { mcp: ToolMode::Legacy, ..ToolModes::default() };
        let expected = ToolModes {
            connectors: ToolMode::Legacy,
            databases: ToolMode::Progressive,
            mcp: ToolMode::Legacy,
            skills: SkillMode::Inline,
        };
        assert_eq!(with_variables(of_file, &environment), expected);
    }
    #[test]
    fn the_limits_of_a_selection_follow_their_variables() {
        let environment = Environment::new(
            [("REACT_TOOL_SELECTION_THRESHOLD", " 30 "), ("REACT_TOOL_SELECTION_MAX", "none")],
            "/",
        );
        let expected = SelectionLimits { threshold: 30, ..SelectionLimits::default() };
        assert_eq!(selection(SelectionLimits::default(), &environment), expected);
    }
}
