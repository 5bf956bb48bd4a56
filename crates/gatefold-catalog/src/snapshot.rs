use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use gatefold_core::{Domain, EntryKind, Target, ToolId};
use gatefold_search::{Index, Mode, PastIndex, passage, words};

use crate::encoder::Encoder;
use crate::entry::{Entries, Entry, EntryRanges};
use crate::groups::{self, GroupMember, GroupRules};
use crate::hidden::marked;
use crate::kind::KindName;
use crate::lookup::NameTable;
use crate::manifest::{Manifest, ToolDefinition};
use crate::naming::{AssignedNames, Domains};
use crate::retrieval::RetrievalTexts;
use crate::signature_text::{SignatureSlot, SignatureText};
use crate::summary::{deed, summary};
use crate::text::{LINE_LIMIT, one_line};

mod name_index;
mod part;
mod search_index;
mod text_index;
mod topic_index;

pub(crate) use name_index::KnownNames;
use name_index::NameIndex;
pub use part::VisibleSet;
use search_index::SearchIndex;
use text_index::TextIndex;
pub(crate) use topic_index::{FoundTopic, TopicNeeds};
use topic_index::{TopicIndex, TopicLists};

/// The longest configured description of a domain, in characters.
const CONFIGURED_LIMIT: usize = 200;

/// Up to this many tools, a search takes no longer than a call once the indexes are built.
pub(crate) const QUICK_TOOLS: usize = 500;

/// One source as it enters a snapshot.
#[derive(Debug, Clone)]
pub struct SourceEntry {
    pub domain: Domain,
    pub kind: KindName,
    /// The configured description. Without one, the source's own sentence about what it does is
    /// used, or its title.
    pub description: Option<String>,
    /// What people call the source, as configured.
    pub aliases: Vec<String>,
    pub groups: GroupRules,
    /// `None` while the source has never been listed.
    pub manifest: Option<Arc<Manifest>>,
}

/// The catalogue at one moment. It never changes; a new one replaces it.
///
/// The order of the entries does not matter: equal entries make equal snapshots.
#[derive(Debug)]
pub struct Snapshot {
    epoch: u64,
    domains: Vec<DomainEntry>,
    /// All configured domains, also those that a part of a catalogue leaves out: whose a name is
    /// must not depend on who asks.
    domain_names: Arc<Domains>,
    tools: Vec<Tool>,
    entries: Entries,
    tool_names: NameTable,
    prompt_names: NameTable,
    indexes: Indexes,
    encoder: Option<Arc<dyn Encoder>>,
}

/// Indexes over a snapshot's tools, each built when it is first needed.
#[derive(Debug, Default)]
struct Indexes {
    search: SearchIndex,
    names: NameIndex,
    topics: TopicIndex,
    texts: TextIndex,
}

impl Indexes {
    fn after(previous: &Self) -> Self {
        let search = SearchIndex::after(&previous.search);
        let topics = TopicIndex::after(&previous.topics);
        let texts = TextIndex::after(&previous.texts);
        Self { search, names: NameIndex::after(&previous.names), topics, texts }
    }
}

/// One domain of a snapshot.
#[derive(Debug, Clone)]
pub struct DomainEntry {
    domain: Domain,
    kind: KindName,
    description: String,
    is_described: bool,
    aliases: Vec<String>,
    groups: GroupRules,
    manifest: Option<Arc<Manifest>>,
    tools: Range<usize>,
    entries: EntryRanges,
    offers_nothing: bool,
}

/// One tool of a snapshot, with the names it goes by.
#[derive(Debug, Clone)]
pub struct Tool {
    target: Arc<Target>,
    alias: Option<ToolId>,
    group: Arc<str>,
    line: Arc<str>,
    manifest: Arc<Manifest>,
    place: usize,
    signature: Arc<SignatureSlot>,
}

impl Snapshot {
    /// Builds the catalogue. If two entries have one domain, the first wins.
    pub fn build(entries: Vec<SourceEntry>, epoch: u64) -> Self {
        Self::with_indexes(entries, epoch, Indexes::default())
    }

