//! `[agents.NAME]` of `gatefold.toml`: a persona, and a choice of tools.

use std::collections::{BTreeMap, BTreeSet};

use gatefold_agent::AgentSource;
use gatefold_config::{Field, Table, Text, Value};
use gatefold_core::{AgentId, Domain, EntryKind, RuleId};
use gatefold_disclose::Pins;
use gatefold_policy::{Effect, Entries, Glob, PrincipalFilter, Rule, Scope};
use serde::Deserialize;

use super::kinds::Kinds;
use super::models::{ModelChoice, ModelConfig};
use super::pins::{self, Pin};
use super::profiles::RegisteredNames;
use super::sources::SourceDraft;
use super::tool_modes::{ModeKeys, SetModes};
use super::{Config, PeopleGroup, SourceConfig, SourceSection};

/// The longest instructions of an agent, in bytes.
const MAX_INSTRUCTIONS: usize = 32 * 1024;

/// The longest description of an agent, in bytes.
const MAX_DESCRIPTION: usize = 1024;

/// One agent.
#[derive(Debug, Clone, Default)]
pub struct AgentConfig {
    /// What people are told of it.
    pub description: Option<String>,
    /// What its model is told before anything else.
    pub instructions: String,
    /// The model that it is run with in a chat, unless another is asked for.
    pub model: Option<ModelChoice>,
    /// The groups of people who find it. Everybody, if there is none.
    pub visible_to: Vec<PeopleGroup>,
    /// The HTTP APIs and databases that it has. All, if there is no list.
    pub connectors: Option<Vec<Domain>>,
    /// The categories of tools, and the kinds of sources by their meta-tools, that it has. All, if there is
    /// no list.
    pub categories: Option<AgentCategories>,
    /// The disclosure for its requests that name none.
    pub disclosure: Option<String>,
    /// Tools to show at the top level, instead of those that everybody has there.
    pub pinned: Option<Pins>,
    /// How `typed` shows each kind of source, where the agent says so.
    pub modes: SetModes,
    /// Whether it is for building other agents, and so no tool of theirs.
    pub is_builder: bool,
}

/// The categories of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCategories {
    words: Vec<&'static str>,
    /// Whether one of them is a kind of sources: then it has no others.
    names_kinds: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AgentKeys {
    enabled: Option<bool>,
    builder: bool,
    description: Option<Text>,
    instructions: Option<Text>,
    visible_to: Vec<PeopleGroup>,
    connector_ids: Option<Vec<Text>>,
    tool_categories: Option<Vec<Text>>,
    disclosure: Option<Text>,
    pinned: Option<Vec<Pin>>,
}

pub(super) fn read(
    agents: &Field<'_>,
    known: &RegisteredNames<'_>,
    sources: &[SourceDraft],
    models: &[&str],
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
            let agent = agent(field.table()?, known, sources, models)?;
            Some((AgentId::new(name), agent))
        })
        .collect()
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(is_plain)
}

