//! What rules leave of a source that has listed nothing: whether any name that it may list would be
//! visible.

use gatefold_core::{Digest, Domain, EntryKind, Glob, Hints, Narrowing, Principal, Target, ToolId};

use super::{Effect, Entries, Rule, Scope, narrowing};
use crate::uri::{ADDRESS, UI_ADDRESS, UI_SCHEME};

/// Whether the rules leave a principal anything that a source may list.
pub(super) fn may_show(rules: &[&Rule], principal: &Principal, domain: &Domain) -> bool {
    if rules.iter().any(|rule| denies_whole(rule, principal, domain)) {
        return false;
    }
    let writing = Hints { read_only: Some(false), ..Hints::default() };
    let reading = Hints { read_only: Some(true), ..Hints::default() };
    let samples = [
        sample(domain, EntryKind::Tool, writing),
        sample(domain, EntryKind::Tool, reading),
        sample(domain, EntryKind::Prompt, Hints::default()),
        sample(domain, EntryKind::Resource, Hints::default()),
    ];
    samples.iter().any(|sample| {
        let concerned: Vec<_> =
            rules.iter().copied().filter(|rule| rule.concerns(principal, sample)).collect();
        let spaces = NameSpace::all(sample);
        spaces.iter().any(|space| space.may_show(&concerned, principal.narrowing(), sample))
    })
}

/// Whether a rule hides a source as a whole from a principal. Somebody who denies `{domain}__*` means
/// its resources too, as far as nobody knows whether it has any.
fn denies_whole(rule: &Rule, principal: &Principal, domain: &Domain) -> bool {
    let all = match &rule.scope {
        Scope::Everywhere => format!("{domain}__*"),
        Scope::Domain(own) if own == domain => "*".to_owned(),
        Scope::Domain(_) => return false,
    };
    rule.effect == Effect::Deny
        && rule.entries == Entries::Every
        && rule.unless.is_empty()
        && rule.who.includes(principal)
        && rule.pattern.covers(&Glob::new(all))
}

/// An entry of a kind, to find the rules that are about such entries.
fn sample(domain: &Domain, kind: EntryKind, hints: Hints) -> Target {
    Target {
        kind,
        domain: domain.clone(),
        id: ToolId::new(""),
        name: "".into(),
        digest: Digest::new([0; 32]),
        hints,
    }
}

/// All names that a source's entries of one kind may have behind the gateway, as one way to write
/// them: a prefix, and what the source calls them.
struct NameSpace {
    prefix: String,
    /// What the source's own names begin with that the prefix replaces.
    replaced: &'static str,
    /// What short ids begin with, which are a source's own names.
    short: Option<String>,
}

impl NameSpace {
    fn all(sample: &Target) -> Vec<Self> {
        let domain = &sample.domain;
        match sample.kind {
            EntryKind::Tool | EntryKind::Prompt => vec![Self {
                prefix: format!("{domain}__"),
                replaced: "",
                short: Some(format!("{domain}_")),
            }],
            EntryKind::Resource => vec![
                Self { prefix: format!("{ADDRESS}{domain}/"), replaced: "", short: None },
                Self { prefix: format!("{UI_ADDRESS}{domain}/"), replaced: UI_SCHEME, short: None },
            ],
        }
    }

    fn may_show(&self, rules: &[&Rule], narrowing: Option<&Narrowing>, sample: &Target) -> bool {
        let of = |effect: Effect| rules.iter().filter(move |rule| rule.effect == effect);
        // What a denial leaves out may be all that the source lists.
        let whole = of(Effect::Deny).filter(|rule| rule.unless.is_empty());
        let denied: Vec<Glob> =
            whole.flat_map(|rule| self.forms(&rule.scope, &rule.pattern, Effect::Deny)).collect();
        let is_denied = |form: &Glob| denied.iter().any(|denied| denied.covers(form));
        if is_denied(&self.whole()) {
            return false;
        }
        let allowed = of(Effect::Allow).next().is_some().then(|| {
            let forms = of(Effect::Allow)
                .flat_map(|rule| self.forms(&rule.scope, &rule.pattern, Effect::Allow));
            forms.filter(|form| !is_denied(form)).collect()
        });
        let patterns = narrowing.and_then(|own| narrowing::patterns(own, sample));
        let left = patterns.map(|patterns| {
            let forms =
                patterns.flat_map(|pattern| self.forms(&Scope::Everywhere, pattern, Effect::Allow));
            forms.filter(|form| !is_denied(form)).collect()
        });
        match (allowed, left) {
            (None, None) => true,
            (Some(only), None) | (None, Some(only)) => !Vec::<Glob>::is_empty(&only),
            (Some(allowed), Some(left)) => {
                allowed.iter().any(|one| left.iter().any(|other| one.meets(other)))
            }
        }
    }

    fn whole(&self) -> Glob {
        Glob::new(format!("{}*", self.prefix))
    }

    /// A pattern in the forms that are about names of this space, written as they are. A denial is
    /// never about more than it was, and any other pattern never about less.
    fn forms(&self, scope: &Scope, pattern: &Glob, effect: Effect) -> Vec<Glob> {
        let written = pattern.as_str();
        let own = |own: &str| Glob::new(format!("{}{own}", self.prefix));
        // Whether the pattern may be about, or denies all of, the names that begin so.
        let is_about = |start: &str| {
            let all = Glob::new(format!("{start}*"));
            if effect == Effect::Deny { pattern.covers(&all) } else { pattern.meets(&all) }
        };
        let forms = match scope {
            Scope::Domain(_) => match written.strip_prefix(self.replaced) {
                Some(rest) => vec![own(rest)],
                None => is_about(self.replaced).then(|| own("*")).into_iter().collect(),
            },
            Scope::Everywhere => {
                let is_short = |short: &&String| {
                    // A short id has no `__`.
                    !written.contains("__")
                        && (written.starts_with(short.as_str())
                            || effect != Effect::Deny && is_about(short))
                };
                let short = self.short.as_ref().filter(is_short).map(|_| own(written));
                short.into_iter().chain([pattern.clone()]).collect()
            }
        };
        forms.into_iter().filter(|form| form.meets(&self.whole())).collect()
    }
}
