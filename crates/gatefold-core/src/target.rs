use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Digest, Domain, ToolId};

/// The hints of a tool's annotations. A missing hint is `None`.
///
/// MCP calls them hints because the server makes them about itself: good for ordering and for
/// asking a person, never for granting anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Hints {
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    /// Whether a call may be sent twice without harm: the tool only reads, or says it is
    /// idempotent.
    pub fn is_repeatable(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    /// Whether anybody may have written its results. The protocol's default is yes.
    pub fn is_open_world(&self) -> bool {
        self.open_world != Some(false)
    }

    /// Whether the tool itself says that it is destructive.
    pub fn is_destructive(&self) -> bool {
        self.read_only != Some(true) && self.destructive == Some(true)
    }
}

/// What kind of entry of a source a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    Tool,
    Prompt,
    Resource,
}

impl EntryKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// Splits a pattern: a prefix `tool:`, `prompt:` or `resource:` says what it is about.
    pub fn of_pattern(pattern: &str) -> (Option<Self>, &str) {
        let prefixed = [Self::Tool, Self::Prompt, Self::Resource].into_iter().find_map(|kind| {
            let rest = pattern.strip_prefix(kind.as_str())?.strip_prefix(':')?;
            Some((Some(kind), rest))
        });
        prefixed.unwrap_or((None, pattern))
    }
}

/// One entry of a source as policy, audit and the source itself know it: what a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub kind: EntryKind,
    pub domain: Domain,
    /// A prompt's id is built like a tool's; a resource's is its address behind the gateway.
    pub id: ToolId,
    /// The source's own name for it, unchanged; for a resource, its URI.
    pub name: Arc<str>,
    /// The digest of its definition, or of the URI of an unlisted resource. A sealed call is not
    /// resumed if the definition has changed.
    pub digest: Digest,
    pub hints: Hints,
}

impl Target {
    /// The names that a tool or a prompt has beside its id, whatever that is, most certain first:
    /// see [`ToolId::long_forms`].
    pub fn other_names(&self) -> impl Iterator<Item = ToolId> {
        let is_long = self.id.as_str().len() == self.domain.as_str().len() + 2 + self.name.len();
        ToolId::long_forms(&self.domain, &self.name).skip(usize::from(is_long))
    }

    /// Whether any name of a tool or a prompt is one of those meant: its id or another.
    pub fn goes_by(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        is_meant(self.id.as_str()) || self.other_names().any(|name| is_meant(name.as_str()))
    }
}
