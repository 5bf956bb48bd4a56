use std::ops::Range;
use std::sync::Arc;

use gatefold_core::{AbleClients, Digest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::canonical;
use crate::hidden::HiddenText;

mod alteration;
mod builder;
mod disk;
mod entry;
mod parse;
mod supplement;
mod tool;

pub use alteration::{Alteration, Change};
pub use builder::{ManifestBuilder, Necessity, PromptSpec, ResourceSpec, TemplateSpec, ToolSpec};
pub use entry::EntryDefinition;
use entry::EntryPlaces;
pub use supplement::{Supplement, ToolTopic, TopicText};
pub use tool::ToolDefinition;
use tool::ToolPlaces;

/// What a source says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the server says about itself besides its name, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The protocol version that was negotiated.
    pub protocol: String,
    /// The JSON text of the object `capabilities`, as the server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<String>,
    /// The JSON text of the object `serverInfo`, as the server wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<String>,
}

/// The raw `result` objects of the four lists that a server has, page by page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listing<'a> {
    /// Of `tools/list`.
    pub tools: &'a [Box<RawValue>],
    /// Of `prompts/list`.
    pub prompts: &'a [Box<RawValue>],
    /// Of `resources/list`.
    pub resources: &'a [Box<RawValue>],
    /// Of `resources/templates/list`.
    pub templates: &'a [Box<RawValue>],
}

/// What a source last offered.
///
/// All texts lie in one allocation and the definitions point into it. They are sorted by name or
/// URI, then digest. The texts lie in the order in which they were listed.
#[derive(Debug, Clone)]
pub struct Manifest {
    server: Option<ServerInfo>,
    tools: Vec<ToolDefinition>,
    prompts: Vec<EntryDefinition>,
    resources: Vec<EntryDefinition>,
    templates: Vec<EntryDefinition>,
    alterations: Vec<Alteration>,
    supplement: Option<Arc<Supplement>>,
    fetched_at: Timestamp,
    digest: Digest,
    text: Arc<String>,
}

impl Manifest {
    /// Builds a manifest entry by entry, for a source that has no lists to read.
    pub fn builder(fetched_at: Timestamp) -> ManifestBuilder {
        ManifestBuilder::new(fetched_at)
    }

    /// [`Manifest::from_listing`] for a source that offers only tools.
    pub fn from_pages(server: ServerInfo, pages: &[Box<RawValue>], fetched_at: Timestamp) -> Self {
        Self::from_listing(server, Listing { tools: pages, ..Listing::default() }, fetched_at)
    }

    /// Reads what a source lists.
    ///
    /// A malformed entry is repaired or left out on its own, and the change recorded. A well-formed
    /// one keeps its definition unchanged.
    pub fn from_listing(server: ServerInfo, listing: Listing<'_>, fetched_at: Timestamp) -> Self {
        Self::of_parsed(Some(server), parse::listing(&listing), fetched_at)
    }

    fn of_parsed(
        server: Option<ServerInfo>,
        parsed: parse::ParsedListing,
        fetched_at: Timestamp,
    ) -> Self {
        let parse::ParsedListing { mut index, text, alterations } = parsed;
        let place = |key: Span, digest| (&text[span(key)], digest);
        index.tools.sort_by(|a, b| place(a.name, a.digest).cmp(&place(b.name, b.digest)));
        for entries in [&mut index.prompts, &mut index.resources, &mut index.templates] {
            entries.sort_by(|a, b| place(a.key, a.digest).cmp(&place(b.key, b.digest)));
        }
        Self::assemble(server, &index, alterations, fetched_at, text)
    }

    fn assemble(
        server: Option<ServerInfo>,
        index: &Index,
        alterations: Vec<Alteration>,
        fetched_at: Timestamp,
        mut text: String,
    ) -> Self {
        text.shrink_to_fit();
        // Not `Arc<str>`: making one copies all of the text.
        let text = Arc::new(text);
        let tool = |places: &ToolPlaces| ToolDefinition {
            text: Arc::clone(&text),
            places: places.clone(),
        };
        let entry =
            |places: &EntryPlaces| EntryDefinition { text: Arc::clone(&text), places: *places };
        let entries = |places: &[EntryPlaces]| places.iter().map(entry).collect();
        let digest = digest_of(server.as_ref(), index, &text);
        Self {
            server,
            tools: index.tools.iter().map(tool).collect(),
            prompts: entries(&index.prompts),
            resources: entries(&index.resources),
            templates: entries(&index.templates),
            alterations,
            supplement: None,
            fetched_at,
            digest,
            text,
        }
    }

    /// The same manifest, whose source lists its tools to these clients only.
    #[must_use]
    pub fn with_clients(self, of: impl Fn(&ToolDefinition) -> AbleClients) -> Self {
        let mut index = self.index();
        for (places, tool) in index.tools.iter_mut().zip(&self.tools) {
            places.clients = of(tool);
        }
        let Self { server, alterations, supplement, fetched_at, text, tools, .. } = self;
        // They share the text, which is copied if they still do.
        drop(tools);
        let text = Arc::unwrap_or_clone(text);
        let manifest = Self::assemble(server, &index, alterations, fetched_at, text);
        manifest.with_supplement(supplement)
    }

