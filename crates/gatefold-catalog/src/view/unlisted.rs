//! Sources about which a view knows nothing yet, and why.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{AnswerFault, Domain};

use super::View;
use crate::naming::NameOwner;

/// A source that has not listed anything so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnlistedSource {
    pub domain: Domain,
    pub state: UnlistedState,
}

/// Why a source has not listed anything, in what a caller may know: no address, no path and nothing that it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnlistedState {
    /// Its first attempt has not finished.
    Starting,
    /// The same, and it has been downloading what it needs for this long.
    Downloading(Duration),
    /// It answers, but not with its list.
    Answered(AnswerFault),
    /// Nobody can use it before somebody signs in. Says how, behind the source's name.
    NeedsSignIn(String),
    /// Its last attempt failed.
    Failed,
}

impl View {
    /// The same view, but its answers say why these sources show nothing. They do not affect what
    /// the view shows, so [`View::is_same`] still holds.
    #[must_use]
    pub fn with_unlisted(self, sources: Vec<UnlistedSource>) -> Self {
        if sources.is_empty() {
            return self;
        }
        Self { unlisted: Arc::from(sources), ..self }
    }

    /// The sources of this view that have not listed anything so far.
    pub fn unlisted(&self) -> impl Iterator<Item = &UnlistedSource> {
        self.unlisted.iter().filter(|source| self.covers(&source.domain))
    }

    /// The unlisted source whose tool a name would be.
    pub fn unlisted_owner(&self, name: &str) -> Option<&UnlistedSource> {
        let NameOwner::Domain(owner) = self.snapshot.domain_names().owner(name) else {
            return None;
        };
        self.unlisted().find(|source| source.domain == *owner)
    }
}
