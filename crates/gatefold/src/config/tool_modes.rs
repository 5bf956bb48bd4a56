//! How the disclosure `typed` shows each kind of source: a variable wins over a file.

use gatefold_catalog::{KindName, ToolPlace};
use gatefold_config::parsed;
use gatefold_disclose::{SelectionLimits, ToolModes};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kinds::mcp::McpKind;
use super::kinds::{DatabaseKind, OpenApiKind, SkillsKind};
use crate::Environment;

/// A kind whose sources can be shown in another way than the usual one.
pub(super) struct Mode {
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    kind: KindName,
}

pub(super) const SKILLS: usize = 0;
pub(super) const CONNECTORS: usize = 1;
pub(super) const DATABASES: usize = 2;
pub(super) const SERVERS: usize = 3;
// A number, as a type whose length is `MODES.len()` needs the kinds' constants, which an optimising compiler cannot give it.
const COUNT: usize = 4;

pub(super) const MODES: [Mode; COUNT] = [
    Mode { key: "skill_tool_mode", variable: "SKILL_TOOL_MODE", kind: SkillsKind::NAME },
    Mode { key: "connector_tool_mode", variable: "CONNECTOR_TOOL_MODE", kind: OpenApiKind::NAME },
    Mode { key: "database_tool_mode", variable: "DATABASE_TOOL_MODE", kind: DatabaseKind::NAME },
    Mode { key: "mcp_tool_mode", variable: "MCP_TOOL_MODE", kind: McpKind::NAME },
];

impl Mode {
    /// What the usual way and the other one are called.
    pub(super) const fn words(&self) -> &'static [&'static str; 2] {
        match self.kind.place() {
            ToolPlace::Topics(_) => &["progressive", "inline"],
            ToolPlace::Behind(_) | ToolPlace::Top => &["progressive", "legacy"],
        }
    }

    /// Whether the kind is shown in the other way.
    pub(super) fn is_set(&self, modes: &ToolModes) -> bool {
        match self.kind.place() {
            ToolPlace::Topics(tools) => modes.inline.contains(tools[0].name),
            ToolPlace::Behind(tool) => modes.legacy.contains(tool.name),
            ToolPlace::Top => false,
        }
    }

    pub(super) fn set(&self, modes: &mut ToolModes, is_other: bool) {
        let (tools, name) = match self.kind.place() {
            ToolPlace::Topics(tools) => (&mut modes.inline, tools[0].name),
            ToolPlace::Behind(tool) => (&mut modes.legacy, tool.name),
            ToolPlace::Top => return,
        };
        if is_other {
            tools.insert(name);
        } else {
            tools.remove(name);
        }
    }

    /// Whether a word is the one for the other way; none if it is neither.
    fn parse(&self, word: &str) -> Option<bool> {
        self.words().iter().position(|own| *own == word).map(|at| at == 1)
    }
}

/// The mode at one place of [`MODES`] as a file has it: whether it is the other one.
#[derive(Clone, Copy, JsonSchema)]
#[schemars(with = "String", extend("enum" = MODES[AT].words()))]
pub(super) struct ModeOf<const AT: usize>(bool);

impl<const AT: usize> ModeOf<AT> {
    pub(super) fn of(modes: &ToolModes) -> Self {
        Self(MODES[AT].is_set(modes))
    }
}

impl<const AT: usize> Serialize for ModeOf<AT> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MODES[AT].words()[usize::from(self.0)])
    }
}

impl<'de, const AT: usize> Deserialize<'de> for ModeOf<AT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mode = &MODES[AT];
        let words = mode.words();
        let hint = format!("use `{}` or `{}`", words[0], words[1]);
        parsed(deserializer, "a mode", &hint, |word| mode.parse(word)).map(Self)
    }
}

/// The modes that one place of a configuration sets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetModes([Option<bool>; COUNT]);

impl SetModes {
    pub(super) fn new(
        skills: Option<ModeOf<SKILLS>>,
        connectors: Option<ModeOf<CONNECTORS>>,
        databases: Option<ModeOf<DATABASES>>,
        servers: Option<ModeOf<SERVERS>>,
    ) -> Self {
        let (skills, connectors) = (skills.map(|mode| mode.0), connectors.map(|mode| mode.0));
        Self([skills, connectors, databases.map(|mode| mode.0), servers.map(|mode| mode.0)])
    }

    /// The modes of the configuration, with these in their places.
    #[must_use]
    pub fn over(self, mut modes: ToolModes) -> ToolModes {
        for (mode, set) in MODES.iter().zip(self.0) {
            if let Some(is_other) = set {
                mode.set(&mut modes, is_other);
            }
        }
        modes
    }
}

/// The keys of modes where a table has nothing else.
#[expect(clippy::struct_field_names, reason = "the seeds call them so")]
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct ModeKeys {
    skill_tool_mode: Option<ModeOf<SKILLS>>,
    connector_tool_mode: Option<ModeOf<CONNECTORS>>,
    database_tool_mode: Option<ModeOf<DATABASES>>,
    mcp_tool_mode: Option<ModeOf<SERVERS>>,
}

impl From<ModeKeys> for SetModes {
    fn from(keys: ModeKeys) -> Self {
        let ModeKeys { skill_tool_mode, connector_tool_mode, database_tool_mode, mcp_tool_mode } =
            keys;
        Self::new(skill_tool_mode, connector_tool_mode, database_tool_mode, mcp_tool_mode)
    }
}

/// The modes under the variables of an environment. One with another value is reported and ignored.
pub(super) fn with_variables(mut modes: ToolModes, environment: &Environment) -> ToolModes {
    for mode in &MODES {
        let Some(given) = environment.get_filled(mode.variable) else { continue };
        if let Some(is_other) = mode.parse(&given.trim().to_ascii_lowercase()) {
            mode.set(&mut modes, is_other);
            continue;
        }
        let (name, words) = (mode.variable, mode.words());
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
        let of_file = ToolModes { legacy: ["mcp"].into(), ..ToolModes::default() };
        let expected =
            ToolModes { legacy: ["connector", "mcp"].into(), inline: ["read_skill"].into() };
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