    fn index(&self) -> Index {
        let entries = |all: &[EntryDefinition]| all.iter().map(|entry| entry.places).collect();
        Index {
            tools: self.tools.iter().map(|tool| tool.places.clone()).collect(),
            prompts: entries(&self.prompts),
            resources: entries(&self.resources),
            templates: entries(&self.templates),
        }
    }

    /// The same manifest with what the source knows besides.
    fn with_supplement(mut self, supplement: Option<Arc<Supplement>>) -> Self {
        if let Some(supplement) = &supplement {
            let mut hash = Sha256::new();
            hash.update(self.digest.as_bytes());
            hash.update(supplement.digest().as_bytes());
            self.digest = Digest::new(hash.finalize().into());
        }
        Self { supplement, ..self }
    }

    /// What the source says about itself; none for a kind without servers.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.server.as_ref()
    }

    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// The tool of this name with this definition.
    pub fn tool(&self, name: &str, digest: Digest) -> Option<&ToolDefinition> {
        let place =
            |tool: &ToolDefinition| (tool.name().cmp(name)).then(tool.digest().cmp(&digest));
        self.tools.binary_search_by(place).ok().map(|at| &self.tools[at])
    }

    pub fn prompts(&self) -> &[EntryDefinition] {
        &self.prompts
    }

    pub fn resources(&self) -> &[EntryDefinition] {
        &self.resources
    }

    /// The resource templates.
    pub fn templates(&self) -> &[EntryDefinition] {
        &self.templates
    }

    /// What the source knows besides its tools.
    pub fn supplement(&self) -> Option<&Arc<Supplement>> {
        self.supplement.as_ref()
    }

    /// What had to be changed in the listing, for reports.
    pub fn alterations(&self) -> &[Alteration] {
        &self.alterations
    }

    /// The definitions with invisible characters, for reports. This reads all texts again.
    pub fn hidden_texts(&self) -> Vec<HiddenText> {
        let tools = self.tools.iter().map(|tool| ("tool", tool.name(), tool.raw()));
        let others = [
            ("prompt", &self.prompts),
            ("resource", &self.resources),
            ("resource template", &self.templates),
        ];
        let others = others.into_iter().flat_map(|(noun, entries)| {
            entries.iter().map(move |entry| (noun, entry.key(), entry.raw()))
        });
        tools.chain(others).filter_map(|(noun, key, raw)| HiddenText::of(noun, key, raw)).collect()
    }

    /// The identity of what is offered. Order of arrival, paging, key order and time of fetching do
    /// not change it.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    pub fn fetched_at(&self) -> Timestamp {
        self.fetched_at
    }

    /// The form kept on disk. [`Manifest::from_bytes`] reads it back without parsing a schema.
    pub fn to_bytes(&self) -> Vec<u8> {
        disk::write(self)
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ManifestError> {
        disk::read(bytes)
    }
}

fn digest_of(server: Option<&ServerInfo>, index: &Index, text: &str) -> Digest {
    let mut hash = Sha256::new();
    match server {
        Some(server) => hash_server(&mut hash, server),
        // No text is this long, so it cannot be confused with a server's name.
        None => hash.update(usize::MAX.to_le_bytes()),
    }
    hash.update(index.tools.len().to_le_bytes());
    for tool in &index.tools {
        hash.update(tool.digest.as_bytes());
    }
    for entries in [&index.prompts, &index.resources, &index.templates] {
        hash.update(entries.len().to_le_bytes());
        for entry in entries {
            hash.update(entry.digest.as_bytes());
        }
    }
    // Groups and clients are hashed last, and only if there are any: stored manifests keep the
    // digests they had before these existed.
    for (place, tool) in index.tools.iter().enumerate() {
        if let Some(group) = tool.group {
            let group = &text[span(group)];
            hash.update(place.to_le_bytes());
            hash.update(group.len().to_le_bytes());
            hash.update(group);
        }
    }
    for (place, tool) in index.tools.iter().enumerate() {
        if !tool.clients.are_everybody() {
            hash.update(place.to_le_bytes());
            hash.update([tool.clients.to_bits()]);
        }
    }
    Digest::new(hash.finalize().into())
}

fn hash_server(hash: &mut Sha256, server: &ServerInfo) {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let capabilities = server.capabilities.as_deref().map(|json| canonical::digest(json).into());
    for text in [
        &server.name,
        &server.version,
        &optional(&server.title),
        &optional(&server.instructions),
        &server.protocol,
        &optional(&capabilities),
    ] {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    // Stored manifests that do not have it keep their digests.
    if let Some(whole) = &server.whole {
        hash.update(canonical::digest(whole).as_bytes());
    }
}

/// Why stored bytes are not a manifest. The fix is always to ask the source again.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ManifestError {
    #[error("not a stored manifest, or one of another version")]
    Version,
    #[error("the stored manifest is damaged: {0}")]
    Damaged(&'static str),
}

/// Byte ranges into a manifest's text.
type Span = (u32, u32);

fn span(span: Span) -> Range<usize> {
    span.0 as usize..span.1 as usize
}

/// Where the definitions lie in the text.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    tools: Vec<ToolPlaces>,
    prompts: Vec<EntryPlaces>,
    resources: Vec<EntryPlaces>,
    templates: Vec<EntryPlaces>,
}
