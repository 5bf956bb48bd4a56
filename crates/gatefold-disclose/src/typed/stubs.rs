//! A line for each source, in shorter and shorter forms.

use gatefold_catalog::{DomainEntry, MetaTool, Parts, StubForm, View, one_line};

/// How many names a stub has, and the length of its description in characters, from the best to the
/// shortest.
const FORMS: [(usize, usize); 8] =
    [(usize::MAX, 120), (30, 120), (20, 80), (10, 80), (5, 50), (3, 30), (0, 30), (0, 0)];

/// The stubs of sources, in each of their forms.
pub(super) fn forms(
    view: &View,
    meta: &'static MetaTool,
    entries: &[&DomainEntry],
) -> impl Iterator<Item = Vec<String>> {
    let sources: Vec<_> =
        entries.iter().map(|entry| (*entry, part_names(view, meta, entry))).collect();
    FORMS.into_iter().map(move |(names, length)| {
        sources.iter().map(|(entry, parts)| stub(meta, entry, parts, names, length)).collect()
    })
}

/// The names of what a source has.
fn part_names(view: &View, meta: &MetaTool, entry: &DomainEntry) -> Vec<String> {
    let shown = |name: &str| one_line(name, usize::MAX);
    match meta.parts {
        Parts::Topics(tool) => {
            let topics = view.topics_in(entry).filter(|topic| topic.tool == tool);
            topics.map(|topic| shown(&topic.name)).collect()
        }
        Parts::Tools => view.tools_in(entry).map(|tool| shown(tool.definition().name())).collect(),
    }
}

/// `  - jira: Project management -- actions: create_issue, get_issue` or
/// `  - github: GitHub (35 tools: create_issue, list_repos ...)`
fn stub(
    meta: &MetaTool,
    entry: &DomainEntry,
    parts: &[String],
    names: usize,
    length: usize,
) -> String {
    let start = match one_line(entry.description(), length) {
        about if about.is_empty() => format!("\n  - {}", entry.domain()),
        about => format!("\n  - {}: {about}", entry.domain()),
    };
    let (noun, count) = (meta.part, parts.len());
    let counted = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    let most = names.min(meta.named_parts);
    let shown = parts[..most.min(count)].join(", ");
    match meta.stub {
        _ if parts.is_empty() => start,
        StubForm::Dashed if shown.is_empty() => format!("{start} -- {counted}"),
        StubForm::Dashed if most < count => {
            format!("{start} -- {noun}s: {shown}, +{} more", count - most)
        }
        StubForm::Dashed => format!("{start} -- {noun}s: {shown}"),
        StubForm::Counted if shown.is_empty() => format!("{start} ({counted})"),
        StubForm::Counted if most < count => format!("{start} ({counted}: {shown} ...)"),
        StubForm::Counted => format!("{start} ({counted}: {shown})"),
    }
}
