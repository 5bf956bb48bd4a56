//! Learning from use: when a search is followed by a successful call of a tool it found, the
//! search's words become a past query of that tool, by which later searches rank.

mod discretion;
mod mending;
mod overlay;
mod recall;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Tenant, Timestamp, ToolId};

pub(crate) use discretion::worth_keeping;
pub(crate) use mending::FailedCalls;
pub(crate) use overlay::Overlays;
pub(crate) use recall::{LapsedSearch, RecentSearches, Searcher, ServedSearch};

/// Stores past queries.
///
/// They belong to a tenant and stay with it. The store is bounded, and entries lose weight with
/// time.
pub trait PastQueries: Send + Sync + 'static {
    /// Takes the use of a tool. It returns at once, and may lose the use: another will follow.
    fn note(&self, used: PastUse);

    /// A number that changes whenever [`PastQueries::kept`] may return something else, no matter
    /// which process changed it.
    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>>;

    /// Everything that is kept for a tenant.
    fn kept<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>>;
}

/// What one use taught, or a search that led to none. It contains the user's own words, so it has no `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct PastUse {
    pub tenant: Tenant,
    /// The tool that served it. `None` for a search that led to no call.
    pub tool: Option<ToolId>,
    pub query: String,
    pub at: Timestamp,
}

/// A past query of a tool.
#[derive(Clone, PartialEq)]
pub struct KeptQuery {
    pub tool: ToolId,
    pub query: String,
    /// How often it led to a use, decayed by age.
    pub weight: f32,
}

/// Stores nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPastQueries;

impl PastQueries for NoPastQueries {
    fn note(&self, _: PastUse) {}

    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>> {
        Box::pin(async { Ok(0) })
    }

    fn kept<'a>(&'a self, _: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
