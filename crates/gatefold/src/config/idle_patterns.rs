//! Patterns of a configuration that match nothing: most are misspelt, and a `deny` that is denies
//! nothing.

use std::collections::BTreeSet;
use std::fmt;

use gatefold_catalog::{DomainEntry, Entry, Pattern, Snapshot, Tool, nearest_texts};
use gatefold_core::{Domain, EntryKind, Target};
use gatefold_policy::{Entries, Glob, Rule, Scope};

use super::Config;

/// A pattern that matches nothing that its sources are known to have.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdlePattern {
    /// The key that has it, such as `sources.git.deny`.
    pub key: String,
    pub pattern: String,
    /// The only source that it is about.
    pub domain: Option<Domain>,
    /// What was probably meant.
    pub nearest: Option<String>,
}

impl fmt::Display for IdlePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, pattern, nearest, .. } = self;
        write!(f, "`{key}` matches no tool: {pattern}")?;
        nearest.iter().try_for_each(|near| write!(f, "; did you mean `{near}`?"))
    }
}

impl Config {
    /// The patterns that match nothing that sources are known to have. One that may be about a
    /// source of which nothing is known yet is not among them, nor is one for URIs, since sources
    /// have resources that they do not list.
    pub fn idle_patterns(&self, known: &Snapshot) -> Vec<IdlePattern> {
        let mut idle = self.idle_rules(known);
        idle.extend(self.idle_groups(known));
        let pins = [("disclosure.pinned".to_owned(), &self.disclosure.pinned)];
        let of_agents = self.agents.iter().filter_map(|(name, agent)| {
            Some((format!("agents.{name}.pinned"), agent.pinned.as_ref()?))
        });
        for (key, pins) in pins.into_iter().chain(of_agents) {
            let written = pins.patterns.iter().map(Pattern::to_string);
            idle.extend(written.filter_map(|pattern| idle_pin(&key, pattern, known)));
        }
        idle
    }

    fn idle_rules(&self, known: &Snapshot) -> Vec<IdlePattern> {
        let entries = [known.prompts(), known.resources(), known.templates()];
        let entries = entries.into_iter().flatten().map(Entry::target);
        let targets = known.tools().iter().map(Tool::target).chain(entries);
        let is_about_some = self.policy.rules_about(targets.map(AsRef::as_ref));
        let rules = self.policy.rules().iter().zip(is_about_some);
        let rules = rules.filter(|(rule, is_about_some)| !is_about_some && is_judged(rule, known));
        rules.filter_map(|(rule, _)| idle_rule(rule, known)).collect()
    }

    fn idle_groups(&self, known: &Snapshot) -> Vec<IdlePattern> {
        let listed =
            |domain: &Domain| entry_of(known, domain).filter(|own| own.manifest().is_some());
        let sources = self.sources.iter().filter_map(|own| Some((own, listed(&own.domain)?)));
        let idle = sources.flat_map(|(source, entry)| {
            let tools = &known.tools()[entry.range()];
            let names: Vec<&str> = tools.iter().map(|tool| &*tool.target().name).collect();
            let idle = source.groups.patterns().filter(move |pattern| {
                !names.iter().any(|name| pattern.is_of(entry.domain(), name))
            });
            idle.map(move |pattern| IdlePattern {
                key: format!("sources.{}.groups", source.domain),
                nearest: nearest(&pattern.to_string(), own_names(known, &source.domain)),
                pattern: pattern.to_string(),
                domain: Some(source.domain.clone()),
            })
        });
        idle.collect()
    }
}

/// Whether everything is known that a rule may be about, and a pattern of names is what it has.
fn is_judged(rule: &Rule, known: &Snapshot) -> bool {
    let pattern = rule.pattern.as_str();
    let is_of_names = rule.entries != Entries::Writes
        && rule.entries != Entries::Only(EntryKind::Resource)
        && !pattern.contains("://")
        && !pattern.chars().all(|c| c == '*');
    is_of_names
        && match &rule.scope {
            Scope::Domain(domain) => {
                entry_of(known, domain).is_some_and(|own| own.manifest().is_some())
            }
            Scope::Everywhere => are_known(&rule.pattern, known),
        }
}

/// Whether all sources are known whose names a pattern may match.
fn are_known(pattern: &Glob, known: &Snapshot) -> bool {
    let mut unknown = known.domains().iter().filter(|own| own.manifest().is_none());
    !unknown.any(|own| pattern.meets(&Glob::new(format!("{}_*", own.domain()))))
}

/// A rule as somebody wrote it; none for those that other keys are made into.
fn idle_rule(rule: &Rule, known: &Snapshot) -> Option<IdlePattern> {
    let (key, pattern) = rule.id.as_str().split_once(':')?;
    let is_written = [".allow", ".ask", ".deny"].iter().any(|end| key.ends_with(end));
    let domain = match &rule.scope {
        Scope::Domain(domain) => Some(domain.clone()),
        Scope::Everywhere => None,
    };
    let meant = || match &domain {
        Some(domain) => nearest(pattern, own_names(known, domain)),
        None => nearest(pattern, ids(known)),
    };
    let nearest = singular(pattern).or_else(meant);
    let (key, pattern) = (key.to_owned(), pattern.to_owned());
    is_written.then_some(IdlePattern { key, pattern, domain, nearest })
}

fn idle_pin(key: &str, pattern: String, known: &Snapshot) -> Option<IdlePattern> {
    let glob = Glob::new(pattern.as_str());
    let is_named = |target: &Target| target.goes_by(|name| glob.matches(name));
    let is_idle = !known.tools().iter().any(|tool| is_named(tool.target()));
    let nearest = nearest(&pattern, ids(known));
    (is_idle && are_known(&glob, known)).then(|| IdlePattern {
        key: key.to_owned(),
        pattern,
        domain: None,
        nearest,
    })
}

/// What `tools:x` should have been: a pattern says of which kind it is in the singular.
fn singular(pattern: &str) -> Option<String> {
    let (kind, rest) = pattern.split_once(':')?;
    let kind = kind.strip_suffix('s')?;
    let meant = format!("{kind}:{rest}");
    EntryKind::of_pattern(&meant).0.map(|_| meant)
}

/// The name that is most similar to one that matches nothing.
fn nearest(pattern: &str, among: BTreeSet<&str>) -> Option<String> {
    let (_, name) = EntryKind::of_pattern(pattern);
    let is_name = !name.contains(['*', '?']);
    is_name.then(|| nearest_texts(name, among).first().map(|near| (*near).to_owned())).flatten()
}

fn own_names<'a>(known: &'a Snapshot, domain: &Domain) -> BTreeSet<&'a str> {
    let tools = known.tools().iter().map(Tool::target);
    let targets = tools.chain(known.prompts().iter().map(Entry::target));
    targets.filter(|target| target.domain == *domain).map(|target| &*target.name).collect()
}

fn ids(known: &Snapshot) -> BTreeSet<&str> {
    let tools = known.tools().iter().map(|tool| tool.id().as_str());
    tools.chain(known.prompts().iter().map(|prompt| prompt.id().as_str())).collect()
}

fn entry_of<'a>(known: &'a Snapshot, domain: &Domain) -> Option<&'a DomainEntry> {
    known.domains().iter().find(|entry| entry.domain() == domain)
}
