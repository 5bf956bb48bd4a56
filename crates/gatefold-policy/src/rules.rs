use gatefold_core::{
    AgentId, Domain, EntryKind, EntryPattern as WrittenPattern, Narrowing, OrganisationId,
    Principal, Right, RuleId, Target, UserId,
};

use crate::Glob;
use crate::admission::{
    Admission, ApprovalRequest, Denial, Facts, Obligations, Permit, ResolvedCall,
};

use self::index::RuleIndex;
use self::subject::{CompiledRule, EntryPattern, Subject};

mod foresight;
mod index;
mod narrowing;
mod subject;

/// What a rule does to the entries it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Makes the domain an allow-list: entries that no allow rule matches are hidden, including
    /// prompts and resources, except for kinds of entries that no allow rule is about.
    Allow,
    /// A person approves or denies each call. It does not show anything that an allow-list hides.
    Ask,
    /// Hides the entry. Calling it by name gives the same error as a name that does not exist.
    Deny,
}

/// Whom a rule applies to. An empty list means everybody; otherwise one match is enough, and of
/// `without_rights` none may match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrincipalFilter {
    pub users: Vec<UserId>,
    pub organisations: Vec<OrganisationId>,
    pub agents: Vec<AgentId>,
    pub rights: Vec<Right>,
    pub without_rights: Vec<Right>,
}

impl PrincipalFilter {
    pub fn everybody() -> Self {
        Self::default()
    }

    pub fn user(user: UserId) -> Self {
        Self { users: vec![user], ..Self::default() }
    }

    pub fn is_everybody(&self) -> bool {
        let Self { users, organisations, agents, rights, without_rights } = self;
        users.is_empty()
            && organisations.is_empty()
            && agents.is_empty()
            && rights.is_empty()
            && without_rights.is_empty()
    }

    fn includes(&self, principal: &Principal) -> bool {
        let Self { users, organisations, agents, rights, without_rights } = self;
        let Principal { user, organisation, agent, rights: own_rights, token: _, sent: _ } =
            principal;
        (users.is_empty() || users.contains(user))
            && (organisations.is_empty()
                || organisation.as_ref().is_some_and(|own| organisations.contains(own)))
            && (agents.is_empty() || agent.as_ref().is_some_and(|own| agents.contains(own)))
            && (rights.is_empty() || rights.iter().any(|right| own_rights.has(right)))
            && !without_rights.iter().any(|right| own_rights.has(right))
    }
}

/// Which names a rule's pattern is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The ids of all tools and prompts, and the addresses of all resources.
    Everywhere,
    /// The own names and URIs of one source's entries.
    Domain(Domain),
}

/// Which entries of a source a rule is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Entries {
    /// Tools, prompts and resources alike: `*` should hide everything.
    #[default]
    Every,
    Only(EntryKind),
    /// The tools that may change something: all that do not declare themselves read-only.
    Writes,
}

impl Entries {
    /// Reads a pattern from a configuration: a prefix `tool:`, `prompt:` or `resource:` says what
    /// it is about.
    pub fn read(pattern: &str) -> (Self, &str) {
        let (kind, rest) = EntryKind::of_pattern(pattern);
        (Self::of(kind), rest)
    }

    /// The entries of one kind, or of all.
    fn of(kind: Option<EntryKind>) -> Self {
        kind.map_or(Self::Every, Self::Only)
    }

    fn include(self, target: &Target) -> bool {
        match self {
            Self::Every => true,
            Self::Only(own) => own == target.kind,
            Self::Writes => target.kind == EntryKind::Tool && target.hints.read_only != Some(true),
        }
    }
}

/// One rule. The order of rules never matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub id: RuleId,
    pub effect: Effect,
    pub who: PrincipalFilter,
    pub scope: Scope,
    pub entries: Entries,
    /// Compared with a tool's or a prompt's name, or with every way in which a server may read a
    /// resource's URI.
    pub pattern: Glob,
    /// What matches one of these is not meant, though it matches the pattern. They are compared
    /// with the same names.
    pub unless: Vec<WrittenPattern>,
}

impl Rule {
    /// Whether the rule can apply to this kind of entry in this domain, for this principal.
    fn concerns(&self, principal: &Principal, target: &Target) -> bool {
        is_about(&self.who, self.entries, &self.scope, principal, target)
    }

    /// Whether the rule can apply to this kind of entry in this domain, for anybody.
    fn is_in_reach(&self, target: &Target) -> bool {
        is_in_reach(self.entries, &self.scope, target)
    }
}

fn is_about(
    who: &PrincipalFilter,
    entries: Entries,
    scope: &Scope,
    principal: &Principal,
    target: &Target,
) -> bool {
    who.includes(principal) && is_in_reach(entries, scope, target)
}

fn is_in_reach(entries: Entries, scope: &Scope, target: &Target) -> bool {
    entries.include(target)
        && match scope {
            Scope::Everywhere => true,
            Scope::Domain(own) => *own == target.domain,
        }
}

