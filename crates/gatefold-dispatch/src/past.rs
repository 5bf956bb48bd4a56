//! Learning from use: a search, and then a call that went well of a tool it found, make the
//! search's words a past query of that tool, by which later searches rank.

mod discretion;
mod overlay;
mod recall;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Tenant, Timestamp, ToolId};

pub(crate) use discretion::worth_keeping;
pub(crate) use overlay::Overlays;
pub(crate) use recall::{Asker, Recall};

/// Keeps past queries.
///
/// They belong to a tenant and stay with it. What is kept is bounded and loses weight with time.
pub trait PastQueries: Send + Sync + 'static {
    /// Takes a lesson in. It returns at once, and may lose the lesson: another will follow.
    fn note(&self, lesson: Lesson);

    /// A number that is another one whenever [`PastQueries::kept`] may give something else,
    /// whichever process changed it.
    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>>;

    /// All that is kept for a tenant.
    fn kept<'a>(&'a self, tenant: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>>;
}

/// What one use taught. It has the words of whoever asked, so it does not show in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Lesson {
    pub tenant: Tenant,
    pub tool: ToolId,
    pub query: String,
    pub at: Timestamp,
}

/// A past query of a tool.
#[derive(Clone, PartialEq)]
pub struct KeptQuery {
    pub tool: ToolId,
    pub query: String,
    /// How often it served, less for what is long ago.
    pub weight: f32,
}

/// Nothing is kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPastQueries;

impl PastQueries for NoPastQueries {
    fn note(&self, _: Lesson) {}

    fn version(&self) -> BoxFuture<'_, Result<u64, BoxError>> {
        Box::pin(async { Ok(0) })
    }

    fn kept<'a>(&'a self, _: &'a Tenant) -> BoxFuture<'a, Result<Vec<KeptQuery>, BoxError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
