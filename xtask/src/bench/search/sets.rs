//! Sets of tools and requests, each in two halves: constants are chosen by the one, and the documents
//! show the other.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use gatefold_search::measure::{Half, ListedTool, Request, halves, read_requests, read_tools};
use gatefold_search::{Analysis, Entry, Index, Service};

use super::REQUESTS;

/// One set.
pub(super) struct ToolSet {
    pub(super) name: String,
    pub(super) tools: Vec<ListedTool>,
    /// Every request of the set.
    pub(super) all: Vec<Request>,
    /// The half of each of them.
    halves: Vec<Half>,
}

impl ToolSet {
    fn read(folder: &Path) -> Result<Self> {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let tools = read_tools(&std::fs::read_to_string(folder.join("tools.jsonl"))?)?;
        let all = read_requests(&std::fs::read_to_string(folder.join("queries.jsonl"))?)?;
        let halves = halves(&tools, &all);
        Ok(Self { name: name.to_owned(), tools, all, halves })
    }

    /// The requests that are asked: the first of the set.
    pub(super) fn asked(&self) -> &[Request] {
        &self.all[..self.all.len().min(REQUESTS)]
    }

    /// Those of some values, one for each request, that belong to a half.
    pub(super) fn half<'a, T>(
        &'a self,
        half: Half,
        values: &'a [T],
    ) -> impl Iterator<Item = &'a T> {
        values.iter().zip(&self.halves).filter(move |(_, own)| **own == half).map(|(one, _)| one)
    }

    /// An index of the tools.
    pub(super) fn index(&self) -> Index {
        self.index_with(ListedTool::service)
    }

    /// An index that knows nothing of services.
    pub(super) fn index_without_services(&self) -> Index {
        self.index_with(|_| None)
    }

    fn index_with(&self, service: impl Fn(&ListedTool) -> Option<Service>) -> Index {
        let entries = self.tools.iter().map(|tool| Entry {
            id: &tool.id,
            domain: tool.server.as_deref().unwrap_or_default(),
            analysis: tool.with_document(Analysis::of),
            service: service(tool).map(Arc::new),
        });
        Index::build(&entries.collect::<Vec<_>>())
    }

    /// What an encoder reads of the tools.
    pub(super) fn passages(&self) -> Vec<String> {
        self.tools.iter().map(ListedTool::passage).collect()
    }
}

/// The sets in a folder, sorted by name.
pub(super) fn read(folder: &Path) -> Result<Vec<ToolSet>> {
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(folder).context("the folder of sets cannot be read")? {
        let path = entry?.path();
        if path.join("queries.jsonl").exists() {
            sets.push(ToolSet::read(&path).with_context(|| format!("the set {}", path.display()))?);
        }
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sets)
}