    /// Like [`Snapshot::build`], for the snapshot that follows another: search and name data of
    /// unchanged tools is reused.
    pub fn build_after(previous: &Self, entries: Vec<SourceEntry>, epoch: u64) -> Self {
        Self::with_indexes(entries, epoch, Indexes::after(&previous.indexes))
    }

    fn with_indexes(mut entries: Vec<SourceEntry>, epoch: u64, indexes: Indexes) -> Self {
        entries.sort_by(|a, b| a.domain.cmp(&b.domain));
        entries.dedup_by(|later, first| later.domain == first.domain);
        let domain_names = Domains::of(entries.iter().map(|entry| entry.domain.clone()).collect());
        let (mut domains, mut tools) = (Vec::new(), Vec::new());
        let (mut ids, mut others) = (AssignedNames::default(), Entries::default());
        for entry in entries {
            let start = tools.len();
            tools.extend(tools_of(&entry, &domain_names, &mut ids));
            let manifest = entry.manifest.as_deref();
            let add = |manifest| others.add(&domain_names, &entry.domain, manifest);
            let entries = manifest.map(add).unwrap_or_default();
            domains.push(DomainEntry {
                offers_nothing: start == tools.len() && entries.is_empty(),
                description: description(&entry),
                is_described: entry.description.is_some(),
                aliases: entry.aliases,
                groups: entry.groups,
                domain: entry.domain,
                kind: entry.kind,
                manifest: entry.manifest,
                tools: start..tools.len(),
                entries,
            });
        }
        for tool in &mut tools {
            tool.alias = ids.alias(&tool.target.domain, &tool.target.id);
        }
        Self::of(epoch, Arc::new(domain_names), domains, tools, others, indexes)
    }

    /// The snapshot of entries that have their names.
    fn of(
        epoch: u64,
        domain_names: Arc<Domains>,
        domains: Vec<DomainEntry>,
        tools: Vec<Tool>,
        entries: Entries,
        indexes: Indexes,
    ) -> Self {
        let named = tools.iter().map(|tool| (tool.target.as_ref(), tool.alias.as_ref()));
        let tool_names = NameTable::of(named);
        let named = entries.prompts.iter().map(|prompt| (prompt.target().as_ref(), None));
        let prompt_names = NameTable::of(named);
        Self {
            epoch,
            domains,
            domain_names,
            tools,
            entries,
            tool_names,
            prompt_names,
            indexes,
            encoder: None,
        }
    }

    /// The same catalogue with an encoder for its searches. The encoder is given the tools to read.
    #[must_use]
    pub fn with_encoder(self, encoder: Arc<dyn Encoder>) -> Self {
        encoder.read((0..self.tools.len()).map(|place| self.passage(place)).collect());
        Self { encoder: Some(encoder), ..self }
    }

    /// The same catalogue, with the encoder of another one for its searches. Tools that the other
    /// did not give it to read count as average.
    #[must_use]
    pub fn with_encoder_of(self, other: &Self) -> Self {
        Self { encoder: other.encoder.clone(), ..self }
    }

    /// The same catalogue, with texts that were written so that its tools are found. A snapshot that
    /// is built after this one has them too.
    #[must_use]
    pub fn with_texts(self, texts: Option<Arc<RetrievalTexts>>) -> Self {
        let indexes = Indexes { texts: self.indexes.texts.with(texts), ..self.indexes };
        Self { indexes, ..self }
    }

    pub fn encoder(&self) -> Option<&Arc<dyn Encoder>> {
        self.encoder.as_ref()
    }

    /// Whether a search takes about a millisecond: the index is already built, there is no encoder
    /// to wait for, and there are few enough tools to rank.
    pub fn searches_quickly(&self) -> bool {
        self.encoder.is_none()
            && self.tools.len() <= QUICK_TOOLS
            && self.indexes.search.is_built()
            && self.indexes.names.is_built()
            && self.indexes.topics.is_built()
    }

