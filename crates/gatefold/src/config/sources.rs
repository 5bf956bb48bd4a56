//! `[sources.NAME]` of `gatefold.toml`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use gatefold_catalog::{GroupRules, KindName, is_group_name};
use gatefold_config::schemas::REFERENCE;
use gatefold_config::{Field, Pairs, Table, Text, Time, fault, parsed};
use gatefold_core::Domain;
use gatefold_policy::Effect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

use super::common_keys::{
    AskSelections, EntryEffect, EntryPattern, PatternKeys, SourceLimits, effects,
};
use super::key::Key;
use super::kinds::{KindSection, Kinds, SourceKind};
use super::users::PeopleGroup;
use super::{Origin, ServerConfig, SourceSection, UnusableSection};

/// One source of a file, before its domain is settled among all.
pub(super) struct SourceDraft {
    pub(super) origin: Origin,
    pub(super) domain: DraftDomain,
    pub(super) section: SourceSection,
    pub(super) description: Option<String>,
    pub(super) aliases: Vec<String>,
    pub(super) groups: GroupRules,
    /// The effects on its own entries.
    pub(super) effects: Vec<EntryEffect>,
    /// The groups whose members see it; everybody does if there are none.
    pub(super) visible_to: Vec<PeopleGroup>,
    pub(super) limits: SourceLimits,
    pub(super) call_deadline: Option<Duration>,
    /// What was read otherwise than it is written, or not at all.
    pub(super) notes: Vec<String>,
}

pub(super) enum DraftDomain {
    /// Given in the file.
    Given(Domain),
    /// Derived from the source's name; may get a number.
    Made(Domain),
}

impl DraftDomain {
    /// As written, before any number.
    pub(super) fn domain(&self) -> &Domain {
        let (Self::Given(domain) | Self::Made(domain)) = self;
        domain
    }
}

/// The keys that sources of every kind have.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(default)]
pub(super) struct SourceKeys {
    /// The public name of the source.
    ///
    /// Tools are called `{domain}__{name}`. No two sources can have the same one; without this key, the second
    /// source of a name gets a number.
    #[schemars(extend("examples" = ["example"], "x-unset" = "made from `NAME`"))]
    domain: Option<SourceDomain>,
    /// What models are told about the source.
    #[schemars(extend("examples" = ["What this source is for."], "x-unset" = "the server's own words"))]
    description: Option<Text>,
    /// What people call the source.
    ///
    /// Requests that say one of them find its tools. They replace the nicknames that Gatefold knows for
    /// well-known services; the first 32 count.
    #[schemars(extend("examples" = [["tracker", "the board"]],
        "x-unset" = "the nicknames of its service, such as `gh` for GitHub"))]
    aliases: Vec<Text>,
    /// Whether the source is used at all.
    #[schemars(extend("examples" = [false], "x-unset" = "true"))]
    enabled: Option<bool>,
    /// What to show.
    ///
    /// Patterns over the names that the server itself gives its tools and prompts, and over the URIs of its
    /// resources. `tool:`, `prompt:` or `resource:` before a pattern narrows it to these. Everything that no
    /// pattern names is hidden, prompts and resources included.
    #[schemars(extend("minItems" = 1, "examples" = [["get_*", "list_*", "resource:*"]], "x-unset" = "all of them"))]
    allow: Vec<EntryPattern>,
    /// Which calls need a person's approval.
    ///
    /// Patterns over the names that the server itself gives its tools and prompts, and over the URIs of its
    /// resources. A client that can ask its user does so. For other clients the call is refused until a person
    /// approves it with `gatefold approvals`. Wins over `allow`.
    #[schemars(extend("examples" = [["create_*", "delete_*"]], "x-unset" = "none"))]
    ask: AskSelections,
    /// Which of the calls in `ask` need no approval.
    ///
    /// Patterns like those of `ask`, and exceptions to them alone: what the kind of the source asks for by
    /// itself, and what `[policy]` asks for, stays as it is.
    #[schemars(extend("examples" = [["create_draft"]], "x-unset" = "none"))]
    ask_unless: Vec<EntryPattern>,
    /// What to hide.
    ///
    /// Patterns over the names that the server itself gives its tools and prompts, and over the URIs of its
    /// resources. `tool:`, `prompt:` or `resource:` before a pattern narrows it to these. Wins over `allow` and
    /// `ask`. A hidden entry gives the same error as one that does not exist.
    #[schemars(extend("examples" = [["delete_*"]], "x-unset" = "none"))]
    deny: Vec<EntryPattern>,
    /// What `deny` does not hide, though it matches.
    ///
    /// Patterns like those of `deny`, and exceptions to them alone: what `[policy]` denies stays hidden.
    #[schemars(extend("examples" = [["delete_draft"]], "x-unset" = "none"))]
    deny_unless: Vec<EntryPattern>,
    /// The groups of people who see the source.
    ///
    /// To everybody else it looks like a source that does not exist. `[users.NAME]` and the claims of
    /// `[[server.issuers]]` say who is in a group. The local user, without tokens, is `users.local`.
    #[schemars(extend("examples" = [["finance"]], "x-unset" = "everybody"))]
    visible_to: Vec<PeopleGroup>,
    /// Which tools are grouped together when models browse.
    ///
    /// The first pattern that matches a tool's own name decides.
    #[schemars(extend("x-type" = "table of lists of patterns",
        "examples" = [{"reading": ["get_*", "list_*"], "writing": ["create_*"]}],
        "x-unset" = "made from the tools' names"))]
    groups: Pairs<GroupName, Vec<Text>>,
    /// How long the source may take to start and list its tools.
    #[schemars(extend("examples" = ["30s"], "x-unset" = "`limits.connect_deadline`"))]
    connect_deadline: Option<Time>,
    /// How long a first start of the source may take, which may have to download it.
    ///
    /// It counts where the source is started through a package runner, such as `npx` or `uvx`, until it has
    /// started well.
    #[schemars(extend("examples" = ["20m"], "x-unset" = "`limits.install_deadline`"))]
    install_deadline: Option<Time>,
    /// How long a call of the source may take, from its admission to its result.
    #[schemars(extend("examples" = ["5m"], "x-unset" = "`limits.call_deadline`"))]
    call_deadline: Option<Time>,
    /// How long the source keeps running while nobody uses it.
    #[schemars(extend("examples" = ["1h"], "x-unset" = "`limits.idle_stop`"))]
    idle_stop: Option<Time>,
}

