//! Rules by the domains that they are about, so that a decision looks at few of many.

use std::collections::HashMap;

use gatefold_core::Domain;

use super::{Rule, Scope};

/// So many rules are looked at one by one as fast as they are looked up.
const FEW_RULES: usize = 16;

/// The places of rules: of those that are looked at for every entry, and of those about one domain
/// each.
#[derive(Debug, Clone, Default)]
pub(super) struct RuleIndex {
    everywhere: Vec<usize>,
    by_domain: HashMap<Domain, Vec<usize>>,
}

impl RuleIndex {
    pub(super) fn of(rules: &[Rule]) -> Self {
        if rules.len() <= FEW_RULES { Self::flat(rules) } else { Self::by_domain(rules) }
    }

    fn flat(rules: &[Rule]) -> Self {
        Self { everywhere: (0..rules.len()).collect(), by_domain: HashMap::new() }
    }

    fn by_domain(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        for (at, rule) in rules.iter().enumerate() {
            match &rule.scope {
                Scope::Everywhere => index.everywhere.push(at),
                Scope::Domain(domain) => {
                    index.by_domain.entry(domain.clone()).or_default().push(at);
                }
            }
        }
        index
    }

    /// The places of all rules that may be about entries of a domain.
    pub(super) fn about(&self, domain: &Domain) -> impl Iterator<Item = usize> {
        let own = self.by_domain.get(domain).map(Vec::as_slice).unwrap_or_default();
        self.everywhere.iter().chain(own).copied()
    }
}

#[cfg(test)]
mod tests {
    use gatefold_core::{
        AgentId, Digest, EntryKind, EntryPattern, Hints, Narrowing, Principal, RuleId, Target,
        TokenGrant, TokenId, ToolId, UserId,
    };
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::{Effect, Entries, Policy, PrincipalFilter};
    use super::*;
    use crate::Glob;

    const DOMAINS: [&str; 4] = ["mail", "mail_old", "crm", "db"];
    const PATTERNS: [&str; 11] = [
        "*",
        "send",
        "s*",
        "*_draft",
        "mail__*",
        "mail__send",
        "mail_old__*",
        "crm_*",
        "note:*",
        "delete_*",
        "gatefold://mail/*",
    ];
    const NAMES: [&str; 8] =
        ["send", "save_draft", "delete_draft", "crm_send", "old__send", "note:1", "note:%31", "x"];

    fn domain() -> impl Strategy<Value = Domain> {
        select(&DOMAINS).prop_map(Domain::from_key)
    }

    fn kind() -> impl Strategy<Value = EntryKind> {
        select(&[EntryKind::Tool, EntryKind::Prompt, EntryKind::Resource])
    }

    prop_compose! {
        fn exception()(kind in proptest::option::of(kind()), pattern in select(&PATTERNS))
            -> EntryPattern
        {
            EntryPattern { kind, name: Glob::new(pattern) }
        }
    }

    prop_compose! {
        fn rule()(
            effect in select(&[Effect::Allow, Effect::Ask, Effect::Deny]),
            user in proptest::option::of(select(&["ann", "bob"])),
            agent in proptest::option::of(select(&["clerk", "writer"])),
            domain in proptest::option::of(domain()),
            kind in proptest::option::of(kind()),
            writes in any::<bool>(),
            pattern in select(&PATTERNS),
            unless in vec(exception(), 0..3),
            number in 0..1000_u16,
        ) -> Rule {
            let who = PrincipalFilter {
                users: user.into_iter().map(UserId::new).collect(),
                agents: agent.into_iter().map(AgentId::new).collect(),
                ..PrincipalFilter::default()
            };
            let entries = match kind {
                None if writes => Entries::Writes,
                kind => Entries::of(kind),
            };
            Rule {
                id: RuleId::new(number.to_string()),
                effect,
                who,
                scope: domain.map_or(Scope::Everywhere, Scope::Domain),
                entries,
                pattern: Glob::new(pattern),
                unless,
            }
        }
    }

    prop_compose! {
        fn target()(
            domain in domain(),
            kind in kind(),
            name in select(&NAMES),
            read_only in proptest::option::of(any::<bool>()),
        ) -> Target {
            let id = match kind {
                EntryKind::Resource => ToolId::new(format!("gatefold://{domain}/{name}")),
                EntryKind::Tool | EntryKind::Prompt => ToolId::of(&domain, name),
            };
            Target {
                kind,
                id,
                domain,
                name: name.into(),
                digest: Digest::new([1; 32]),
                hints: Hints { read_only, ..Hints::default() },
            }
        }
    }

    prop_compose! {
        fn principal()(
            user in select(&["ann", "bob"]),
            agent in proptest::option::of(select(&["clerk", "writer"])),
            only in proptest::option::of(vec(select(&PATTERNS), 1..3)),
            read_only in any::<bool>(),
        ) -> Principal {
            let token = only.map(|only| {
                let narrowing = Narrowing { read_only, ..Narrowing::to(only) };
                TokenGrant { id: TokenId::new("t"), name: "t".into(), narrowing }.into()
            });
            let agent = agent.map(AgentId::new);
            Principal { agent, token, ..Principal::user(UserId::new(user)) }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn an_indexed_decision_is_the_plain_one(
            rules in vec(rule(), 0..12),
            targets in vec(target(), 1..6),
            principal in principal(),
        ) {
            let [indexed, plain] = [RuleIndex::by_domain(&rules), RuleIndex::flat(&rules)]
                .map(|index| Policy { index, ..Policy::new(rules.clone()) });
            for target in &targets {
                let decide = |policy: &Policy| format!("{:?}", policy.verdict(&principal, target));
                prop_assert_eq!(decide(&indexed), decide(&plain));
                prop_assert_eq!(
                    indexed.concerns(&principal, target),
                    plain.concerns(&principal, target)
                );
                prop_assert_eq!(indexed.is_seen_by_all(target), plain.is_seen_by_all(target));
            }
            prop_assert_eq!(indexed.rules_about(&targets), plain.rules_about(&targets));
            for domain in DOMAINS.map(Domain::from_key) {
                let may_show = indexed.may_show(&principal, &domain);
                prop_assert_eq!(may_show, plain.may_show(&principal, &domain));
                // A source that is denied by `{domain}__*` is hidden until it says that it has resources.
                let shows = |target: &&Target| {
                    target.domain == domain
                        && target.kind != EntryKind::Resource
                        && indexed.is_visible(&principal, target)
                };
                prop_assert!(may_show || !targets.iter().any(|target| shows(&target)));
            }
        }
    }
}