/// None for one that is switched off: there is no such agent.
fn agent(
    mut table: Table<'_>,
    known: &RegisteredNames<'_>,
    sources: &[SourceDraft],
    models: &[&str],
) -> Option<AgentConfig> {
    let modes = table.field("model_config_json").and_then(|field| modes(&field));
    let keys: AgentKeys = table.read().unwrap_or_default();
    let instructions = keys.instructions.map(|text| text.0).unwrap_or_default();
    let description = keys.description.map(|text| text.0);
    let length = description.as_ref().map_or(0, String::len);
    for (key, length, limit, hint) in [
        ("instructions", instructions.len(), MAX_INSTRUCTIONS, "put the rest into a skill"),
        ("description", length, MAX_DESCRIPTION, "say in a sentence or two what it is for"),
    ] {
        if let Some(field) = table.peek(key).filter(|_| length > limit) {
            field.fault(format!("is longer than {} KiB", limit / 1024), hint);
        }
    }
    let model = table.field("model").and_then(|field| ModelChoice::read(&field, models));
    if let Some(field) = table.peek("visible_to").filter(Field::is_empty_list) {
        let hint = "name a group, or remove the agent";
        field.fault("is empty, which would hide the agent from everybody", hint);
    }
    let disclosure = keys.disclosure.map(|name| name.0);
    if let Some((name, field)) = disclosure.as_ref().zip(table.peek("disclosure")) {
        known.disclosures.check(name, &field);
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
    let categories = keys
        .tool_categories
        .map(|words| categories(&words, table.peek("tool_categories").as_ref(), known.kinds));
    table.finish();
    (keys.enabled != Some(false)).then(|| AgentConfig {
        description,
        instructions,
        model,
        visible_to: keys.visible_to,
        connectors,
        categories,
        disclosure,
        pinned: keys.pinned.map(pins::pins),
        modes: modes.unwrap_or_default(),
        is_builder: keys.builder,
    })
}

fn categories(words: &[Text], field: Option<&Field<'_>>, kinds: &Kinds) -> AgentCategories {
    let known = kinds.categories();
    let read = words.iter().filter_map(|Text(word)| {
        let category = known.iter().copied().find(|own| own == word);
        if let (None, Some(field)) = (category, field) {
            let known: Vec<_> = known.iter().map(|word| format!("`{word}`")).collect();
            field.fault(
                format!("has `{word}`, which is no category"),
                format!("use {}", known.join(", ")),
            );
        }
        category
    });
    let words: Vec<_> = read.collect();
    let is_kind = |word: &&str| kinds.meta_tools().iter().any(|meta| meta.name == *word);
    AgentCategories { names_kinds: words.iter().any(is_kind), words }
}

/// A table, or the same as a JSON text, which may have settings of other programs beside ours.
fn modes(field: &Field<'_>) -> Option<SetModes> {
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
        let is_bound = |source: &&SourceDraft| is_bound(&source.section) == Some(true);
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
    if is_bound(&source.section) != Some(false) {
        return Ok(source.domain.domain().clone());
    }
    let message = format!("has `{name}`, which is neither an HTTP API nor a database");
    Err((message, "leave it out: every agent has it".to_owned()))
}

/// Whether an agent's list of connectors is about a source; unknown of one that cannot be used.
fn is_bound(section: &SourceSection) -> Option<bool> {
    let kind = section.usable()?.kind();
    Some(kind.meta_tool().is_some_and(|meta| meta.is_bound))
}

/// The rules that narrow what agents have. They deny, so they never show an agent anything that
/// its user does not see.
pub(super) fn rules(
    agents: &BTreeMap<AgentId, AgentConfig>,
    sources: &[SourceConfig],
    models: &[ModelConfig],
) -> Vec<Rule> {
    let each = agents
        .iter()
        .flat_map(|(id, agent)| sources.iter().flat_map(|source| agent.rules_of(id, source)));
    let hiding = agents.iter().flat_map(|(id, agent)| agent.rules_of_finders(id, models));
    each.chain(hiding).collect()
}

/// What agents are called by.
pub(crate) fn agents_domain() -> Domain {
    Domain::from_key(AgentSource::DOMAIN)
}

impl Config {
    /// The agents that others can have work done by. None where a source has the name of what they are
    /// called by.
    pub(crate) fn callable_agents(&self) -> Vec<(&AgentId, &AgentConfig)> {
        let domain = agents_domain();
        if self.sources.iter().any(|source| source.domain == domain) {
            return Vec::new();
        }
        let has_model = |agent: &AgentConfig| agent.model.is_some() || !self.models.is_empty();
        let agents = self.agents.iter();
        agents.filter(|(_, agent)| !agent.is_builder && has_model(agent)).collect()
    }
}

impl AgentConfig {
    /// The groups of which somebody has to be in each one's who finds it: its own, and those of its model.
    pub(crate) fn finders<'a>(
        &'a self,
        models: &'a [ModelConfig],
    ) -> impl Iterator<Item = &'a [PeopleGroup]> {
        let model = match &self.model {
            Some(ModelChoice::Named(name)) => models.iter().find(|model| model.name == *name),
            Some(ModelChoice::Own(_)) | None => None,
        };
        let groups = [Some(&self.visible_to), model.map(|model| &model.visible_to)];
        groups.into_iter().flatten().map(Vec::as_slice).filter(|groups| !groups.is_empty())
    }

    fn rules_of_finders(&self, id: &AgentId, models: &[ModelConfig]) -> Vec<Rule> {
        let hidden = |groups: &[PeopleGroup]| {
            let finders = groups.iter().map(|PeopleGroup(name)| PeopleGroup::right(name));
            Rule {
                id: RuleId::new(format!("agents.{id}.visible_to")),
                effect: Effect::Deny,
                who: PrincipalFilter {
                    without_rights: finders.collect(),
                    ..PrincipalFilter::everybody()
                },
                scope: Scope::Domain(agents_domain()),
                entries: Entries::Only(EntryKind::Resource),
                pattern: Glob::new(AgentSource::resource(id)),
                unless: Vec::new(),
            }
        };
        self.finders(models).map(hidden).collect()
    }

    fn rules_of(&self, id: &AgentId, source: &SourceConfig) -> Vec<Rule> {
        let Some(section) = source.section.usable() else { return Vec::new() };
        let (meta, domain) = (section.kind().meta_tool(), &source.domain);
        let whole = |key| vec![denied(id, key, domain, Entries::Every, "*")];
        let is_unbound = |bound: &Vec<Domain>| !bound.contains(domain);
        if meta.is_some_and(|meta| meta.is_bound)
            && self.connectors.as_ref().is_some_and(is_unbound)
        {
            return whole("connector_ids");
        }
        let Some(categories) = &self.categories else { return Vec::new() };
        let Some(meta) = meta else {
            let tools = section.tool_categories().into_iter();
            let left_out = tools.filter(|(category, _)| !categories.words.contains(category));
            let only = Entries::Only(EntryKind::Tool);
            let rules = left_out.map(|(_, tool)| denied(id, "tool_categories", domain, only, tool));
            return rules.collect();
        };
        if categories.names_kinds && !categories.words.contains(&meta.name) {
            return whole("tool_categories");
        }
        Vec::new()
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
        unless: Vec::new(),
    }
}