#[derive(JsonSchema)]
#[schemars(schema_with = "domain_schema")]
struct SourceDomain(Domain);

impl<'de> Deserialize<'de> for SourceDomain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let hint = "use 1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end";
        parsed(deserializer, "a domain", hint, |text| Domain::parse(text).ok()).map(Self)
    }
}

fn domain_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "string", "pattern": r"^_?[a-z0-9]+(_[a-z0-9]+)*$", "maxLength": 40 },
            { "type": "string", "pattern": REFERENCE },
        ],
        "x-type": "domain",
        "x-constraint": "1 to 40 of `a-z`, `0-9` and `_`, without `__` or a `_` at the end",
    })
}

/// The name of a group: models write it back, so it must need no quoting.
#[derive(JsonSchema)]
#[schemars(with = "String", extend("pattern" = r"^[\p{L}\p{N}_ /-]{1,64}$",
    "x-constraint" = "names of 1 to 64 letters, digits, `_`, `-`, `/` and spaces"))]
struct GroupName(String);

impl<'de> Deserialize<'de> for GroupName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if is_group_name(&name) {
            return Ok(Self(name));
        }
        let hint = "use 1 to 64 letters, digits, `_`, `-`, `/` and spaces";
        Err(fault("is not a name for a group", hint))
    }
}

/// Reads the sources. `server` says which tokens there are to exchange.
pub(super) fn read(
    sources: &Field<'_>,
    defaults: SourceLimits,
    kinds: &Kinds,
    server: &ServerConfig,
) -> Vec<SourceDraft> {
    let Some(table) = sources.table() else {
        return Vec::new();
    };
    let mut given: HashMap<Domain, String> = HashMap::new();
    let mut drafts = Vec::new();
    for (name, field) in table.fields() {
        if let Some(table) = field.table() {
            drafts.push(source(name, &field, table, defaults, &mut given, kinds, server));
        }
    }
    drafts
}

fn source(
    name: &str,
    field: &Field<'_>,
    mut table: Table<'_>,
    mut limits: SourceLimits,
    given: &mut HashMap<Domain, String>,
    kinds: &Kinds,
    server: &ServerConfig,
) -> SourceDraft {
    let keys: SourceKeys = table.read().unwrap_or_default();
    let domain = domain(name, keys.domain, &table, given);
    let SourceKeys { allow, ask, ask_unless, deny, deny_unless, .. } = keys;
    let mut effects = effects(&table, PatternKeys { allow, ask, ask_unless, deny, deny_unless });
    let own_limits = [
        (&mut limits.connect_deadline, keys.connect_deadline),
        (&mut limits.install_deadline, keys.install_deadline),
        (&mut limits.idle_stop, keys.idle_stop),
    ];
    for (limit, own) in own_limits {
        *limit = own.map_or(*limit, Duration::from);
    }
    if let Some(field) = table.peek("visible_to").filter(Field::is_empty_list) {
        let hint = "name a group, or write `enabled = false`";
        field.fault("is empty, which would hide the source from everybody", hint);
    }
    let section = section(field, &mut table, kinds);
    check_exchange(&table, section.as_ref(), server);
    table.finish();
    // Missing variables make only this source unusable: the others do not need them.
    let absent = field.document().take_absent().into_iter().next();
    let section = match (keys.enabled, section, absent) {
        (Some(false), ..) | (_, None, _) => SourceSection::Disabled,
        (_, Some((kind, _)), Some(fault)) => {
            SourceSection::Unusable(Box::new(UnusableSection { kind, fault }))
        }
        // If its kind could not read the section, it noted a fault of the file.
        (_, Some((_, section)), None) => {
            section.map_or(SourceSection::Disabled, SourceSection::Usable)
        }
    };
    let asks = section.usable().map(KindSection::asks).unwrap_or_default();
    effects.extend(asks.into_iter().map(|name| EntryEffect::new(Effect::Ask, name)));
    let groups = keys.groups.0.iter();
    let groups = groups.flat_map(|(name, patterns)| {
        patterns.iter().map(move |pattern| (pattern.0.as_str(), name.0.as_str()))
    });
    SourceDraft {
        origin: Origin {
            file: field.document().path().to_owned(),
            line: field.line(),
            key: name.to_owned(),
        },
        domain,
        section,
        description: keys.description.map(|description| description.0),
        aliases: keys.aliases.into_iter().map(|alias| alias.0).collect(),
        groups: GroupRules::new(groups),
        visible_to: keys.visible_to,
        effects,
        limits,
        call_deadline: keys.call_deadline.map(Duration::from),
        notes: Vec::new(),
    }
}

