//! What an access token leaves of a view.

use gatefold_core::{Domain, EntryKind, EntryPattern as WrittenPattern, Narrowing, Target};

use super::{Effect, Entries, EntryPattern, Scope, Subject};
use crate::Glob;

/// Whether a token leaves an entry.
pub(super) fn leaves(narrowing: &Narrowing, subject: &Subject<'_>) -> bool {
    if narrowing.read_only && Entries::Writes.include(subject.target) {
        return false;
    }
    if narrowing.only_named_of.as_ref() == Some(&subject.target.domain) {
        return named(narrowing).any(|pattern| pattern.matches(&named_as(subject.target)));
    }
    let Some(patterns) = &narrowing.only else { return true };
    patterns.iter().any(|pattern| shows(pattern, subject))
}

/// The patterns that name the source of which only what is named is left, such as `agents__clerk`.
fn named(narrowing: &Narrowing) -> impl Iterator<Item = &Glob> {
    let patterns = narrowing.only.as_deref().unwrap_or_default().iter();
    patterns.map(|pattern| &pattern.name).filter(|name| {
        narrowing.only_named_of.as_ref().is_some_and(|domain| begins_with(name, domain))
    })
}

/// An entry's name to such a pattern: `{domain}__{name}`, for a resource with what its address says after
/// the scheme.
fn named_as(target: &Target) -> String {
    let own = target.name.split_once("://").map_or(&*target.name, |(_, own)| own);
    format!("{}__{own}", target.domain)
}

/// Whether the patterns tell one resource of this domain from another.
pub(super) fn compares(narrowing: &Narrowing, target: &Target) -> bool {
    let is_whole = |pattern: &WrittenPattern| shows_source(pattern, &target.domain);
    if narrowing.only_named_of.as_ref() == Some(&target.domain) {
        return true;
    }
    target.kind == EntryKind::Resource
        && narrowing.only.as_ref().is_some_and(|patterns| !patterns.iter().any(is_whole))
}

/// The patterns of which one has to match, for a kind of entry of a domain; none if the token leaves
/// all such entries. No pattern for tools that may write, if it leaves only those that read.
pub(super) fn patterns<'a>(
    narrowing: &'a Narrowing,
    sample: &'a Target,
) -> Option<impl Iterator<Item = &'a Glob>> {
    let is_barred = narrowing.read_only && Entries::Writes.include(sample);
    let patterns: &[WrittenPattern] = match &narrowing.only {
        _ if is_barred => &[],
        None => return None,
        Some(patterns) => patterns,
    };
    let is_whole = |pattern: &WrittenPattern| {
        sample.kind != EntryKind::Tool && shows_source(pattern, &sample.domain)
    };
    let fitting = patterns.iter().filter(|pattern| Entries::of(pattern.kind).include(sample));
    (!patterns.iter().any(is_whole)).then(|| fitting.map(|pattern| &pattern.name))
}

/// A pattern for a source's tools shows that source's prompts and resources too: its tools answer
/// with links to resources, and its definitions name them.
fn shows(pattern: &WrittenPattern, subject: &Subject<'_>) -> bool {
    let (target, entries) = (subject.target, Entries::of(pattern.kind));
    if target.kind != EntryKind::Tool && shows_source(pattern, &target.domain) {
        return true;
    }
    let compiled = || EntryPattern::new(entries, &pattern.name);
    entries.include(target) && subject.is_meant(&Scope::Everywhere, &compiled(), Effect::Allow)
}

/// Whether a pattern names a source, as `mail__send` and `mail__*` do, and no kind of its entries.
fn shows_source(pattern: &WrittenPattern, domain: &Domain) -> bool {
    let name = &pattern.name;
    pattern.kind.is_none() && (name.as_str() == "*" || begins_with(name, domain))
}

fn begins_with(name: &Glob, domain: &Domain) -> bool {
    name.as_str().strip_prefix(domain.as_str()).is_some_and(|rest| rest.starts_with("__"))
}
