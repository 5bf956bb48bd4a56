//! What learning from use needs from outside: what it has taught, kept for later.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Principal, Tenant, Timestamp, ToolId};

/// The most tools that count as the most used ones.
pub const USED_TOOLS: usize = 8;

/// The whole days before today over which uses are counted.
pub const USED_DAYS: u64 = 7;

/// What learning from use is kept in.
#[derive(Clone)]
pub struct LearningPorts {
    pub past: Arc<dyn PastQueries>,
    pub used: Arc<dyn UsedTools>,
}

impl Default for LearningPorts {
    /// Keeps nothing and knows of no use.
    fn default() -> Self {
        Self { past: Arc::new(NoPastQueries), used: Arc::new(NoUsedTools) }
    }
}

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

/// A day of UTC, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UtcDay(u64);

impl UtcDay {
    const MILLIS: u64 = 24 * 60 * 60 * 1000;

    pub const fn of(at: Timestamp) -> Self {
        Self(at.as_millis() / Self::MILLIS)
    }

    /// Its first moment.
    pub fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(Self::MILLIS))
    }

    /// The day so many days before, or the first of all.
    #[must_use]
    pub fn before(self, days: u64) -> Self {
        Self(self.0.saturating_sub(days))
    }

    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Days since 1970-01-01.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Knows which tools were used most.
pub trait UsedTools: Send + Sync + 'static {
    /// The tools that a principal called most often, and successfully, in the [`USED_DAYS`] days
    /// before a day: at most [`USED_TOOLS`], best first, those used as often by id. A principal is
    /// its user, organisation and agent, whatever its rights.
    ///
    /// It must give the same answer all day.
    fn most_used<'a>(
        &'a self,
        principal: &'a Principal,
        day: UtcDay,
    ) -> BoxFuture<'a, Result<Vec<ToolId>, BoxError>>;
}

/// Knows of no use.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoUsedTools;

impl UsedTools for NoUsedTools {
    fn most_used<'a>(
        &'a self,
        _: &'a Principal,
        _: UtcDay,
    ) -> BoxFuture<'a, Result<Vec<ToolId>, BoxError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: UtcDay = UtcDay(20_000);

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let midnight = DAY.start();
        assert_eq!(midnight.to_string(), "2024-10-04T00:00:00.000Z");
        let just_before = Timestamp::from_millis(midnight.as_millis() - 1);
        assert_eq!((UtcDay::of(midnight), UtcDay::of(just_before)), (DAY, DAY.before(1)));
        assert_eq!(UtcDay::of(Timestamp::from_millis(0)).before(7).number(), 0);
    }
}
