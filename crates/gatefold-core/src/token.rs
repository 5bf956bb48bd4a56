use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::name::text_name;
use crate::{Domain, EntryKind, Glob};

text_name! {
    /// The id of an access token. It says which one, and proves nothing.
    TokenId
}

/// The access token that a request came with.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenGrant {
    pub id: TokenId,
    /// What people call it.
    pub name: Arc<str>,
    pub narrowing: Narrowing,
}

/// What a token leaves of what its user may see and call. It never adds anything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Narrowing {
    /// If there are any, only entries that one of them is about are left. Shared, because each view
    /// is kept by it.
    pub only: Option<Arc<[EntryPattern]>>,
    /// Whether only tools are left that declare themselves read-only.
    pub read_only: bool,
    /// A source of which only that is left which one of the patterns names, and not merely includes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_named_of: Option<Domain>,
}

/// A pattern for the names of entries, as configurations and tokens write it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntryPattern {
    /// The only kind that it is about.
    pub kind: Option<EntryKind>,
    pub name: Glob,
}

impl Narrowing {
    /// The narrowing to entries that match one of these patterns, or to all if there are none.
    pub fn to<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let patterns: Vec<_> = patterns.into_iter().map(EntryPattern::read).collect();
        Self { only: (!patterns.is_empty()).then(|| patterns.into()), ..Self::default() }
    }

    /// Whether it leaves everything.
    pub fn is_none(&self) -> bool {
        self.only.is_none() && !self.read_only && self.only_named_of.is_none()
    }
}

impl EntryPattern {
    /// Reads a pattern as [`EntryKind::of_pattern`] does.
    pub fn read(pattern: &str) -> Self {
        let (kind, name) = EntryKind::of_pattern(pattern);
        Self { kind, name: Glob::new(name) }
    }
}