    /// What an encoder reads of the tool at a place.
    pub(crate) fn passage(&self, place: usize) -> String {
        let tool = &self.tools[place];
        let definition = tool.definition();
        let title = tool.manifest.server().and_then(|server| server.title.as_deref());
        let server = title.unwrap_or(tool.domain().as_str());
        let described = definition.description().or(definition.title()).unwrap_or_default();
        passage(server, definition.name(), described)
    }

    /// Counts the snapshots of one process; never shown to models.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// All domains, sorted by name.
    pub fn domains(&self) -> &[DomainEntry] {
        &self.domains
    }

    /// All tools, sorted by domain, then group, then id.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// All prompts, sorted by domain, then name.
    pub fn prompts(&self) -> &[Entry] {
        &self.entries.prompts
    }

    /// All resources that are listed, sorted by domain, then URI.
    pub fn resources(&self) -> &[Entry] {
        &self.entries.resources
    }

    /// All resource templates, sorted by domain, then text.
    pub fn templates(&self) -> &[Entry] {
        &self.entries.templates
    }

    /// Where a domain lies among [`Snapshot::domains`].
    pub(crate) fn place_of(&self, domain: &str) -> Option<usize> {
        self.domains.binary_search_by(|entry| entry.domain.as_str().cmp(domain)).ok()
    }

    pub(crate) fn domain_names(&self) -> &Domains {
        &self.domain_names
    }

    pub(crate) fn tool_names(&self) -> &NameTable {
        &self.tool_names
    }

    pub(crate) fn prompt_names(&self) -> &NameTable {
        &self.prompt_names
    }

    pub(crate) fn index(&self) -> &Index {
        // Building all indexes now means that a later lookup of an unknown name is fast too.
        self.names();
        self.indexes.topics.get(self.topic_lists());
        self.texts();
        self.indexes.search.get(&self.domains, &self.tools)
    }

    /// The texts that were written for the tools, if there are any.
    pub(crate) fn texts(&self) -> Option<&PastIndex> {
        self.indexes.texts.get(&self.tools)
    }

    /// The index of the tools' names.
    pub(crate) fn names(&self) -> &KnownNames {
        self.indexes.names.get(&self.tools)
    }

    /// The topics that fit a request best, with the places of their tools.
    pub(crate) fn topics(
        &self,
        request: &str,
        mode: Mode,
        shows: impl Fn(TopicNeeds) -> bool,
    ) -> Vec<FoundTopic<'_>> {
        self.indexes.topics.search(self.topic_lists(), request, mode, shows)
    }

    fn topic_lists(&self) -> TopicLists<'_> {
        TopicLists {
            domains: &self.domains,
            tools: &self.tools,
            resources: &self.entries.resources,
        }
    }

    #[cfg(test)]
    pub(crate) fn search_index(&self) -> &SearchIndex {
        &self.indexes.search
    }
}

impl DomainEntry {
    /// The place of the resource with a URI among all, if this domain lists it.
    pub(crate) fn listed_resource(&self, resources: &[Entry], uri: &str) -> Option<usize> {
        let range = self.entries.resources.clone();
        let by_key = |entry: &Entry| entry.definition().key().cmp(uri);
        resources[range.clone()].binary_search_by(by_key).ok().map(|at| range.start + at)
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    pub fn kind(&self) -> KindName {
        self.kind
    }

    /// One line about the domain.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Whether the description is a configured one.
    pub fn is_described(&self) -> bool {
        self.is_described
    }

    /// What people call the source, as configured.
    pub fn aliases(&self) -> &[String] {
        &self.aliases
    }

    /// What the source last offered, or `None` if it was never listed.
    pub fn manifest(&self) -> Option<&Arc<Manifest>> {
        self.manifest.as_ref()
    }

    /// Where the domain's tools lie among [`Snapshot::tools`].
    pub fn range(&self) -> Range<usize> {
        self.tools.clone()
    }

    /// Whether its source offers nothing at all, as far as it is known, to anybody.
    pub(crate) fn offers_nothing(&self) -> bool {
        self.offers_nothing
    }

    pub(crate) fn entries(&self) -> &EntryRanges {
        &self.entries
    }
}

impl Tool {
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    pub fn id(&self) -> &ToolId {
        &self.target.id
    }

