//! Combines all files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use gatefold_core::{Digest, Domain, EntryPattern, RuleId};
use gatefold_policy::{Effect, Entries, Glob, Policy, PrincipalFilter, Rule, Scope};

use super::ClientServer;
use super::agents;
use super::common_keys::{EntryEffect, EntrySelection, WRITES};
use super::kinds::{DigestParts, KindSection};
use super::loop_tools::loop_tools;
use super::sections::Draft;
use super::sources::{DraftDomain, SourceDraft};
use super::{Config, PeopleGroup, SourceConfig, SourceSection};

/// Assigns the domains and builds the policy. Sources keep the order of the files.
pub(super) fn resolve(draft: Draft, files: Vec<PathBuf>) -> Config {
    let domains = domains(&draft.sources);
    let everywhere = |effect| rule("policy", &Scope::Everywhere, effect);
    let mut rules: Vec<_> = draft.effects.iter().map(everywhere).collect();
    let mut sources: Vec<_> = draft
        .sources
        .into_iter()
        .zip(domains)
        .map(|(source, domain)| {
            rules.extend(rules_of(&domain, &source.effects));
            rules.extend(audience_rule(&domain, &source.visible_to));
            settle(source, domain)
        })
        .collect();
    let own_tools = loop_tools(&draft.disclosure.builtin_tools, &sources);
    rules.extend(agents::rules(&draft.agents, &sources, &own_tools, &draft.models));
    let policy = Policy::new(rules);
    bind_rules(&mut sources, &policy);
    Config {
        files,
        sources,
        policy,
        disclosure: draft.disclosure,
        clients: draft.clients,
        models: draft.models,
        model_tokens: draft.model_tokens,
        agents: draft.agents,
        agent_limits: draft.agent_limits,
        users: draft.users,
        search: draft.search,
        limits: draft.limits,
        statement_memory: draft.statement_memory,
        results: draft.results,
        source_limits: draft.source_limits,
        starts: draft.starts,
        server: draft.server,
        state_dir: draft.state_dir,
        secrets_file: draft.secrets_file,
        root_key: draft.root_key,
        audit: draft.audit,
    }
}

/// A domain for each source: explicit ones first, then the others, which take the next free number
/// if their name is taken.
fn domains(sources: &[SourceDraft]) -> Vec<Domain> {
    let given = sources.iter().filter_map(|source| match &source.domain {
        DraftDomain::Given(domain) => Some(domain.clone()),
        DraftDomain::Made(_) => None,
    });
    let mut taken: HashSet<Domain> = given.collect();
    // Where the search for a free number continues: thousands of sources may share a name.
    let mut numbers: HashMap<Domain, usize> = HashMap::new();
    let mut settle = |source: &SourceDraft| match &source.domain {
        DraftDomain::Given(domain) => domain.clone(),
        DraftDomain::Made(made) => {
            let number = numbers.entry(made.clone()).or_insert(1);
            loop {
                let domain = if *number == 1 { made.clone() } else { made.numbered(*number) };
                *number += 1;
                if taken.insert(domain.clone()) {
                    break domain;
                }
            }
        }
    };
    sources.iter().map(&mut settle).collect()
}

impl Config {
    /// Sources that are configured in code, with the rules that they bring. Their domains must be
    /// unique.
    pub fn of(sources: Vec<SourceConfig>) -> Self {
        let rules = sources.iter().flat_map(|source| {
            let asks = source.section.usable().map(KindSection::asks).unwrap_or_default();
            let asks = asks.into_iter().map(|name| EntryEffect::new(Effect::Ask, name));
            rules_of(&source.domain, &asks.collect::<Vec<_>>()).collect::<Vec<_>>()
        });
        let (policy, mut sources) = (Policy::new(rules.collect()), sources);
        bind_rules(&mut sources, &policy);
        Self { sources, policy, ..Self::default() }
    }

    /// Whether a source allows and denies the same tools as a client does for a server of its own.
    /// Its ask rules do not count: no client's file has any.
    pub fn limits_as(&self, source: &SourceConfig, server: &ClientServer) -> bool {
        let scope = Scope::Domain(source.domain.clone());
        let own = self.policy.rules().iter();
        let own = own.filter(|rule| {
            rule.scope == scope && rule.effect != Effect::Ask && rule.who.is_everybody()
        });
        let own: Vec<_> = own.collect();
        if own.iter().any(|rule| !rule.unless.is_empty()) {
            return false;
        }
        let own: BTreeSet<_> = own.into_iter().map(|rule| rule.id.to_string()).collect();
        let effects = server.effects.iter();
        let effects: Vec<_> =
            effects.map(|(effect, pattern)| EntryEffect::new(*effect, pattern.clone())).collect();
        own == rules_of(&source.domain, &effects).map(|rule| rule.id.to_string()).collect()
    }
}

