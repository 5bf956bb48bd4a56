//! What all files say, put together.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use gatefold_core::{Digest, Domain, RuleId};
use gatefold_policy::{Effect, Entries, Glob, Policy, Rule, Scope, Who};
use sha2::{Digest as _, Sha256};

use super::sections::Draft;
use super::sources::{DraftDomain, SourceDraft};
use super::{Config, Connection, SourceConfig};

/// Settles the domains and makes the policy. Sources stand in the order of the files.
pub(super) fn resolve(draft: Draft, files: Vec<PathBuf>) -> Config {
    let domains = domains(&draft.sources);
    let everywhere = |effect| rule("policy", &Scope::Everywhere, effect);
    let mut rules: Vec<_> = draft.effects.iter().map(everywhere).collect();
    let sources: Vec<_> = draft
        .sources
        .into_iter()
        .zip(domains)
        .map(|(source, domain)| {
            let (path, scope) = (format!("sources.{domain}"), Scope::Domain(domain.clone()));
            rules.extend(source.effects.iter().map(|effect| rule(&path, &scope, effect)));
            settle(source, domain)
        })
        .collect();
    Config {
        files,
        sources,
        policy: Policy::new(rules),
        disclosure: draft.disclosure,
        search: draft.search,
        limits: draft.limits,
        source_limits: draft.source_limits,
        server: draft.server,
        state_dir: draft.state_dir,
        audit: draft.audit,
    }
}

/// A domain for each source: those that are given first, then the others, which take the next
/// free number where their name is taken.
fn domains(sources: &[SourceDraft]) -> Vec<Domain> {
    let given = sources.iter().filter_map(|source| match &source.domain {
        DraftDomain::Given(domain) => Some(domain.clone()),
        DraftDomain::Made(_) => None,
    });
    let mut taken: HashSet<Domain> = given.collect();
    // Where the search for a free number goes on: thousands of sources may share a name.
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

/// A rule is named after its key and its pattern: that is what a denial cites.
fn rule(path: &str, scope: &Scope, (effect, pattern): &(Effect, String)) -> Rule {
    let key = if *effect == Effect::Allow { "allow" } else { "deny" };
    let (entries, glob) = Entries::read(pattern);
    Rule {
        id: RuleId::new(format!("{path}.{key}:{pattern}")),
        effect: *effect,
        who: Who::everybody(),
        scope: scope.clone(),
        entries,
        pattern: Glob::new(glob),
    }
}

fn settle(source: SourceDraft, domain: Domain) -> SourceConfig {
    SourceConfig {
        description: source.description,
        groups: source.groups,
        connect_deadline: source.limits.connect_deadline,
        idle_stop: source.limits.idle_stop,
        ..SourceConfig::new(domain, source.connection, source.origin)
    }
}

/// Hashes parts with their lengths, so that no two lists of parts hash alike.
struct Parts(Sha256);

impl Parts {
    fn add(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn add_list<T>(&mut self, items: &[T], mut add: impl FnMut(&mut Self, &T)) {
        self.0.update((items.len() as u64).to_le_bytes());
        for item in items {
            add(self, item);
        }
    }
}

pub(super) fn digest(domain: &Domain, connection: &Connection) -> Digest {
    let mut parts = Parts(Sha256::new());
    parts.add(domain.as_str().as_bytes());
    match connection {
        Connection::Stdio { command, args, env, inherit_env, cwd } => {
            parts.add(b"stdio");
            parts.add(command.as_bytes());
            parts.add_list(args, |parts, arg| parts.add(arg.as_bytes()));
            parts.add_list(env, |parts, (name, value)| {
                parts.add(name.as_bytes());
                parts.add(value.expose().as_bytes());
            });
            parts.add_list(inherit_env, |parts, name| parts.add(name.as_bytes()));
            parts.add_list(cwd.as_slice(), |parts, cwd| {
                parts.add(cwd.as_os_str().as_bytes());
            });
        }
        Connection::Http { url, headers } => {
            parts.add(b"http");
            parts.add(url.as_bytes());
            parts.add_list(headers, |parts, (name, value)| {
                parts.add(name.as_bytes());
                parts.add(value.expose().as_bytes());
            });
        }
        Connection::Disabled => parts.add(b"disabled"),
        Connection::Unusable(why) => {
            parts.add(b"unusable");
            parts.add(why.on_one_line().as_bytes());
        }
    }
    Digest::new(parts.0.finalize().into())
}
