//! Which part of a catalogue somebody may see.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use gatefold_core::{Domain, Target};

use crate::bits::BitSet;
use crate::entry::Entry;
use crate::snapshot::{DomainEntry, Snapshot};

/// The visible entries of a snapshot, by their places, and the domains that have any or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleSet {
    pub(crate) domains: BitSet,
    pub(crate) tools: BitSet,
    pub(crate) prompts: BitSet,
    pub(crate) resources: BitSet,
    pub(crate) templates: BitSet,
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
        mut visible: impl FnMut(&Target) -> bool,
        mut may_show: impl FnMut(&Domain) -> bool,
    ) -> Self {
        let tools = snapshot.tools();
        let tools = BitSet::of(tools.len(), |at| visible(tools[at].target()));
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
        let domains = BitSet::of(snapshot.domains().len(), |at| {
            let entry = &snapshot.domains()[at];
            let may_have_others = entry.offers_nothing() || entry.entries().offers_resources;
            has_any(entry) || may_have_others && may_show(entry.domain())
        });
        Self { domains, tools, prompts, resources, templates, is_whole: false }.judged(snapshot)
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
            is_whole: false,
        };
        both.judged(snapshot)
    }

    /// Whether nothing is hidden.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn judged(self, snapshot: &Snapshot) -> Self {
        let is_whole = self.domains.count() == snapshot.domains().len()
            && self.tools.count() == snapshot.tools().len()
            && self.prompts.count() == snapshot.prompts().len()
            && self.resources.count() == snapshot.resources().len()
            && self.templates.count() == snapshot.templates().len();
        Self { is_whole, ..self }
    }
}