/// Makes what a source's definitions depend on besides its keys part of its digest.
fn bind_rules(sources: &mut [SourceConfig], policy: &Policy) {
    for source in sources {
        let section = source.section.usable();
        let surroundings = section.and_then(|section| section.surroundings(&source.domain, policy));
        if let Some(surroundings) = surroundings {
            let mut parts = DigestParts::new();
            parts.add(source.config_digest.as_bytes());
            parts.add(surroundings);
            source.config_digest = parts.finish();
        }
    }
}

/// The rules of one source.
fn rules_of(domain: &Domain, effects: &[EntryEffect]) -> impl Iterator<Item = Rule> {
    let (path, scope) = (format!("sources.{domain}"), Scope::Domain(domain.clone()));
    effects.iter().map(move |effect| rule(&path, &scope, effect))
}

/// The rule that hides a source from everybody but the members of some groups.
fn audience_rule(domain: &Domain, groups: &[PeopleGroup]) -> Option<Rule> {
    let outsiders = groups.iter().map(|PeopleGroup(name)| PeopleGroup::right(name)).collect();
    (!groups.is_empty()).then(|| Rule {
        id: RuleId::new(format!("sources.{domain}.visible_to")),
        effect: Effect::Deny,
        who: PrincipalFilter { without_rights: outsiders, ..PrincipalFilter::everybody() },
        scope: Scope::Domain(domain.clone()),
        entries: Entries::Every,
        pattern: Glob::new("*"),
        unless: Vec::new(),
    })
}

/// A rule's id is made of its key and its pattern, because denials name it.
fn rule(path: &str, scope: &Scope, effect: &EntryEffect) -> Rule {
    let EntryEffect { effect, selection, unless } = effect;
    let key = match effect {
        Effect::Allow => "allow",
        Effect::Ask => "ask",
        Effect::Deny => "deny",
    };
    let (written, (entries, glob)) = match selection {
        EntrySelection::Pattern(pattern) => (pattern.as_str(), Entries::read(pattern)),
        EntrySelection::Writes => (WRITES, (Entries::Writes, "*")),
    };
    Rule {
        id: RuleId::new(format!("{path}.{key}:{written}")),
        effect: *effect,
        who: PrincipalFilter::everybody(),
        scope: scope.clone(),
        entries,
        pattern: Glob::new(glob),
        unless: unless.iter().map(|pattern| EntryPattern::read(pattern)).collect(),
    }
}

fn settle(source: SourceDraft, domain: Domain) -> SourceConfig {
    let mut notes = source.notes;
    notes.extend(renaming(&source.origin.key, &source.domain, &domain));
    SourceConfig {
        notes,
        description: source.description,
        aliases: source.aliases,
        groups: source.groups,
        connect_deadline: source.limits.connect_deadline,
        install_deadline: source.limits.install_deadline,
        idle_stop: source.limits.idle_stop,
        call_deadline: source.call_deadline,
        ..SourceConfig::new(domain, source.section, source.origin)
    }
}

/// Says what a source is called that could not keep its name.
fn renaming(key: &str, draft: &DraftDomain, domain: &Domain) -> Option<String> {
    let DraftDomain::Made(made) = draft else { return None };
    let is_plain = made == domain && key.is_ascii();
    (!is_plain).then(|| {
        format!("it is called `{domain}`: a domain has only `a-z`, `0-9` and `_`, and no two are the same")
    })
}

pub(super) fn digest(domain: &Domain, section: &SourceSection) -> Digest {
    let mut parts = DigestParts::new();
    parts.add(domain.as_str());
    match section {
        SourceSection::Usable(section) => section.digest(&mut parts),
        SourceSection::Disabled => parts.add("disabled"),
        SourceSection::Unusable(unusable) => {
            parts.add("unusable");
            parts.add(unusable.fault.on_one_line());
        }
    }
    parts.finish()
}
