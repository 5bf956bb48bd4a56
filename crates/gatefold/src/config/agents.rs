//! `[agents.NAME]` of `gatefold.toml`: a persona, and a choice of tools.

use std::collections::{BTreeMap, BTreeSet};

use gatefold_builtin::{BuiltinName, ToolCategory};
use gatefold_config::{Field, Table, Text, Value, parsed};
use gatefold_core::{AgentId, Domain, EntryKind, RuleId};
use gatefold_disclose::{Pins, SkillMode, ToolMode, ToolModes};
use gatefold_policy::{Effect, Entries, Glob, PrincipalFilter, Rule, Scope};
use serde::{Deserialize, Deserializer};

use super::kinds::KindSection;
use super::pins::{self, Pin};
use super::profiles::DisclosureNames;
use super::role::SourceRole;
use super::sources::SourceDraft;
use super::tool_modes::ModeOf;
use super::{PeopleGroup, SourceConfig, SourceSection};

/// The longest instructions of an agent, in bytes.
const MAX_INSTRUCTIONS: usize = 32 * 1024;

/// One agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentConfig {
    /// What its model is told before anything else.
    pub instructions: String,
    /// The groups of people who find it. Everybody, if there is none.
    pub visible_to: Vec<PeopleGroup>,
    /// The HTTP APIs and databases that it has. All, if there is no list.
    pub connectors: Option<Vec<Domain>>,
    /// The categories of built-in tools that it has. All, if there is no list.
    pub categories: Option<Vec<AgentCategory>>,
    /// The disclosure for its requests that name none.
    pub disclosure: Option<String>,
    /// Tools to show at the top level, instead of those that everybody has there.
    pub pinned: Option<Pins>,
    /// How `typed` shows each kind of source, where the agent says so.
    pub modes: AgentModes,
}

/// What a list of categories may name: a category of built-in tools, or a kind of source with a
/// meta-tool of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentCategory {
    Builtin(ToolCategory),
    Kind(SourceRole),
}

/// The modes that an agent sets. They win over variables and the configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentModes {
    pub connectors: Option<ToolMode>,
    pub databases: Option<ToolMode>,
    pub mcp: Option<ToolMode>,
    pub skills: Option<SkillMode>,
}

