//! What a rule's patterns are compared with.

use std::cell::OnceCell;

use gatefold_core::{EntryKind, EntryPattern as WrittenPattern, Target, ToolId};

use super::{Effect, Entries, Rule, Scope};
use crate::Glob;
use crate::uri::{Readings, UriPattern};

/// What patterns are compared with, computed when first needed.
pub(super) struct Subject<'a> {
    pub(super) target: &'a Target,
    /// For a tool or a prompt: its names beside its id.
    names: OnceCell<Vec<ToolId>>,
    /// For a resource: the readings of its own URI, and of its address behind the gateway.
    own: OnceCell<Readings>,
    public: OnceCell<Readings>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        let (names, own, public) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { target, names, own, public }
    }

    /// Whether a pattern of this effect matches the target.
    pub(super) fn is_meant(&self, scope: &Scope, pattern: &EntryPattern, effect: Effect) -> bool {
        if self.target.kind != EntryKind::Resource {
            return self.is_named(scope, &pattern.name, effect);
        }
        let readings = match scope {
            Scope::Domain(_) => self.own(),
            Scope::Everywhere => {
                self.public.get_or_init(|| self.own().clone().behind_id_of(self.target))
            }
        };
        pattern.uri.as_ref().is_some_and(|uri| match effect {
            Effect::Allow => uri.means(readings),
            Effect::Ask | Effect::Deny => uri.may_mean(readings),
        })
    }

    /// Whether a tool or a prompt matches, by its own name or by any name that belongs only to its
    /// domain.
    fn is_named(&self, scope: &Scope, pattern: &Glob, effect: Effect) -> bool {
        let Target { domain, name, .. } = self.target;
        if let Scope::Domain(_) = scope {
            let rest = pattern.as_str().strip_prefix(domain.as_str());
            let is_long = rest.is_some_and(|rest| rest.starts_with("__"));
            return pattern.matches(name) || is_long && self.goes_by(pattern);
        }
        // Somebody who writes `{domain}__*` means everything in the domain, including short ids.
        // If a longer domain is configured later, that must not lift a denial.
        self.goes_by(pattern)
            || effect != Effect::Allow
                && name.starts_with(domain.as_str())
                && pattern.matches(ToolId::of(domain, name).as_str())
    }

    fn goes_by(&self, pattern: &Glob) -> bool {
        let others = || self.names.get_or_init(|| self.target.other_names().collect());
        pattern.matches(self.target.id.as_str())
            || others().iter().any(|name| pattern.matches(name.as_str()))
    }

    fn own(&self) -> &Readings {
        self.own.get_or_init(|| Readings::of(&self.target.name))
    }
}

/// A pattern in the forms that are compared with names and, if it can be about resources, with
/// URIs.
#[derive(Debug, Clone)]
pub(super) struct EntryPattern {
    name: Glob,
    uri: Option<UriPattern>,
}

impl EntryPattern {
    pub(super) fn new(entries: Entries, pattern: &Glob) -> Self {
        let may_be_uri = matches!(entries, Entries::Every | Entries::Only(EntryKind::Resource));
        Self { name: pattern.clone(), uri: may_be_uri.then(|| UriPattern::new(pattern)) }
    }
}

/// A rule with its patterns in those forms.
#[derive(Debug, Clone)]
pub(super) struct CompiledRule {
    pattern: EntryPattern,
    /// What it is not about, and which kind of entry each is for.
    unless: Box<[(Entries, EntryPattern)]>,
}

impl CompiledRule {
    pub(super) fn new(rule: &Rule) -> Self {
        let exception = |own: &WrittenPattern| {
            let entries = Entries::of(own.kind);
            (entries, EntryPattern::new(entries, &own.name))
        };
        Self {
            pattern: EntryPattern::new(rule.entries, &rule.pattern),
            unless: rule.unless.iter().map(exception).collect(),
        }
    }

    /// Whether the rule's patterns match the target as patterns of this effect do.
    ///
    /// An exception lifts what the rule does, so in doubt it is one for a rule that shows, and none
    /// for a rule that asks or hides.
    pub(super) fn matches(&self, scope: &Scope, subject: &Subject<'_>, effect: Effect) -> bool {
        let lifted_as = match effect {
            Effect::Allow => Effect::Deny,
            Effect::Ask | Effect::Deny => Effect::Allow,
        };
        let is_exception = |(entries, pattern): &(Entries, EntryPattern)| {
            entries.include(subject.target) && subject.is_meant(scope, pattern, lifted_as)
        };
        subject.is_meant(scope, &self.pattern, effect) && !self.unless.iter().any(is_exception)
    }
}
