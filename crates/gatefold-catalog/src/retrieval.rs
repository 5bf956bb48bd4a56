//! Texts that were written so that tools are found, beside what their sources say.

use std::collections::BTreeMap;

use gatefold_core::Digest;

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

    /// The texts of a tool that were written for this definition.
    pub fn fitting(&self, id: &str, definition: Digest) -> Option<&ToolTexts> {
        self.get(id).filter(|texts| texts.digest == definition)
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
}
