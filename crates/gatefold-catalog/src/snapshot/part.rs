//! Which part of a catalogue somebody may see, and that part as a catalogue of its own.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use gatefold_core::{ClientAbilities, Domain, Target};

use super::{DomainEntry, Indexes, Snapshot, Tool, assigned_groups, sort};
use crate::bits::BitSet;
use crate::entry::{Entries, Entry};
use crate::kind::{ToolPlace, TopicTool, TopicUse};

/// The visible entries of a snapshot, by their places, and the domains that have any or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleSet {
    pub(crate) domains: BitSet,
    pub(crate) tools: BitSet,
    pub(crate) prompts: BitSet,
    pub(crate) resources: BitSet,
    pub(crate) templates: BitSet,
    /// The domains whose sources list nothing to the client.
    bare: BitSet,
    is_whole: bool,
}

impl Hash for VisibleSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Hashing every bit would cost more than it saves.
        self.domains.hash(state);
        self.tools.count().hash(state);
    }
}

impl VisibleSet {
    /// The entries that `visible` admits. A domain that has none of them is left out, unless
    /// `may_show` admits it and its source may turn out to have others: it has listed nothing, or
    /// it has resources that it does not list.
    pub fn of(
        snapshot: &Snapshot,
        visible: impl FnMut(&Target) -> bool,
        may_show: impl FnMut(&Domain) -> bool,
    ) -> Self {
        Self::of_client(snapshot, None, visible, may_show)
    }

    /// The same for a client, if there is one: without the tools that sources list only to others.
    pub fn of_client(
        snapshot: &Snapshot,
        client: Option<ClientAbilities>,
        mut visible: impl FnMut(&Target) -> bool,
        mut may_show: impl FnMut(&Domain) -> bool,
    ) -> Self {
        let all = snapshot.tools();
        let is_listed =
            |tool: &Tool| client.is_none_or(|client| tool.definition().clients().include(client));
        let tools = BitSet::of(all.len(), |at| is_listed(&all[at]) && visible(all[at].target()));
        let tools = snapshot.without_idle_searches(tools);
        let mut of =
            |entries: &[Entry]| BitSet::of(entries.len(), |at| visible(entries[at].target()));
        let (prompts, resources) = (of(snapshot.prompts()), of(snapshot.resources()));
        let templates = of(snapshot.templates());
        let has_any = |entry: &DomainEntry| {
            let any =
                |range: Range<usize>, shown: &BitSet| range.into_iter().any(|at| shown.has(at));
            let others = entry.entries();
            any(entry.range(), &tools)
                || any(others.prompts.clone(), &prompts)
                || any(others.resources.clone(), &resources)
                || any(others.templates.clone(), &templates)
        };
        let is_bare = |entry: &DomainEntry| {
            !entry.range().is_empty()
                && entry.entries().is_empty()
                && !all[entry.range()].iter().any(is_listed)
        };
        let count = snapshot.domains().len();
        let bare = BitSet::of(count, |at| is_bare(&snapshot.domains()[at]));
        let domains = BitSet::of(count, |at| {
            let entry = &snapshot.domains()[at];
            let may_have_others =
                entry.offers_nothing() || entry.entries().offers_resources || bare.has(at);
            has_any(entry) || may_have_others && may_show(entry.domain())
        });
        Self { domains, tools, prompts, resources, templates, bare, is_whole: false }
            .note_whole(snapshot)
    }

    /// What both sets of one snapshot have.
    #[must_use]
    pub fn both(&self, other: &Self, snapshot: &Snapshot) -> Self {
        let both = Self {
            domains: self.domains.both(&other.domains),
            tools: self.tools.both(&other.tools),
            prompts: self.prompts.both(&other.prompts),
            resources: self.resources.both(&other.resources),
            templates: self.templates.both(&other.templates),
            bare: self.bare.both(&other.bare),
            is_whole: false,
        };
        both.note_whole(snapshot)
    }

    /// Whether nothing is hidden.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn note_whole(self, snapshot: &Snapshot) -> Self {
        let is_whole = self.domains.count() == snapshot.domains().len()
            && self.tools.count() == snapshot.tools().len()
            && self.prompts.count() == snapshot.prompts().len()
            && self.resources.count() == snapshot.resources().len()
            && self.templates.count() == snapshot.templates().len();
        Self { is_whole, ..self }
    }
}

impl Snapshot {
    /// These tools without those that search several sources of a kind and would have fewer than two to search.
    /// Whoever sees one or none must not learn from such a tool that there are others.
    fn without_idle_searches(&self, tools: BitSet) -> BitSet {
        let of_all = |entry: &&DomainEntry| searches_of_all(entry).next().is_some();
        let idle: Vec<usize> = self
            .domains
            .iter()
            .filter(of_all)
            .flat_map(|entry| entry.range().map(move |at| (entry, at)))
            .filter(|(entry, at)| {
                let name = self.tools[*at].definition().name();
                searches_of_all(entry).any(|own| own == name)
                    && self.namesakes(entry, *at).filter(|other| tools.has(*other)).take(2).count()
                        < 2
            })
            .map(|(_, at)| at)
            .collect();
        if idle.is_empty() {
            return tools;
        }
        BitSet::of(self.tools.len(), |at| tools.has(at) && !idle.contains(&at))
    }

    /// The tools of a name in the other domains of a kind, by their places.
    fn namesakes<'s>(
        &'s self,
        entry: &'s DomainEntry,
        at: usize,
    ) -> impl Iterator<Item = usize> + 's {
        let name = self.tools[at].definition().name();
        let others = self
            .domains
            .iter()
            .filter(|other| other.kind() == entry.kind() && other.domain() != entry.domain());
        others
            .flat_map(DomainEntry::range)
            .filter(move |other| self.tools[*other].definition().name() == name)
    }

    /// The catalogue of somebody who sees only a part of this one: as if its sources offered nothing
    /// else. Ids stay as they are.
    ///
    /// What is counted over the tools (the rarity of words, the nouns that groups share, who else has
    /// a name) is counted over the part, so nothing in it tells of the rest.
    pub(crate) fn part(&self, visible: &VisibleSet) -> Self {
        let (mut domains, mut tools) = (Vec::new(), Vec::new());
        let mut entries = Entries::default();
        let all = self.domains.iter().enumerate();
        for (at, domain) in all.filter(|(at, _)| visible.domains.has(*at)) {
            let start = tools.len();
            tools.extend(self.visible_tools(domain, visible));
            domains.push(DomainEntry {
                tools: start..tools.len(),
                offers_nothing: domain.offers_nothing || visible.bare.has(at),
                entries: entries.add_visible(
                    &self.entries,
                    &domain.entries,
                    [&visible.prompts, &visible.resources, &visible.templates],
                ),
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

/// The names of the tools by which a domain searches all sources of its kind, if it is there for that: a source that
/// merely has the name has things of its own to search.
fn searches_of_all(entry: &DomainEntry) -> impl Iterator<Item = &'static str> {
    let tools = match entry.kind().place() {
        ToolPlace::Topics(tools) => *tools,
        ToolPlace::Top | ToolPlace::Behind(_) => &[],
    };
    let supplement = entry.manifest().and_then(|manifest| manifest.supplement());
    let has_topics = supplement.is_some_and(|own| !own.topics.is_empty());
    let domain = entry.domain().as_str();
    let is_own = move |tool: &&TopicTool| {
        !has_topics && matches!(tool.usage, TopicUse::Search { all } if all == domain)
    };
    tools.iter().filter(is_own).map(|tool| tool.name)
}
