use std::sync::Arc;

use gatefold_core::{ToolId, ToolName, ToolTarget};

use crate::nearest;
use crate::snapshot::{DomainEntry, Snapshot, Tool};

/// A snapshot with the set of its tools that somebody may see.
///
/// Listing, searching, resolving and suggesting all read from it, so that what is hidden cannot
/// be told from what is not there.
#[derive(Debug, Clone)]
pub struct View {
    snapshot: Arc<Snapshot>,
    visible: Arc<[u64]>,
    tool_count: usize,
}

/// A name that means no tool, or more than one, in a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// The likeliest meanings, best first. The first never is a destructive tool.
    pub nearest: Vec<ToolId>,
}

/// A group and how many of its tools a view shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupCount<'a> {
    pub name: &'a str,
    pub tool_count: usize,
}

impl View {
    pub fn new(snapshot: Arc<Snapshot>, mut visible: impl FnMut(&ToolTarget) -> bool) -> Self {
        let mut bits = vec![0_u64; snapshot.tools().len().div_ceil(64)];
        let mut tool_count = 0;
        for (at, tool) in snapshot.tools().iter().enumerate() {
            if visible(tool.target()) {
                bits[at / 64] |= 1 << (at % 64);
                tool_count += 1;
            }
        }
        Self { snapshot, visible: bits.into(), tool_count }
    }

    /// The view of somebody who may see everything.
    pub fn whole(snapshot: Arc<Snapshot>) -> Self {
        Self::new(snapshot, |_| true)
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    pub fn tool_count(&self) -> usize {
        self.tool_count
    }

    /// The visible tools, sorted by domain, then group, then id.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        let all = self.snapshot.tools().iter().enumerate();
        all.filter(|(at, _)| self.shows(*at)).map(|(_, tool)| tool)
    }

    /// The domains with a visible tool, and those whose source has none at all, sorted.
    pub fn domains(&self) -> impl Iterator<Item = &DomainEntry> {
        self.snapshot.domains().iter().filter(|entry| self.shows_domain(entry))
    }

    pub fn domain(&self, name: &str) -> Option<&DomainEntry> {
        let domains = self.snapshot.domains();
        let at = domains.binary_search_by(|entry| entry.domain().as_str().cmp(name)).ok()?;
        Some(&domains[at]).filter(|entry| self.shows_domain(entry))
    }

    /// The visible tools of a domain, sorted by group, then id.
    pub fn tools_in(&self, domain: &DomainEntry) -> impl Iterator<Item = &Tool> {
        domain.range().filter(|at| self.shows(*at)).map(|at| &self.snapshot.tools()[at])
    }

    /// The groups of a domain with a visible tool, sorted.
    pub fn groups(&self, domain: &DomainEntry) -> Vec<GroupCount<'_>> {
        let mut groups: Vec<GroupCount<'_>> = Vec::new();
        for tool in self.tools_in(domain) {
            match groups.last_mut() {
                Some(last) if last.name == tool.group() => last.tool_count += 1,
                _ => groups.push(GroupCount { name: tool.group(), tool_count: 1 }),
            }
        }
        groups
    }

    /// The one tool that a name means: by id or function alias, by `{domain}__{name}`, or by its
    /// source's own name when no other visible tool has it.
    pub fn resolve(&self, name: &ToolName) -> Result<&Tool, Miss> {
        self.find(name.as_str())
            .ok_or_else(|| Miss { nearest: nearest::tools(self, name.as_str()) })
    }

    /// As [`View::resolve`], without looking for what else may have been meant.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        let names = self.snapshot.names();
        let visible = |places: &[usize]| -> Vec<usize> {
            places.iter().copied().filter(|at| self.shows(*at)).collect()
        };
        let exact = names.exact.get(&ToolId::new(name)).copied().filter(|at| self.shows(*at));
        let long = || visible(names.long.get(name)?).first().copied();
        let bare = || match visible(names.bare.get(name)?)[..] {
            [only] => Some(only),
            _ => None,
        };
        exact.or_else(long).or_else(bare).map(|at| &self.snapshot.tools()[at])
    }

    pub(crate) fn shows(&self, at: usize) -> bool {
        self.visible[at / 64] >> (at % 64) & 1 == 1
    }

    fn shows_domain(&self, entry: &DomainEntry) -> bool {
        entry.range().is_empty() || entry.range().any(|at| self.shows(at))
    }
}
