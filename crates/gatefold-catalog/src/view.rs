use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Weak};

use gatefold_core::{Domain, Target, ToolId, ToolName};
use gatefold_search::PastIndex;

use crate::bits::BitSet;
use crate::lookup::VisibleEntries;
use crate::nearest::{self, Visibility};
use crate::snapshot::{DomainEntry, Snapshot, Tool, VisibleSet};

mod entries;
mod resolved;
mod unlisted;

pub use unlisted::{UnlistedSource, UnlistedState};

/// What a principal may see of a catalogue.
///
/// Listing, searching, resolving and suggesting all read from it. Where something is hidden, it is a
/// view of a snapshot of the rest, so that a hidden entry cannot be told from a missing one.
#[derive(Debug, Clone)]
pub struct View {
    snapshot: Arc<Snapshot>,
    /// What the snapshot is a part of, and which, where something is hidden.
    part: Option<(Weak<Snapshot>, VisibleSet)>,
    /// The domains that the view covers, whether or not anything of them is listed.
    scope: BitSet,
    /// The visible tools except those for apps only.
    tools: BitSet,
    /// The visible tools that are for apps only.
    app_tools: BitSet,
    prompts: BitSet,
    resources: BitSet,
    templates: BitSet,
    tool_count: usize,
    /// What its searches have learnt from use. It does not affect what the view shows.
    past: Option<Arc<PastIndex>>,
    /// Sources that have listed nothing so far. They do not affect what the view shows either.
    unlisted: Arc<[UnlistedSource]>,
    /// The tools that its principal used most, whether or not the view shows them.
    used: Arc<[ToolId]>,
    /// What its session has found, by names at the top level.
    registered: Arc<[String]>,
}

/// Identifies what a view shows. It does not keep the catalogue alive.
#[derive(Debug, Clone)]
pub struct ViewKey {
    /// The whole one, and what is visible of it.
    snapshot: Weak<Snapshot>,
    visible: Option<VisibleSet>,
    epoch: u64,
    tool_count: usize,
    shown: [BitSet; 6],
}

impl ViewKey {
    /// The epoch of the catalogue.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// A catalogue that is gone never equals a later one: its address is not reused while a key refers
/// to it.
impl PartialEq for ViewKey {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.snapshot, &other.snapshot)
            && self.visible == other.visible
            && self.shown == other.shown
    }
}

impl Eq for ViewKey {}

impl Hash for ViewKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.epoch.hash(state);
        // Hashing every bit would cost more than it saves.
        self.tool_count.hash(state);
    }
}

/// The reason why a name means no tool in a view: nothing has it, or several do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedTool {
    /// The likeliest meanings, best first. The first is never a destructive tool.
    pub nearest: Vec<ToolId>,
}

/// A group and how many of its tools are visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupCount<'a> {
    pub name: &'a str,
    pub tool_count: usize,
}

impl View {
    /// The view of the entries that `visible` admits, and of all sources that have listed nothing.
    pub fn new(snapshot: Arc<Snapshot>, visible: impl FnMut(&Target) -> bool) -> Self {
        let visible = VisibleSet::of(&snapshot, visible, |_| true);
        Self::of(snapshot, visible)
    }

    /// The view of a part of a catalogue.
    pub fn of(snapshot: Arc<Snapshot>, visible: VisibleSet) -> Self {
        if visible.is_whole() {
            return Self::whole(snapshot);
        }
        let shown = Self::whole(Arc::new(snapshot.part(&visible)));
        Self { part: Some((Arc::downgrade(&snapshot), visible)), ..shown }
    }

    /// The same view with what another one knows beside what it shows.
    #[must_use]
    pub fn beside(self, other: &Self) -> Self {
        let Self { past, unlisted, used, registered, .. } = other.clone();
        Self { past, unlisted, used, registered, ..self }
    }

    /// The view of somebody who may see everything.
    pub fn whole(snapshot: Arc<Snapshot>) -> Self {
        let tools = snapshot.tools();
        let is_for_apps = |at: usize| tools[at].definition().is_for_apps_only();
        let listed = BitSet::of(tools.len(), |at| !is_for_apps(at));
        Self {
            scope: BitSet::all(snapshot.domains().len()),
            app_tools: BitSet::of(tools.len(), is_for_apps),
            prompts: BitSet::all(snapshot.prompts().len()),
            resources: BitSet::all(snapshot.resources().len()),
            templates: BitSet::all(snapshot.templates().len()),
            tool_count: listed.count(),
            tools: listed,
            snapshot,
            part: None,
            past: None,
            unlisted: Arc::default(),
            used: Arc::default(),
            registered: Arc::default(),
        }
    }