    pub fn domain(&self) -> &Domain {
        &self.target.domain
    }

    /// The tool's name at the top level: `^[a-zA-Z0-9_-]{1,64}$`.
    pub fn alias(&self) -> &str {
        self.alias.as_ref().unwrap_or(&self.target.id).as_str()
    }

    pub fn group(&self) -> &str {
        &self.group
    }

    /// What the tool does, in at most [`LINE_LIMIT`] characters. Empty if its source does not say.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Like [`Tool::line`], but for people: invisible characters are marked instead of left out.
    pub fn marked_line(&self) -> String {
        line(self.definition(), |text| one_line(&marked(text), LINE_LIMIT))
    }

    pub fn definition(&self) -> &ToolDefinition {
        &self.manifest.tools()[self.place]
    }

    /// The signature as `write` gives it, once for all searches.
    pub(crate) fn signature(
        &self,
        write: impl FnOnce() -> SignatureText,
    ) -> Cow<'_, SignatureText> {
        self.signature.get(write)
    }
}

fn tools_of(entry: &SourceEntry, domains: &Domains, ids: &mut AssignedNames) -> Vec<Tool> {
    let Some(manifest) = &entry.manifest else { return Vec::new() };
    let definitions = manifest.tools();
    let groups = assigned_groups(&entry.domain, definitions.iter(), &entry.groups);
    let mut tools: Vec<_> = definitions
        .iter()
        .zip(groups)
        .enumerate()
        .map(|(place, (definition, group))| Tool {
            target: Arc::new(Target {
                kind: EntryKind::Tool,
                domain: entry.domain.clone(),
                id: ids.id(domains, &entry.domain, definition.name(), definition.digest()),
                name: definition.name().into(),
                digest: definition.digest(),
                hints: definition.hints(),
            }),
            alias: None,
            group,
            line: line(definition, |text| one_line(text, LINE_LIMIT)).into(),
            manifest: Arc::clone(manifest),
            place,
            signature: Arc::default(),
        })
        .collect();
    sort(&mut tools);
    tools
}

/// The group of each tool of a domain, in order.
fn assigned_groups<'a>(
    domain: &Domain,
    tools: impl Iterator<Item = &'a ToolDefinition>,
    rules: &GroupRules,
) -> Vec<Arc<str>> {
    let members = tools.map(|tool| GroupMember { name: tool.name(), group: tool.group() });
    let groups = groups::assign(domain, &members.collect::<Vec<_>>(), rules);
    let mut shared: BTreeMap<Box<str>, Arc<str>> = BTreeMap::new();
    let share = |group: Box<str>| {
        let known = shared.entry(group).or_insert_with_key(|group| group.as_ref().into());
        Arc::clone(known)
    };
    groups.into_iter().map(share).collect()
}

fn sort(tools: &mut [Tool]) {
    tools.sort_by(|a, b| (&a.group, a.id()).cmp(&(&b.group, b.id())));
}

fn line(definition: &ToolDefinition, short: impl Fn(&str) -> String) -> String {
    let described = definition.description().map(summary).unwrap_or_default();
    let line = short(&described);
    if line.is_empty() {
        return definition.title().map(short).unwrap_or_default();
    }
    line
}

fn description(entry: &SourceEntry) -> String {
    if let Some(configured) = &entry.description {
        return one_line(configured, CONFIGURED_LIMIT);
    }
    let Some(manifest) = &entry.manifest else { return String::new() };
    let Some(server) = manifest.server() else { return String::new() };
    let named = |title: &&str| says_more(title, &entry.domain);
    let said = [
        server.description.as_deref().map(summary),
        server.instructions.as_deref().and_then(deed),
        server.title.as_deref().filter(named).map(str::to_owned),
    ];
    let mut lines = said.into_iter().flatten().map(|text| one_line(&text, LINE_LIMIT));
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// Whether a server's title says more than its domain does, apart from the word "server".
fn says_more(title: &str, domain: &Domain) -> bool {
    let own = words::split(domain.as_str());
    words::split(title)
        .iter()
        .any(|word| !own.contains(word) && !matches!(word.as_str(), "mcp" | "server"))
}
