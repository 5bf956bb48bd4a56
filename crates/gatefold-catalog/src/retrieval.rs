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

/// How many tools have texts that count, by definitions that are present.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextCoverage {
    /// Tools whose texts were written for their present definition.
    pub fitting: usize,
    /// Tools whose texts were written for another definition.
    pub stale: usize,
    /// Tools that have texts and are not present.
    pub absent: usize,
}

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

    /// How many tools' texts count where these definitions are present, by the ids of the tools.
    pub fn coverage<'a>(&self, present: impl Iterator<Item = (&'a str, Digest)>) -> TextCoverage {
        let mut coverage = TextCoverage::default();
        for (id, definition) in present {
            if self.fitting(id, definition).is_some() {
                coverage.fitting += 1;
            } else if self.get(id).is_some() {
                coverage.stale += 1;
            }
        }
        let known = coverage.fitting + coverage.stale;
        TextCoverage { absent: self.len().saturating_sub(known), ..coverage }
    }

    /// How many tools have texts.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &ToolTexts)> {
        self.0.iter().map(|(id, texts)| (id.as_str(), texts))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted_by_whether_they_fit_a_present_definition() {
        let digest = |byte| Digest::new([byte; 32]);
        let written =
            |byte| ToolTexts { digest: digest(byte), summary: String::new(), requests: Vec::new() };
        let mut texts = RetrievalTexts::default();
        for (id, byte) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
            texts.insert(id, written(byte));
        }
        let present = [("a", digest(1)), ("b", digest(9)), ("e", digest(5))];
        let coverage = texts.coverage(present.into_iter());
        assert_eq!(coverage, TextCoverage { fitting: 1, stale: 1, absent: 2 });
    }
}