/// The rules in force.
///
/// Deny wins over ask, and ask over allow. Where an allow rule applies to a domain, entries that no
/// allow rule matches are hidden, whether or not an ask rule matches them. Elsewhere everything
/// without a rule is allowed: a source is configured in order to be used.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    /// The same rules as they are matched, in their order.
    compiled: Vec<CompiledRule>,
    index: RuleIndex,
    /// The indexes of the rules that do not apply to everybody.
    narrow: Vec<usize>,
    /// Whether any rule asks for approval.
    asks: bool,
    obligations: Vec<(ObligationRule, EntryPattern)>,
}

/// Obligations for calls of the entries that match, whichever rule admits the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObligationRule {
    pub who: PrincipalFilter,
    pub scope: Scope,
    pub entries: Entries,
    pub pattern: Glob,
    pub obligations: Obligations,
}

impl ObligationRule {
    fn concerns(&self, principal: &Principal, target: &Target) -> bool {
        is_about(&self.who, self.entries, &self.scope, principal, target)
    }
}

/// Which rules of one policy apply to a principal, and what its token leaves.
///
/// Principals for which it is equal see the same things, so views are keyed by it. It means nothing
/// to another policy. While every rule applies to everybody, the set of rules is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApplicableRules {
    rules: Box<[u64]>,
    narrowing: Option<Narrowing>,
}

/// The rule to name if no configured rule matched.
const NO_RULE: &str = "default";
/// The rule to name for a tool that an allow-list leaves out.
const NOT_LISTED: &str = "allow-list";
/// The rule to name for an entry that the caller's token leaves out.
const NOT_IN_TOKEN: &str = "token";

