//! What an access token leaves of a view.

use gatefold_core::{Domain, EntryKind, EntryPattern as WrittenPattern, Narrowing, Target};

use super::{Effect, Entries, EntryPattern, Scope, Subject};
use crate::Glob;

/// Whether a token leaves an entry.
pub(super) fn leaves(narrowing: &Narrowing, subject: &Subject<'_>) -> bool {
    if narrowing.read_only && Entries::Writes.include(subject.target) {
        return false;
    }
    let Some(patterns) = &narrowing.only else { return true };
    patterns.iter().any(|pattern| shows(pattern, subject))
}

/// Whether the patterns tell one resource of this domain from another.
pub(super) fn compares(narrowing: &Narrowing, target: &Target) -> bool {
    let is_whole = |pattern: &WrittenPattern| shows_source(pattern, &target.domain);
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
    let names = |name: &Glob| {
        name.as_str() == "*"
            || name.as_str().strip_prefix(domain.as_str()).is_some_and(|it| it.starts_with("__"))
    };
    pattern.kind.is_none() && names(&pattern.name)
}
