//! A line for each resource, in shorter and shorter forms.

use gatefold_catalog::{DomainEntry, View, one_line};

use super::database::DESCRIBE_TABLE;
use super::kinds::ResourceKind;

/// The most tables that a database's stub names.
const NAMED_TABLES: usize = 10;

/// How many names a stub has, and the length of its description in characters, from the best to the
/// shortest.
const FORMS: [(usize, usize); 8] =
    [(usize::MAX, 120), (30, 120), (20, 80), (10, 80), (5, 50), (3, 30), (0, 30), (0, 0)];

/// The stubs of resources, in each of their forms.
pub(super) fn forms(
    view: &View,
    kind: ResourceKind,
    entries: &[&DomainEntry],
) -> impl Iterator<Item = Vec<String>> {
    let resources: Vec<_> =
        entries.iter().map(|entry| (*entry, part_names(view, kind, entry))).collect();
    FORMS.into_iter().map(move |(names, length)| {
        resources.iter().map(|(entry, parts)| stub(kind, entry, parts, names, length)).collect()
    })
}

/// The names of a resource's actions, tables or tools.
fn part_names(view: &View, kind: ResourceKind, entry: &DomainEntry) -> Vec<String> {
    let shown = |name: &str| one_line(name, usize::MAX);
    match kind {
        ResourceKind::Database => {
            let tables = view.topics_in(entry).filter(|topic| topic.tool == DESCRIBE_TABLE);
            tables.map(|topic| shown(&topic.name)).collect()
        }
        ResourceKind::Connector | ResourceKind::Server => {
            view.tools_in(entry).map(|tool| shown(tool.definition().name())).collect()
        }
    }
}

/// `  - jira: Project management -- actions: create_issue, get_issue` or
/// `  - github: GitHub (35 tools: create_issue, list_repos ...)`
fn stub(
    kind: ResourceKind,
    entry: &DomainEntry,
    parts: &[String],
    names: usize,
    length: usize,
) -> String {
    let start = match one_line(entry.description(), length) {
        about if about.is_empty() => format!("\n  - {}", entry.domain()),
        about => format!("\n  - {}: {about}", entry.domain()),
    };
    let (noun, count) = (kind.part(), parts.len());
    let counted = if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    let most = if kind == ResourceKind::Database { names.min(NAMED_TABLES) } else { names };
    let shown = parts[..most.min(count)].join(", ");
    match kind {
        _ if parts.is_empty() => start,
        ResourceKind::Connector if shown.is_empty() => format!("{start} -- {counted}"),
        ResourceKind::Connector if most < count => {
            format!("{start} -- {noun}s: {shown}, +{} more", count - most)
        }
        ResourceKind::Connector => format!("{start} -- {noun}s: {shown}"),
        _ if shown.is_empty() => format!("{start} ({counted})"),
        _ if most < count => format!("{start} ({counted}: {shown} ...)"),
        _ => format!("{start} ({counted}: {shown})"),
    }
}
