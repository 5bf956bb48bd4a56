//! How the disclosure `typed` shows each kind of source: a variable wins over a file.

use gatefold_disclose::{ToolMode, ToolModes};
use serde::Deserialize;
use serde::de::{IntoDeserializer as _, value};

use crate::Environment;

/// What a mode is called.
pub(super) const WORDS: [&str; 2] = ["progressive", "legacy"];

/// The mode of one kind of source.
type ModeOfKind = fn(&mut ToolModes) -> &mut ToolMode;

/// The variables, and the mode that each sets.
const VARIABLES: [(&str, ModeOfKind); 3] = [
    ("CONNECTOR_TOOL_MODE", |modes| &mut modes.connectors),
    ("DATABASE_TOOL_MODE", |modes| &mut modes.databases),
    ("MCP_TOOL_MODE", |modes| &mut modes.mcp),
];

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
pub(super) enum ToolModeWord {
    Progressive,
    Legacy,
}

impl From<ToolModeWord> for ToolMode {
    fn from(word: ToolModeWord) -> Self {
        match word {
            ToolModeWord::Progressive => Self::Progressive,
            ToolModeWord::Legacy => Self::Legacy,
        }
    }
}

pub(super) fn word(mode: ToolMode) -> &'static str {
    match mode {
        ToolMode::Progressive => WORDS[0],
        ToolMode::Legacy => WORDS[1],
    }
}

/// The modes under the variables of an environment. One with another value is reported and ignored.
pub(super) fn with_variables(mut modes: ToolModes, environment: &Environment) -> ToolModes {
    for (name, mode) in VARIABLES {
        let Some(given) = environment.get_filled(name) else { continue };
        let lower = given.trim().to_ascii_lowercase();
        let word: Result<ToolModeWord, value::Error> =
            ToolModeWord::deserialize(lower.as_str().into_deserializer());
        if let Ok(word) = word {
            *mode(&mut modes) = word.into();
            continue;
        }
        let shown: String = given.chars().take(40).collect();
        tracing::warn!(
            "the variable `{name}` is `{shown}` and is ignored: set it to `{}` or `{}`",
            WORDS[0],
            WORDS[1]
        );
    }
    modes
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
            ],
            "/",
        );
        let of_file = ToolModes { mcp: ToolMode::Legacy, ..ToolModes::default() };
        let expected = ToolModes {
            connectors: ToolMode::Legacy,
            databases: ToolMode::Progressive,
            mcp: ToolMode::Legacy,
        };
        assert_eq!(with_variables(of_file, &environment), expected);
    }
}
