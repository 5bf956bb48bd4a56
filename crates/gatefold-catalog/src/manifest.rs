use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use gatefold_core::{Digest, Hints, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

mod disk;
mod parse;

/// What a source said about itself when it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The protocol version that was negotiated.
    pub protocol: String,
}

/// What a source last said it offers.
///
/// All texts lie in one allocation and the tools point into it. Tools are sorted by name, then
/// digest, so that neither the order of arrival nor the paging of a listing shows in anything.
#[derive(Debug, Clone)]
pub struct Manifest {
    server: ServerInfo,
    tools: Vec<ToolDefinition>,
    alterations: Vec<Alteration>,
    fetched_at: Timestamp,
    digest: Digest,
    text: Arc<str>,
}

impl Manifest {
    /// Reads the raw `result` objects of `tools/list`, in order.
    ///
    /// A malformed tool is repaired or left out on its own and the change recorded. A well-formed
    /// one keeps its definition letter for letter.
    pub fn from_pages(server: ServerInfo, pages: &[Box<RawValue>], fetched_at: Timestamp) -> Self {
        let parse::Listing { mut tools, text, alterations } = parse::listing(pages);
        let text: Arc<str> = text.into();
        tools.sort_by(|a, b| (&text[span(a.name)], a.digest).cmp(&(&text[span(b.name)], b.digest)));
        Self::assemble(server, &tools, alterations, fetched_at, text)
    }

    fn assemble(
        server: ServerInfo,
        places: &[Places],
        alterations: Vec<Alteration>,
        fetched_at: Timestamp,
        text: Arc<str>,
    ) -> Self {
        let tools: Vec<_> = places
            .iter()
            .map(|places| ToolDefinition { text: Arc::clone(&text), places: places.clone() })
            .collect();
        let digest = digest_of(&server, &tools);
        Self { server, tools, alterations, fetched_at, digest, text }
    }

    pub fn server(&self) -> &ServerInfo {
        &self.server
    }

    pub fn tools(&self) -> &[ToolDefinition] {
        &self.tools
    }

    /// What had to be changed in the listing, for reports.
    pub fn alterations(&self) -> &[Alteration] {
        &self.alterations
    }

    /// The identity of what is offered: equal for listings that differ only in the order of
    /// arrival, paging, key order or the time they were fetched.
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

fn digest_of(server: &ServerInfo, tools: &[ToolDefinition]) -> Digest {
    let mut hash = Sha256::new();
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    for text in [
        &server.name,
        &server.version,
        &optional(&server.title),
        &optional(&server.instructions),
        &server.protocol,
    ] {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    for tool in tools {
        hash.update(tool.digest().as_bytes());
    }
    Digest::new(hash.finalize().into())
}

/// Why stored bytes are not a manifest. The cure is always to ask the source again.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ManifestError {
    #[error("not a stored manifest, or one of another version")]
    Version,
    #[error("the stored manifest is damaged: {0}")]
    Damaged(&'static str),
}

/// One tool as its source defines it.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    text: Arc<str>,
    places: Places,
}

/// Byte ranges into a manifest's text.
type Span = (u32, u32);

fn span(span: Span) -> Range<usize> {
    span.0 as usize..span.1 as usize
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Places {
    name: Span,
    title: Option<Span>,
    description: Option<Span>,
    raw: Span,
    input_schema: Span,
    output_schema: Option<Span>,
    annotations: Option<Span>,
    hints: Hints,
    digest: Digest,
}

impl ToolDefinition {
    fn at(&self, place: Span) -> &str {
        &self.text[span(place)]
    }

    pub fn name(&self) -> &str {
        self.at(self.places.name)
    }

    /// The title, or the one in its annotations.
    pub fn title(&self) -> Option<&str> {
        self.places.title.map(|place| self.at(place))
    }

    pub fn description(&self) -> Option<&str> {
        self.places.description.map(|place| self.at(place))
    }

    /// The input schema's JSON text, as the source wrote it.
    pub fn input_schema(&self) -> &str {
        self.at(self.places.input_schema)
    }

    /// The output schema's JSON text, as the source wrote it.
    pub fn output_schema(&self) -> Option<&str> {
        self.places.output_schema.map(|place| self.at(place))
    }

    /// The annotations' JSON text, as the source wrote it.
    pub fn annotations(&self) -> Option<&str> {
        self.places.annotations.map(|place| self.at(place))
    }

    pub fn hints(&self) -> Hints {
        self.places.hints
    }

    /// The whole definition's JSON text, fields unknown to us included.
    pub fn raw(&self) -> &str {
        self.at(self.places.raw)
    }

    /// The digest of the definition, whatever the order of its keys.
    pub fn digest(&self) -> Digest {
        self.places.digest
    }
}

/// Something in a listing that could not be taken as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alteration {
    /// The tool's name, or its place in the listing when it has none.
    pub tool: String,
    pub what: Change,
}

/// What was done about it, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    LeftOut(String),
    Repaired(String),
}

impl fmt::Display for Alteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Change::LeftOut(why) => write!(f, "`{}` was left out: {why}", self.tool),
            Change::Repaired(what) => write!(f, "`{}` was repaired: {what}", self.tool),
        }
    }
}