    /// The same view, whose searches also rank by past queries. It shows the same entries, and
    /// [`View::is_same`] still holds.
    #[must_use]
    pub fn with_past(self, past: Arc<PastIndex>) -> Self {
        Self { past: Some(past), ..self }
    }

    /// The same view for somebody who used these tools most. It shows the same entries, and
    /// [`View::is_same`] still holds; a disclosure may show these first.
    #[must_use]
    pub fn with_used(self, used: Arc<[ToolId]>) -> Self {
        Self { used, ..self }
    }

    /// The tools that its principal used most, for a disclosure that shows them. The view may hide
    /// any of them.
    pub fn used(&self) -> &Arc<[ToolId]> {
        &self.used
    }

    /// The same view in a session that has found these, by their names at the top level. It shows
    /// the same entries, and [`View::is_same`] still holds.
    #[must_use]
    pub fn with_registered(self, registered: Arc<[String]>) -> Self {
        Self { registered, ..self }
    }

    /// What its session has found, by names at the top level. The view may hide any of them.
    pub fn registered(&self) -> &Arc<[String]> {
        &self.registered
    }

    /// The same view narrowed to one domain, as if there were no other. Empty for a domain that
    /// does not exist.
    #[must_use]
    pub fn within(&self, domain: &Domain) -> Self {
        self.cut(domain, BitSet::within)
    }

    /// The same view without one domain.
    #[must_use]
    pub fn without(&self, domain: &Domain) -> Self {
        self.cut(domain, BitSet::without)
    }

    /// The same view, without the domains that another view does not cover.
    #[must_use]
    pub fn covered_by(self, other: &Self) -> Self {
        let uncovered = self.scope().map(DomainEntry::domain).filter(|own| !other.covers(own));
        let uncovered: Vec<_> = uncovered.cloned().collect();
        uncovered.iter().fold(self, |view, domain| view.without(domain))
    }

    /// The view with each of its sets cut at what a domain has in it.
    fn cut(&self, domain: &Domain, cut: fn(&BitSet, &Range<usize>) -> BitSet) -> Self {
        let place = self.snapshot.place_of(domain.as_str());
        let entry = place.map(|at| &self.snapshot.domains()[at]);
        let range = |of: fn(&DomainEntry) -> Range<usize>| entry.map(of).unwrap_or_default();
        let tools = cut(&self.tools, &range(DomainEntry::range));
        Self {
            snapshot: Arc::clone(&self.snapshot),
            part: self.part.clone(),
            scope: cut(&self.scope, &place.map_or(0..0, |at| at..at + 1)),
            app_tools: cut(&self.app_tools, &range(DomainEntry::range)),
            prompts: cut(&self.prompts, &range(|entry| entry.entries().prompts.clone())),
            resources: cut(&self.resources, &range(|entry| entry.entries().resources.clone())),
            templates: cut(&self.templates, &range(|entry| entry.entries().templates.clone())),
            tool_count: tools.count(),
            tools,
            past: self.past.clone(),
            unlisted: self.unlisted.clone(),
            used: self.used.clone(),
            registered: self.registered.clone(),
        }
    }

    /// Whether both views show the same entries of the same catalogue.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// Equal for all views that show the same entries of the same catalogue.
    pub fn key(&self) -> ViewKey {
        let Self { snapshot, scope, tools, app_tools, prompts, resources, templates, .. } = self;
        let part = self.part.as_ref();
        ViewKey {
            snapshot: part.map_or_else(|| Arc::downgrade(snapshot), |(whole, _)| whole.clone()),
            visible: part.map(|(_, visible)| visible.clone()),
            epoch: snapshot.epoch(),
            tool_count: self.tool_count,
            shown: [scope, tools, app_tools, prompts, resources, templates].map(Clone::clone),
        }
    }

    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// How many tools are listed: all visible ones except those for apps only.
    pub fn tool_count(&self) -> usize {
        self.tool_count
    }

