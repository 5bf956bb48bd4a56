//! `[agents.NAME]` of `gatefold.toml`: a persona, and a choice of tools.

use std::collections::{BTreeMap, BTreeSet};

use gatefold_agent::{AgentLimits, AgentSource};
use gatefold_builtin::BuiltinName;
use gatefold_config::schemas::or_reference;
use gatefold_config::{Field, HandRead, Table, Text};
use gatefold_core::{AgentId, Domain, EntryKind, Right, RuleId};
use gatefold_disclose::Pins;
use gatefold_located::Value;
use gatefold_policy::{Effect, Entries, Glob, PrincipalFilter, Rule, Scope};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::kinds::Kinds;
use super::knowledge::{
    self, Grounding, GroundingWord, has_all_knowledge, is_base, knowledge_domain,
};
use super::loop_tools::builtin_domain;
use super::models::{ModelChoice, ModelConfig};
use super::pins::{self, Pin};
use super::profiles::RegisteredNames;
use super::sources::SourceDraft;
use super::spending::{self, AgentLimitKeys};
use super::tool_modes::{ModeKeys, SetModes};
use super::{PeopleGroup, SourceConfig, SourceSection};

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
    /// The knowledge bases that it has.
    pub(super) bases: Vec<Domain>,
    /// How it asks them.
    pub(super) grounding: Grounding,
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
    /// What its runs are limited to, where it says so.
    pub limits: AgentLimits,
}

/// The categories of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCategories {
    words: Vec<&'static str>,
    /// Whether one of them is a kind of sources: then it has no others.
    names_kinds: bool,
}

/// One agent: what its model is told, and which tools it has.
///
/// A client that connects to `/mcp/agent/NAME`, or runs `gatefold stdio --agent NAME`, acts through it. It has what
/// its user has, or less, never more. `NAME` has up to 64 letters, digits, `-` and `_`.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
pub(super) struct AgentKeys {
    /// What the agent is for, for whoever chooses one.
    ///
    /// Up to 1 KiB. `/agent` in `gatefold chat` shows it, and so does the tool by which other agents have it work,
    /// `call_agent`.
    #[schemars(extend("examples" = ["Answers questions about orders and invoices"], "x-unset" = "nothing"))]
    description: Option<Text>,
    /// What its model is told before anything else.
    ///
    /// Up to 32 KiB. They stand before Gatefold's own.
    #[schemars(extend("examples" = ["You answer questions about orders. Never promise a date."],
        "x-unset" = "nothing but Gatefold's own"))]
    instructions: Option<Text>,
    /// The model that it is run with.
    ///
    /// The name of a model in `[models]`, or a short form such as `openai:gpt-5`: for `gatefold chat`, where
    /// `--model` wins over it, and for tasks that it is given by `call_agent`. Clients that connect bring their own
    /// model.
    #[schemars(extend("examples" = ["ollama:qwen3"],
        "x-unset" = "the first model in `[models]` that the person may use"))]
    model: HandRead<Text>,
    /// Whether there is this agent.
    ///
    /// One that is not looks like an agent that does not exist.
    #[schemars(extend("examples" = [false], "default" = true))]
    enabled: Option<bool>,
    /// Whether the agent is for building other agents.
    ///
    /// It is chosen as others are, and no agent has it work by `call_agent`.
    #[schemars(extend("examples" = [true]))]
    builder: bool,
    /// The groups of people who find the agent.
    ///
    /// To everybody else it looks like an agent that does not exist. `[users.NAME]` and the claims of
    /// `[[server.issuers]]` say who is in a group. The local user, without tokens, is `users.local`.
    #[schemars(extend("examples" = [["finance"]], "x-unset" = "everybody"))]
    visible_to: Vec<PeopleGroup>,
    /// The HTTP APIs and databases that it has, by their names.
    ///
    /// MCP servers and skills are everybody's.
    #[schemars(extend("examples" = [["hr"]], "x-unset" = "all of them"))]
    connector_ids: Option<Vec<Text>>,
    /// The knowledge bases that it has, by their names.
    ///
    /// It has no others, and finds nothing of them.
    #[schemars(extend("examples" = [["handbook"]], "x-unset" = "none"))]
    kb_ids: Vec<Text>,
    /// How it asks its knowledge bases.
    ///
    /// With "quotes" it has `grounded_retrieve`, which answers in verbatim quotes or says that the documents do not say
    /// enough; with "off" `kb_retrieve`, which finds passages.
    #[schemars(extend("examples" = ["off"], "default" = "quotes"))]
    grounding: Option<GroundingWord>,
    /// The categories of built-in tools that it has.
    ///
    /// Where one of `connector`, `database` and `mcp` is among them, the agent has no other of these three
    /// kinds of sources.
    #[schemars(schema_with = "categories_schema", extend("examples" = [["computation", "web", "mcp"]],
        "x-unset" = "all of them"))]
    tool_categories: Option<Vec<Text>>,
    /// What its runs are limited to.
    ///
    /// For `gatefold chat` and for tasks that it is given by `call_agent`, which spend from the run that calls, too.
    #[schemars(extend("examples" = [{"iterations": 20, "run": "10m", "tokens": 500_000}],
        "x-unset" = "`limits.agent_iterations` and the like"))]
    limits: HandRead<AgentLimitKeys>,
    /// The disclosure that it gets.
    ///
    /// A request that names a disclosure in its address gets that one.
    #[schemars(extend("examples" = ["typed"], "x-unset" = "its client's, or `disclosure.default`"))]
    disclosure: Option<Text>,
    /// Tools to show at the top level too.
    #[schemars(extend("examples" = [["crm__find_customer"]], "x-unset" = "`disclosure.pinned`"))]
    pinned: Option<Vec<Pin>>,
    /// How `typed` shows each kind of source to it.
    ///
    /// A table of `connector_tool_mode`, `database_tool_mode` and `mcp_tool_mode`, each "progressive" or
    /// "legacy", and `skill_tool_mode`, "progressive" or "inline"; or a JSON text of it. They win over the
    /// variables.
    #[schemars(schema_with = "modes_schema", extend("examples" = [{"mcp_tool_mode": "legacy"}],
        "x-unset" = "the modes in `[disclosure]`"))]
    model_config_json: HandRead<ModeKeys>,
}

