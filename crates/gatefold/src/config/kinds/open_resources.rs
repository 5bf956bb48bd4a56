//! What sources may tell everybody of the resources that they have.

use gatefold_core::{Digest, Domain, EntryKind, Hints, Target, ToolId};
use gatefold_policy::{Effect, Entries, Policy, Rule, Scope};

/// The rules that decide which resources of a domain somebody sees, as one text to compare.
pub(super) fn rules_about(domain: &Domain, policy: &Policy) -> String {
    let is_about_it = |rule: &&Rule| {
        let is_in_scope = match &rule.scope {
            Scope::Everywhere => true,
            Scope::Domain(own) => own == domain,
        };
        let is_about_resources =
            matches!(rule.entries, Entries::Every | Entries::Only(EntryKind::Resource));
        is_in_scope && is_about_resources && rule.effect != Effect::Ask
    };
    let rules: Vec<_> = policy.rules().iter().filter(is_about_it).collect();
    format!("{rules:?}")
}

/// Whether no rule hides a resource of the domain from anybody.
pub(crate) fn is_seen_by_all(policy: &Policy, domain: &Domain, uri: &str) -> bool {
    policy.is_seen_by_all(&Target {
        kind: EntryKind::Resource,
        domain: domain.clone(),
        id: ToolId::new(gatefold_catalog::address(domain, uri)),
        name: uri.into(),
        digest: Digest::new([0; 32]),
        hints: Hints::default(),
    })
}
