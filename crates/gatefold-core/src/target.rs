use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Digest, Domain, ToolId};

/// What a tool's annotations claim. A claim that was not made is `None`.
///
/// MCP calls these hints because the server makes them about itself: good for ordering and for
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
    /// Whether a call may be sent twice without harm: it only reads, or says it is idempotent.
    pub fn is_repeatable(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    /// Whether the tool itself says that it destroys.
    pub fn is_destructive(&self) -> bool {
        self.read_only != Some(true) && self.destructive == Some(true)
    }
}

/// One tool as policy, audit and its source know it: what a name resolved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTarget {
    pub domain: Domain,
    pub id: ToolId,
    /// The source's own name for it, letter for letter.
    pub name: Arc<str>,
    /// The digest of its definition. A sealed call does not resume on a changed definition.
    pub digest: Digest,
    pub hints: Hints,
}