/// Notes what is missing before callers' tokens can be exchanged for those of the source.
fn check_exchange(table: &Table<'_>, section: Option<&ReadSection>, server: &ServerConfig) {
    let section = section.and_then(|(_, section)| section.as_ref());
    let exchange = section.and_then(|section| section.sign_in()?.exchange);
    let lack = exchange.and_then(|exchange| exchange.lack(server));
    if let Some(((problem, hint), field)) = lack.zip(table.peek("credentials")) {
        field.key_fault(problem, hint);
    }
}

/// The source's domain. An explicit domain must be unique.
fn domain(
    name: &str,
    written: Option<SourceDomain>,
    table: &Table<'_>,
    given: &mut HashMap<Domain, String>,
) -> DraftDomain {
    let Some(SourceDomain(domain)) = written else {
        return DraftDomain::Made(Domain::from_key(name));
    };
    let other = given.insert(domain.clone(), name.to_owned());
    if let Some((other, field)) = other.zip(table.peek("domain")) {
        let message = format!("is already the domain of `sources.{other}`: {domain}");
        field.fault(message, "give each source a domain of its own");
    }
    DraftDomain::Given(domain)
}

/// A kind, and what it read.
type ReadSection = (KindName, Option<Arc<dyn KindSection>>);

/// The section, read by the source's kind, and the kind.
fn section(source: &Field<'_>, table: &mut Table<'_>, kinds: &Kinds) -> Option<ReadSection> {
    let Some(kind) = kind(source, table, kinds) else {
        // Its keys may be right once there is one way to reach it, so they are not reported as
        // unknown.
        know(table, kinds.keys().flat_map(|(_, keys)| keys));
        return None;
    };
    refuse_foreign_keys(table, kind.name(), kinds);
    Some((kind.name(), kind.read(table)))
}

fn know<'k>(table: &mut Table<'_>, keys: impl Iterator<Item = &'k Key>) {
    for key in keys {
        table.know(key.name.clone());
    }
}

/// Notes the keys that only sources of other kinds have.
fn refuse_foreign_keys(table: &mut Table<'_>, kind: KindName, kinds: &Kinds) {
    let own = kinds.keys().filter(|(own, _)| own.name() == kind);
    let own: Vec<_> = own.flat_map(|(_, keys)| keys).collect();
    know(table, own.iter().copied());
    for (other, keys) in kinds.keys().filter(|(other, _)| other.name() != kind) {
        let ways: Vec<_> = other.ways().iter().map(|way| format!("`{}`", way.key)).collect();
        for key in keys.iter().filter(|key| !own.iter().any(|own| own.name == key.name)) {
            if let Some(field) = table.peek(&key.name) {
                let problem = format!("belongs to a source with {}", ways.join(" or "));
                field.key_fault(problem, "remove it");
                table.know(key.name.clone());
            }
        }
    }
}

/// The kind whose ways are present. More than one kind, or none, is a fault.
fn kind<'k>(source: &Field<'_>, table: &Table<'_>, kinds: &'k Kinds) -> Option<&'k dyn SourceKind> {
    let mut there = kinds.ways().filter(|(_, way)| table.peek(way.key).is_some());
    let Some((kind, first)) = there.next() else {
        let ways = kinds.ways().map(|(_, way)| format!("`{}` {}", way.key, way.purpose));
        let hint = format!("give {}", ways.collect::<Vec<_>>().join(", or "));
        source.key_fault("says neither what to start nor where to connect", hint);
        return None;
    };
    // Two ways of one kind are for the kind to judge.
    let other = there.find(|(other, _)| other.name() != kind.name());
    if let Some(field) = other.and_then(|(_, way)| table.peek(way.key)) {
        field.key_fault(format!("is set beside `{}`", first.key), "keep one of the two");
        return None;
    }
    Some(kind)
}