#[derive(Debug, PartialEq, Eq)]
enum Verdict<'a> {
    Allowed(Option<&'a RuleId>),
    Ask(&'a RuleId),
    Hidden(Option<&'a RuleId>),
    /// The caller's token leaves it out.
    Narrowed,
}

impl Verdict<'_> {
    fn severity(&self) -> u8 {
        match self {
            Self::Allowed(_) => 0,
            Self::Ask(_) => 1,
            Self::Hidden(_) | Self::Narrowed => 2,
        }
    }
}

impl Policy {
    pub fn new(rules: Vec<Rule>) -> Self {
        let narrow = (0..rules.len()).filter(|at| !rules[*at].who.is_everybody()).collect();
        let asks = rules.iter().any(|rule| rule.effect == Effect::Ask);
        let compiled = rules.iter().map(CompiledRule::new).collect();
        let index = RuleIndex::of(&rules);
        Self { rules, compiled, index, narrow, asks, obligations: Vec::new() }
    }

    /// The same rules, with obligations for the calls that they admit. This makes nothing visible
    /// or hidden.
    #[must_use]
    pub fn with_obligations(self, obligations: Vec<ObligationRule>) -> Self {
        let with_pattern = |rule: ObligationRule| {
            let pattern = EntryPattern::new(rule.entries, &rule.pattern);
            (rule, pattern)
        };
        Self { obligations: obligations.into_iter().map(with_pattern).collect(), ..self }
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// For each rule, whether it is about any of these entries, whomever it applies to.
    pub fn rules_about<'a>(&self, targets: impl IntoIterator<Item = &'a Target>) -> Vec<bool> {
        let mut is_about_some = vec![false; self.rules.len()];
        for target in targets {
            let subject = Subject::new(target);
            for (at, rule, compiled) in self.rules_for(target) {
                is_about_some[at] = is_about_some[at]
                    || rule.is_in_reach(target)
                        && compiled.matches(&rule.scope, &subject, Effect::Deny);
            }
        }
        is_about_some
    }

    pub fn applicable(&self, principal: &Principal) -> ApplicableRules {
        let mut words = vec![0_u64; self.narrow.len().div_ceil(64)];
        for (bit, at) in self.narrow.iter().enumerate() {
            words[bit / 64] |= u64::from(self.rules[*at].who.includes(principal)) << (bit % 64);
        }
        ApplicableRules { rules: words.into(), narrowing: principal.narrowing().cloned() }
    }

    /// Whether the entry is part of this principal's view.
    pub fn is_visible(&self, principal: &Principal, target: &Target) -> bool {
        let verdict = self.verdict(principal, target);
        !matches!(verdict, Verdict::Hidden(_) | Verdict::Narrowed)
    }

    /// Whether the rules leave this principal anything that a source may list or answer: for sources
    /// that have listed nothing. In doubt they do.
    pub fn may_show(&self, principal: &Principal, domain: &Domain) -> bool {
        let rules: Vec<_> = self.index.about(domain).map(|at| &self.rules[at]).collect();
        foresight::may_show(&rules, principal, domain)
    }

    /// Whether no rule hides the entry from anybody, whoever asks: for texts that everybody reads.
    pub fn is_seen_by_all(&self, target: &Target) -> bool {
        let subject = Subject::new(target);
        let (mut has_list, mut is_listed) = (false, false);
        let rules = self.rules_for(target);
        for (_, rule, compiled) in rules.filter(|(_, rule, _)| rule.is_in_reach(target)) {
            let is_match = || compiled.matches(&rule.scope, &subject, rule.effect);
            match rule.effect {
                Effect::Deny if is_match() => return false,
                Effect::Allow => {
                    has_list = true;
                    is_listed |= rule.who.is_everybody() && is_match();
                }
                Effect::Deny | Effect::Ask => {}
            }
        }
        !has_list || is_listed
    }

    /// Whether any rule applies to this kind of entry in a domain, for this principal, or its token
    /// tells such entries apart.
    pub fn concerns(&self, principal: &Principal, target: &Target) -> bool {
        self.rules_for(target).any(|(_, rule, _)| rule.concerns(principal, target))
            || principal.narrowing().is_some_and(|own| narrowing::compares(own, target))
    }

    /// Whether a call of this entry needs approval, so that it is worth looking for one.
    pub fn asks(&self, principal: &Principal, facts: &Facts, target: &Target) -> bool {
        self.asks && matches!(self.strictest(principal, facts, target), Verdict::Ask(_))
    }

    /// Decides about one call. Pure: the same call and facts give the same answer.
    pub fn admit(&self, call: ResolvedCall, facts: &Facts) -> Admission {
        match self.strictest(&call.call().principal, facts, call.target()) {
            Verdict::Hidden(rule) => {
                let rule = rule.cloned().unwrap_or_else(|| RuleId::new(NOT_LISTED));
                Admission::Denied(Denial { rule, hidden: true })
            }
            Verdict::Narrowed => {
                Admission::Denied(Denial { rule: RuleId::new(NOT_IN_TOKEN), hidden: true })
            }
            Verdict::Ask(rule) if !facts.approves(&call) => {
                let rule = rule.clone();
                Admission::Ask(ApprovalRequest { call, rule })
            }
            Verdict::Ask(rule) => {
                let owed = self.owed(&call, facts, Obligations::confirmed());
                Admission::Granted(Permit::new(call, rule.clone(), owed))
            }
            Verdict::Allowed(rule) => {
                let rule = rule.cloned().unwrap_or_else(|| RuleId::new(NO_RULE));
                let owed = self.owed(&call, facts, Obligations::default());
                Admission::Granted(Permit::new(call, rule, owed))
            }
        }
    }

    /// All obligations of a call, from its principal and from those on whose behalf it is made.
    fn owed(&self, call: &ResolvedCall, facts: &Facts, own: Obligations) -> Obligations {
        let target = call.target();
        let subject = Subject::new(target);
        let is_owed = |(rule, pattern): &&(ObligationRule, EntryPattern)| {
            let others = facts.on_behalf_of.iter();
            let mut all = others.chain([&call.call().principal]);
            // Like a denial, an obligation must not be circumvented.
            all.any(|principal| rule.concerns(principal, target))
                && subject.is_meant(&rule.scope, pattern, Effect::Deny)
        };
        let owed = self.obligations.iter().filter(is_owed);
        owed.fold(own, |owed, (rule, _)| owed.and(&rule.obligations))
    }

    /// The decision for the principal, or a stricter one for somebody on whose behalf it acts.
    fn strictest(&self, principal: &Principal, facts: &Facts, target: &Target) -> Verdict<'_> {
        let others = facts.on_behalf_of.iter().map(|other| self.verdict(other, target));
        others.fold(self.verdict(principal, target), |strictest, other| {
            if other.severity() > strictest.severity() { other } else { strictest }
        })
    }

    /// The rules that may be about a target, with their places, in no particular order.
    fn rules_for(&self, target: &Target) -> impl Iterator<Item = (usize, &Rule, &CompiledRule)> {
        self.index.about(&target.domain).map(|at| (at, &self.rules[at], &self.compiled[at]))
    }

    fn verdict(&self, principal: &Principal, target: &Target) -> Verdict<'_> {
        let mut strongest: Option<(usize, &Rule)> = None;
        let (mut has_list, mut is_listed) = (false, false);
        let subject = Subject::new(target);
        if principal.narrowing().is_some_and(|own| !narrowing::leaves(own, &subject)) {
            return Verdict::Narrowed;
        }
        let rules = self.rules_for(target);
        for (at, rule, compiled) in rules.filter(|(_, rule, _)| rule.concerns(principal, target)) {
            let is_match = compiled.matches(&rule.scope, &subject, rule.effect);
            let is_list = rule.effect == Effect::Allow;
            has_list |= is_list;
            is_listed |= is_list && is_match;
            // Of several, the first one is named.
            let is_stronger =
                |(other, strongest): (usize, &Rule)| (strongest.effect, at) < (rule.effect, other);
            if is_match && strongest.is_none_or(is_stronger) {
                strongest = Some((at, rule));
            }
        }
        match strongest.map(|(_, rule)| rule) {
            Some(Rule { effect: Effect::Deny, id, .. }) => Verdict::Hidden(Some(id)),
            // An ask rule narrows what is allowed: without this, asking for all writes would show
            // what an allow-list was written to hide.
            _ if has_list && !is_listed => Verdict::Hidden(None),
            Some(Rule { effect: Effect::Ask, id, .. }) => Verdict::Ask(id),
            Some(Rule { effect: Effect::Allow, id, .. }) => Verdict::Allowed(Some(id)),
            None => Verdict::Allowed(None),
        }
    }
}
