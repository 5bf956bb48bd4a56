use std::sync::Arc;

use gatefold_core::{EntryKind, Target};

use super::View;
use crate::entry::Entry;
use crate::request::ResolvedEntry;
use crate::snapshot::Tool;

impl View {
    /// Like [`View::find`], as an owned entry.
    pub fn find_tool(&self, name: &str) -> Option<ResolvedEntry> {
        self.find(name).map(|tool| self.resolved(tool))
    }

    /// A tool of this view as an entry.
    pub fn resolved(&self, tool: &Tool) -> ResolvedEntry {
        let place = self.snapshot.tools().element_offset(tool);
        ResolvedEntry { target: Arc::clone(tool.target()), place }
    }

    /// A prompt of this view as an entry.
    pub fn resolved_prompt(&self, prompt: &Entry) -> ResolvedEntry {
        let place = self.snapshot.prompts().element_offset(prompt);
        ResolvedEntry { target: Arc::clone(prompt.target()), place }
    }

    /// A resource as an entry.
    pub fn resolved_resource(&self, target: Arc<Target>) -> ResolvedEntry {
        ResolvedEntry { target, place: None }
    }

    /// Whether this view shows an entry. It does not if the entry comes from another snapshot's
    /// view or is hidden in this one.
    pub fn has(&self, entry: &ResolvedEntry) -> bool {
        let ResolvedEntry { target, place } = entry;
        let is_at = |own: Option<&Arc<Target>>| own.is_some_and(|own| Arc::ptr_eq(own, target));
        match (target.kind, place) {
            (EntryKind::Tool, Some(at)) => {
                is_at(self.snapshot.tools().get(*at).map(Tool::target)) && self.knows(*at)
            }
            (EntryKind::Prompt, Some(at)) => {
                is_at(self.snapshot.prompts().get(*at).map(Entry::target)) && self.prompts.has(*at)
            }
            (EntryKind::Resource, _) => {
                let domain = self.in_scope(target.domain.as_str());
                let own = domain.and_then(|domain| self.resource_of(domain, &target.name));
                own.is_some_and(|own| own == *target)
            }
            (EntryKind::Tool | EntryKind::Prompt, None) => false,
        }
    }

    /// The tool behind an entry of this view.
    pub fn tool_of(&self, entry: &ResolvedEntry) -> Option<&Tool> {
        let at = entry.place.filter(|_| entry.target.kind == EntryKind::Tool && self.has(entry))?;
        self.snapshot.tools().get(at)
    }
}