    /// The visible tools except those for apps only, sorted by domain, then group, then id.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        shown(self.snapshot.tools(), &self.tools, 0..self.snapshot.tools().len())
    }

    /// The visible tools that sources offer only to their own apps, in the same order.
    ///
    /// They are found by name alone: models read [`View::tools`], groups, searches and suggestions,
    /// which leave them out.
    pub fn tools_of_apps(&self) -> impl Iterator<Item = &Tool> {
        shown(self.snapshot.tools(), &self.app_tools, 0..self.snapshot.tools().len())
    }

    /// The domains with anything visible, and those whose source offers nothing at all, sorted.
    pub fn domains(&self) -> impl Iterator<Item = &DomainEntry> {
        self.scope().filter(|entry| self.shows_domain(entry))
    }

    pub fn domain(&self, name: &str) -> Option<&DomainEntry> {
        self.in_scope(name).filter(|entry| self.shows_domain(entry))
    }

    /// The tools of a domain that are in [`View::tools`], sorted by group, then id.
    pub fn tools_in(&self, domain: &DomainEntry) -> impl Iterator<Item = &Tool> {
        shown(self.snapshot.tools(), &self.tools, domain.range())
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

    /// The one tool that a name refers to: by id or function alias, by `{domain}__{name}`, or by
    /// its source's own name if no other tool has it. A name that contains a configured domain never
    /// refers to a tool of another one.
    pub fn resolve(&self, name: &ToolName) -> Result<&Tool, UnresolvedTool> {
        self.find(name.as_str()).ok_or_else(|| UnresolvedTool {
            nearest: nearest::tools(&self.snapshot, self, name.as_str()),
        })
    }

    /// Like [`View::resolve`], without looking for suggestions. A tool for apps only is found by
    /// its id, its alias or `{domain}__{name}`.
    pub fn find(&self, name: &str) -> Option<&Tool> {
        let (names, domains) = (self.snapshot.tool_names(), self.snapshot.domain_names());
        let found = names.find(name, domains, &VisibleTools(self));
        found.map(|at| &self.snapshot.tools()[at])
    }

    /// The tool that has this very id.
    pub fn tool_with_id(&self, id: &ToolId) -> Option<&Tool> {
        let at = self.snapshot.tool_names().exact(id.as_str()).filter(|at| self.knows(*at))?;
        Some(&self.snapshot.tools()[at]).filter(|tool| tool.id() == id)
    }

    /// The tool that a domain's source calls by this name, including those for apps only.
    pub fn tool_named(&self, domain: &Domain, own_name: &str) -> Option<&Tool> {
        let range = self.in_scope(domain.as_str())?.range();
        let mut own = self.snapshot.tool_names().own(own_name);
        let found = own.find(|at| range.contains(at) && self.knows(*at));
        found.map(|at| &self.snapshot.tools()[at])
    }

    pub(crate) fn past(&self) -> Option<&PastIndex> {
        self.past.as_deref()
    }

    /// The place of the tool with exactly this id, if it is in [`View::tools`].
    pub(crate) fn place_of(&self, id: &str) -> Option<usize> {
        let found = self.snapshot.tool_names().exact(id).filter(|at| self.shows(*at));
        found.filter(|at| self.snapshot.tools()[*at].id().as_str() == id)
    }

    /// Whether the tool at a place is in [`View::tools`].
    pub(crate) fn shows(&self, at: usize) -> bool {
        self.tools.has(at)
    }

    /// Whether the tool at a place can be called at all.
    fn knows(&self, at: usize) -> bool {
        self.tools.has(at) || self.app_tools.has(at)
    }

    /// The domains that the view covers, shown or not.
    fn scope(&self) -> impl Iterator<Item = &DomainEntry> {
        shown(self.snapshot.domains(), &self.scope, 0..self.snapshot.domains().len())
    }

    fn covers(&self, domain: &Domain) -> bool {
        self.snapshot.place_of(domain.as_str()).is_some_and(|at| self.scope.has(at))
    }

    fn in_scope(&self, domain: &str) -> Option<&DomainEntry> {
        let at = self.snapshot.place_of(domain).filter(|at| self.scope.has(*at))?;
        Some(&self.snapshot.domains()[at])
    }

    fn shows_domain(&self, domain: &DomainEntry) -> bool {
        let entries = domain.entries();
        domain.offers_nothing()
            || domain.range().any(|at| self.knows(at))
            || entries.prompts.clone().any(|at| self.prompts.has(at))
            || entries.resources.clone().any(|at| self.resources.has(at))
            || entries.templates.clone().any(|at| self.templates.has(at))
    }
}

/// A view's tools, as the targets of names.
struct VisibleTools<'a>(&'a View);

impl VisibleEntries for VisibleTools<'_> {
    fn knows(&self, at: usize) -> bool {
        self.0.knows(at)
    }

    fn shows(&self, at: usize) -> bool {
        self.0.shows(at)
    }

    fn domain(&self, at: usize) -> &Domain {
        self.0.snapshot.tools()[at].domain()
    }

    fn covers(&self, domain: &Domain) -> bool {
        self.0.covers(domain)
    }
}

impl Visibility for View {
    fn shows(&self, place: usize) -> bool {
        self.tools.has(place)
    }

    fn has_domain(&self, name: &str) -> bool {
        self.domain(name).is_some()
    }
}

/// The entries of a list that are in a set and in a range.
fn shown<'a, T>(
    all: &'a [T],
    members: &'a BitSet,
    range: Range<usize>,
) -> impl Iterator<Item = &'a T> {
    range.filter(|at| members.has(*at)).map(|at| &all[at])
}