impl AgentModes {
    /// The modes of the configuration, with the agent's in their places.
    pub fn over(self, modes: ToolModes) -> ToolModes {
        ToolModes {
            connectors: self.connectors.unwrap_or(modes.connectors),
            databases: self.databases.unwrap_or(modes.databases),
            mcp: self.mcp.unwrap_or(modes.mcp),
            skills: self.skills.unwrap_or(modes.skills),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AgentKeys {
    instructions: Option<Text>,
    visible_to: Vec<PeopleGroup>,
    connector_ids: Option<Vec<Text>>,
    tool_categories: Option<Vec<AgentCategory>>,
    disclosure: Option<Text>,
    pinned: Option<Vec<Pin>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ModeKeys {
    #[serde(rename = "skill_tool_mode")]
    skills: Option<ModeOf<SkillMode>>,
    #[serde(rename = "connector_tool_mode")]
    connectors: Option<ModeOf<ToolMode>>,
    #[serde(rename = "database_tool_mode")]
    databases: Option<ModeOf<ToolMode>>,
    #[serde(rename = "mcp_tool_mode")]
    mcp: Option<ModeOf<ToolMode>>,
}

impl From<ModeKeys> for AgentModes {
    fn from(keys: ModeKeys) -> Self {
        Self {
            connectors: keys.connectors.map(|mode| mode.0),
            databases: keys.databases.map(|mode| mode.0),
            mcp: keys.mcp.map(|mode| mode.0),
            skills: keys.skills.map(|mode| mode.0),
        }
    }
}

/// All words that a list of categories may have.
pub(super) const CATEGORIES: [&str; 8] = [
    ToolCategory::Computation.as_str(),
    ToolCategory::Web.as_str(),
    ToolCategory::Filesystem.as_str(),
    ToolCategory::Knowledge.as_str(),
    ToolCategory::General.as_str(),
    "connector",
    "database",
    "mcp",
];

impl AgentCategory {
    fn parse(word: &str) -> Option<Self> {
        let kinds = [SourceRole::Connector, SourceRole::Database, SourceRole::Mcp];
        let kind = kinds.into_iter().find(|kind| kind.category() == Some(word));
        let category = || ToolCategory::ALL.into_iter().find(|own| own.as_str() == word);
        kind.map(Self::Kind).or_else(|| category().map(Self::Builtin))
    }
}

impl<'de> Deserialize<'de> for AgentCategory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let known: Vec<_> = CATEGORIES.iter().map(|word| format!("`{word}`")).collect();
        let hint = format!("use {}", known.join(", "));
        parsed(deserializer, "a category", &hint, Self::parse)
    }
}

pub(super) fn read(
    agents: &Field<'_>,
    disclosures: &DisclosureNames,
    sources: &[SourceDraft],
) -> BTreeMap<AgentId, AgentConfig> {
    let Some(table) = agents.table() else { return BTreeMap::new() };
    let fields = table.fields();
    fields
        .filter_map(|(name, field)| {
            if !is_name(name) {
                field.key_fault(
                    "is not a name for an agent",
                    "use up to 64 letters, digits, `-` and `_`: it stands in an address",
                );
                return None;
            }
            Some((AgentId::new(name), agent(field.table()?, disclosures, sources)))
        })
        .collect()
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

fn agent(
    mut table: Table<'_>,
    disclosures: &DisclosureNames,
    sources: &[SourceDraft],
) -> AgentConfig {
    let modes = table.field("model_config_json").and_then(|field| modes(&field));
    let keys: AgentKeys = table.read().unwrap_or_default();
    let instructions = keys.instructions.map(|text| text.0).unwrap_or_default();
    if let Some(field) =
        table.peek("instructions").filter(|_| instructions.len() > MAX_INSTRUCTIONS)
    {
        let limit = MAX_INSTRUCTIONS / 1024;
        field.fault(format!("is longer than {limit} KiB"), "put the rest into a skill");
    }
    if let Some(field) = table.peek("visible_to").filter(Field::is_empty_list) {
        let hint = "name a group, or remove the agent";
        field.fault("is empty, which would hide the agent from everybody", hint);
    }
    let disclosure = keys.disclosure.map(|name| name.0);
    if let Some((name, field)) = disclosure.as_ref().zip(table.peek("disclosure")) {
        disclosures.check(name, &field);
    }
    let connectors = keys.connector_ids.map(|names| {
        let field = table.peek("connector_ids");
        let known = names.iter().filter_map(|Text(name)| {
            let domain = connector(name, sources);
            if let (Err((message, hint)), Some(field)) = (&domain, &field) {
                field.fault(message.clone(), hint.clone());
            }
            domain.ok()
        });
        known.collect()
    });
    table.finish();
    AgentConfig {
        instructions,
        visible_to: keys.visible_to,
        connectors,
        categories: keys.tool_categories,
        disclosure,
        pinned: keys.pinned.map(pins::pins),
        modes: modes.unwrap_or_default(),
    }
}

/// A table, or the same as a JSON text, which may have settings of other programs beside ours.
fn modes(field: &Field<'_>) -> Option<AgentModes> {
    if let Value::Text(text) = field.value() {
        return match serde_json::from_str::<ModeKeys>(text) {
            Ok(keys) => Some(keys.into()),
            Err(error) => {
                let hint = "write an object, such as '{\"mcp_tool_mode\": \"legacy\"}'";
                field.fault(format!("is not what we read: {error}"), hint);
                None
            }
        };
    }
    let mut table = field.table()?;
    let keys: ModeKeys = table.read().unwrap_or_default();
    table.finish();
    Some(keys.into())
}

/// The API or database of this name, or why there is none.
fn connector(name: &str, sources: &[SourceDraft]) -> Result<Domain, (String, String)> {
    let named = sources.iter().find(|source| source.domain.domain().as_str() == name);
    let Some(source) = named else {
        let is_bound =
            |source: &&SourceDraft| role(&source.section).is_some_and(SourceRole::is_bound);
        let known: BTreeSet<_> =
            sources.iter().filter(is_bound).map(|source| source.domain.domain()).collect();
        let known: Vec<_> = known.iter().map(|domain| format!("`{domain}`")).collect();
        let hint = match known.as_slice() {
            [] => "configure an API or a database first".to_owned(),
            known => format!("use {}", known.join(", ")),
        };
        return Err((format!("has `{name}`, and there is no such source"), hint));
    };
    // One that is switched off, or cannot be used for now, may be either.
    if role(&source.section).is_none_or(SourceRole::is_bound) {
        return Ok(source.domain.domain().clone());
    }
    let message = format!("has `{name}`, which is neither an HTTP API nor a database");
    Err((message, "leave it out: every agent has it".to_owned()))
}

fn role(section: &SourceSection) -> Option<SourceRole> {
    section.usable().map(KindSection::role)
}

/// The rules that narrow what agents have. They deny, so they never show an agent anything that
/// its user does not see.
pub(super) fn rules(
    agents: &BTreeMap<AgentId, AgentConfig>,
    sources: &[SourceConfig],
) -> Vec<Rule> {
    let each = agents
        .iter()
        .flat_map(|(id, agent)| sources.iter().flat_map(|source| agent.rules_of(id, source)));
    each.collect()
}

impl AgentConfig {
    fn rules_of(&self, id: &AgentId, source: &SourceConfig) -> Vec<Rule> {
        let Some(role) = role(&source.section) else { return Vec::new() };
        let domain = &source.domain;
        let whole = |key| vec![denied(id, key, domain, Entries::Every, "*")];
        let is_unbound = |bound: &Vec<Domain>| !bound.contains(domain);
        if role.is_bound() && self.connectors.as_ref().is_some_and(is_unbound) {
            return whole("connector_ids");
        }
        let Some(categories) = &self.categories else { return Vec::new() };
        let names_kinds = categories.iter().any(|own| matches!(own, AgentCategory::Kind(_)));
        match role {
            SourceRole::Common => Vec::new(),
            SourceRole::Builtin => {
                let is_left_out = |name: &BuiltinName| {
                    !categories.contains(&AgentCategory::Builtin(name.category()))
                };
                let left_out = BuiltinName::ALL.into_iter().filter(is_left_out);
                let tools = left_out.flat_map(BuiltinName::tools);
                let only = Entries::Only(EntryKind::Tool);
                tools.map(|tool| denied(id, "tool_categories", domain, only, tool)).collect()
            }
            kind if names_kinds && !categories.contains(&AgentCategory::Kind(kind)) => {
                whole("tool_categories")
            }
            _ => Vec::new(),
        }
    }
}

fn denied(id: &AgentId, key: &str, domain: &Domain, entries: Entries, pattern: &str) -> Rule {
    Rule {
        id: RuleId::new(format!("agents.{id}.{key}:{domain}")),
        effect: Effect::Deny,
        who: PrincipalFilter { agents: vec![id.clone()], ..PrincipalFilter::everybody() },
        scope: Scope::Domain(domain.clone()),
        entries,
        pattern: Glob::new(pattern),
    }
}
