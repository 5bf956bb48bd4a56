use std::sync::Arc;

use super::{DomainEntry, Indexes, Snapshot, Tool, assigned_groups, sort};
use crate::entry::Entries;
use crate::visible::VisibleSet;

impl Snapshot {
    /// The catalogue of somebody who sees only a part of this one: as if its sources offered nothing
    /// else. Ids stay as they are.
    ///
    /// What is counted over the tools (the rarity of words, the nouns that groups share, who else has
    /// a name) is counted over the part, so nothing in it tells of the rest.
    pub(crate) fn part(&self, visible: &VisibleSet) -> Self {
        let (mut domains, mut tools) = (Vec::new(), Vec::new());
        let mut entries = Entries::default();
        let all = self.domains.iter().enumerate();
        for (_, domain) in all.filter(|(at, _)| visible.domains.has(*at)) {
            let start = tools.len();
            tools.extend(self.visible_tools(domain, visible));
            domains.push(DomainEntry {
                tools: start..tools.len(),
                entries: entries.add_visible(&self.entries, &domain.entries, visible),
                ..domain.clone()
            });
        }
        let (names, indexes) = (Arc::clone(&self.domain_names), Indexes::after(&self.indexes));
        Self::of(self.epoch, names, domains, tools, entries, indexes).with_encoder_of(self)
    }

    fn visible_tools(&self, domain: &DomainEntry, visible: &VisibleSet) -> Vec<Tool> {
        let places = domain.range().filter(|at| visible.tools.has(*at));
        let mut tools: Vec<_> = places.map(|at| self.tools[at].clone()).collect();
        if tools.len() < domain.range().len() {
            let definitions = tools.iter().map(Tool::definition);
            let groups = assigned_groups(&domain.domain, definitions, &domain.groups);
            for (tool, group) in tools.iter_mut().zip(groups) {
                tool.group = group;
            }
            sort(&mut tools);
        }
        tools
    }
}
