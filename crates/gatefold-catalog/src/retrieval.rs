//! Texts that were written so that tools are found, beside what their sources say.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use gatefold_core::Digest;
use gatefold_search::{PastIndex, PastQuery};

use crate::snapshot::Tool;

/// What was written about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTexts {
    /// Of the definition that it was written for. It counts for no other.
    pub digest: Digest,
    /// What the tool does, in a sentence.
    pub summary: String,
    /// What people may ask for when they need the tool.
    pub requests: Vec<String>,
}

impl ToolTexts {
    /// The most requests of a tool.
    pub const REQUESTS: usize = 5;
    /// The longest summary or request, in characters.
    pub const LENGTH: usize = 300;
}

/// Texts for retrieval, by the ids of their tools, at most [`RetrievalTexts::TOOLS`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetrievalTexts(BTreeMap<String, ToolTexts>);

impl RetrievalTexts {
    /// The most tools that have texts.
    pub const TOOLS: usize = 20_000;

    /// The texts of a tool, whichever definition they were written for.
    pub fn get(&self, id: &str) -> Option<&ToolTexts> {
        self.0.get(id)
    }

    /// Whether a tool has texts that were written for its definition.
    pub fn fit(&self, tool: &Tool) -> bool {
        self.fitting(tool).is_some()
    }

    /// Keeps the texts of a tool, if there is room.
    pub fn insert(&mut self, id: impl Into<String>, texts: ToolTexts) -> bool {
        let id = id.into();
        let has_room = self.0.len() < Self::TOOLS || self.0.contains_key(&id);
        if has_room {
            self.0.insert(id, texts);
        }
        has_room
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &ToolTexts)> {
        self.0.iter().map(|(id, texts)| (id.as_str(), texts))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn fitting(&self, tool: &Tool) -> Option<&ToolTexts> {
        self.get(tool.id().as_str()).filter(|texts| texts.digest == tool.definition().digest())
    }
}

/// The texts that count in a snapshot, read for ranking when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct TextIndex {
    texts: Option<Arc<RetrievalTexts>>,
    built: OnceLock<Option<Arc<BuiltTexts>>>,
    /// What the snapshot before had built.
    earlier: Option<Arc<BuiltTexts>>,
}

#[derive(Debug)]
struct BuiltTexts {
    texts: Arc<RetrievalTexts>,
    /// The tools whose texts are read, by id.
    tools: Vec<String>,
    index: PastIndex,
}

impl TextIndex {
    /// For the snapshot after another one, with the same texts.
    pub(crate) fn after(previous: &Self) -> Self {
        let built = previous.built.get().cloned().flatten();
        let earlier = built.or_else(|| previous.earlier.clone());
        Self { texts: previous.texts.clone(), built: OnceLock::new(), earlier }
    }

    pub(crate) fn with(self, texts: Option<Arc<RetrievalTexts>>) -> Self {
        Self { texts, built: OnceLock::new(), ..self }
    }

    /// The index of the texts that were written for these tools. Every call must pass the same tools.
    pub(crate) fn get(&self, tools: &[Tool]) -> Option<&PastIndex> {
        let built = self.built.get_or_init(|| self.build(tools));
        built.as_ref().map(|built| &built.index)
    }

    fn build(&self, tools: &[Tool]) -> Option<Arc<BuiltTexts>> {
        let texts = self.texts.as_ref().filter(|texts| !texts.is_empty())?;
        let fitting: Vec<_> =
            tools.iter().filter_map(|tool| Some((tool, texts.fitting(tool)?))).collect();
        if fitting.is_empty() {
            return None;
        }
        let ids = fitting.iter().map(|(tool, _)| tool.id().to_string()).collect::<Vec<_>>();
        let is_same = |built: &&Arc<BuiltTexts>| *built.texts == **texts && built.tools == ids;
        if let Some(same) = self.earlier.as_ref().filter(is_same) {
            return Some(Arc::clone(same));
        }
        let read = fitting.iter().flat_map(|(tool, texts)| {
            let summary = Some(&texts.summary).filter(|summary| !summary.is_empty());
            let all = texts.requests.iter().take(ToolTexts::REQUESTS).chain(summary);
            all.map(|query| PastQuery { tool: tool.id().as_str(), query, weight: 1.0 })
        });
        let index = PastIndex::of(read);
        Some(Arc::new(BuiltTexts { texts: Arc::clone(texts), tools: ids, index }))
    }
}