fn categories_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": { "enum": Kinds::default().categories() },
        "x-type": "list of categories",
        "x-constraint": "`computation`, `web`, `filesystem`, `knowledge` and `general` are those of built-in \
                         tools; `connector`, `database` and `mcp` are kinds of sources",
    })
}

fn modes_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            generator.subschema_for::<ModeKeys>(),
            { "type": "string", "pattern": or_reference(r"^\s*\{") },
        ],
        "x-type": "table of modes, or a JSON text of it",
        "x-constraint": "other members of a JSON text are left alone",
    })
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
    known_models: &[&str],
) -> Option<AgentConfig> {
    let keys: AgentKeys = table.read().unwrap_or_default();
    let shown_as = table.peek("model_config_json").and_then(|field| modes(&field));
    let limits = table.peek("limits").and_then(|field| spending::agent_limits(&field));
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
    let model = table.peek("model").and_then(|field| ModelChoice::read(&field, known_models));
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
    let bases = knowledge::bases(&keys.kb_ids, table.peek("kb_ids").as_ref(), sources);
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
        bases,
        grounding: keys.grounding.map(Grounding::from).unwrap_or_default(),
        categories,
        disclosure,
        pinned: keys.pinned.map(pins::pins),
        modes: shown_as.unwrap_or_default(),
        is_builder: keys.builder,
        limits: limits.unwrap_or_default(),
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
    own_tools: &BTreeSet<BuiltinName>,
    models: &[ModelConfig],
) -> Vec<Rule> {
    let each = agents
        .iter()
        .flat_map(|(id, agent)| sources.iter().flat_map(|source| agent.rules_of(id, source)));
    let hiding = agents.iter().flat_map(|(id, agent)| agent.rules_of_finders(id, models));
    let own = agents.iter().flat_map(|(id, agent)| agent.rules_of_loops(id, own_tools));
    let has_all = has_all_knowledge(sources);
    let all = agents.iter().filter(|_| has_all).map(|(id, agent)| agent.rule_of_all_knowledge(id));
    each.chain(own).chain(hiding).chain(all).collect()
}

