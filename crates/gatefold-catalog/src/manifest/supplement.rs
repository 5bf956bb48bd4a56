use gatefold_core::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// What a source knows besides its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Supplement {
    /// What its tools know about, such as the tables of a database.
    pub topics: Vec<ToolTopic>,
    /// The source's own data, stored with the manifest for its next start. Nobody else reads it.
    pub attachment: String,
}

/// Something that one tool knows about. A search finds the tool by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTopic {
    /// The source's name of the tool.
    pub tool: String,
    /// What it is and its name, as an answer shows it: `table: hr.employees`.
    pub line: String,
    /// What it is called.
    pub name: String,
    /// What is said about it.
    pub description: String,
    /// The names of its parts, such as a table's columns.
    pub parts: Vec<String>,
    /// The listed resource that it is, by its URI. Who may not see that resource does not find it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The domains that it is for, such as those of the tools that a skill is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<String>,
    /// The whole of it, where it is short enough to be shown instead of a call. Searches do not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<TopicText>,
}

/// The text of a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicText {
    pub text: String,
    /// Whether there is nothing more that the tool would give, such as files.
    pub is_all: bool,
}

impl Supplement {
    pub(super) fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        add(&self.attachment);
        for topic in &self.topics {
            let ToolTopic { tool, line, name, description, parts, resource, domains, text } = topic;
            let texts = [tool, line, name, description].into_iter().chain(parts);
            texts.chain(resource).chain(domains).for_each(|text| add(text));
            if let Some(TopicText { text, is_all }) = text {
                add(text);
                add(if *is_all { "all" } else { "more" });
            }
        }
        Digest::new(hash.finalize().into())
    }
}