/// What agents are called by.
pub(crate) fn agents_domain() -> Domain {
    Domain::from_key(AgentSource::DOMAIN)
}

impl AgentConfig {
    /// The rules that hide it, where agents are called, from whoever may not find it or may use none of the
    /// models that it could have.
    fn rules_of_finders(&self, id: &AgentId, models: &[ModelConfig]) -> Vec<Rule> {
        let users: Vec<&ModelConfig> = match &self.model {
            Some(ModelChoice::Named(name)) => {
                models.iter().filter(|model| model.name == *name).collect()
            }
            Some(ModelChoice::Own(_)) => Vec::new(),
            None => models.iter().collect(),
        };
        let is_open = users.iter().any(|model| model.visible_to.is_empty());
        let users = users.iter().filter(|_| !is_open).flat_map(|model| &model.visible_to);
        let rule = |key: &str, groups: Vec<Right>| Rule {
            id: RuleId::new(format!("agents.{id}.{key}")),
            effect: Effect::Deny,
            who: PrincipalFilter { without_rights: groups, ..PrincipalFilter::everybody() },
            scope: Scope::Domain(agents_domain()),
            entries: Entries::Only(EntryKind::Resource),
            pattern: Glob::new(AgentSource::resource(id)),
            unless: Vec::new(),
        };
        let rights = |groups: &mut dyn Iterator<Item = &PeopleGroup>| -> Vec<Right> {
            groups.map(|PeopleGroup(name)| PeopleGroup::right(name)).collect()
        };
        let own = ("visible_to", rights(&mut self.visible_to.iter()));
        let of_model = ("model", rights(&mut users.into_iter()));
        let all = [own, of_model].into_iter().filter(|(_, groups)| !groups.is_empty());
        all.map(|(key, groups)| rule(key, groups)).collect()
    }

    fn rules_of(&self, id: &AgentId, source: &SourceConfig) -> Vec<Rule> {
        let Some(section) = source.section.usable() else { return Vec::new() };
        let (meta, domain) = (section.kind().meta_tool(), &source.domain);
        let whole = |key| vec![denied(id, key, domain, Entries::Every, "*")];
        let is_unbound = |bound: &Vec<Domain>| !bound.contains(domain);
        if is_base(&source.section) == Some(true) {
            if !self.bases.contains(domain) {
                return whole("kb_ids");
            }
            let hidden = self.grounding.hidden_tool();
            return vec![denied(id, "grounding", domain, Entries::Only(EntryKind::Tool), hidden)];
        }
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

    /// The rule about the tools for all knowledge bases. Which of these there are is for the bases' own rules.
    fn rule_of_all_knowledge(&self, id: &AgentId) -> Rule {
        let only = Entries::Only(EntryKind::Tool);
        denied(id, "grounding", &knowledge_domain(), only, self.grounding.hidden_tool())
    }

    /// The rules about the built-in tools that its loop has without a source.
    fn rules_of_loops(&self, id: &AgentId, tools: &BTreeSet<BuiltinName>) -> Vec<Rule> {
        let Some(categories) = &self.categories else { return Vec::new() };
        let has = |name: &&BuiltinName| categories.words.contains(&name.category().as_str());
        let left_out = tools.iter().filter(|name| !has(name)).flat_map(|name| name.tools());
        let (domain, only) = (builtin_domain(), Entries::Only(EntryKind::Tool));
        left_out.map(|tool| denied(id, "tool_categories", &domain, only, tool)).collect()
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
