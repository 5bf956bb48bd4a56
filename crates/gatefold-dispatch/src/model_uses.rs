//! The ledger of what models are asked: who used which, how many tokens that took, and what it cost.
//!
//! The tools that are called have records of their own, with the same people and agents: see
//! [`AuditLog`](crate::AuditLog).

use std::time::Duration;

use gatefold_core::{AgentId, CallId, Cost, OrganisationId, Principal, Timestamp, UserId};

use crate::{Journaled, RunId, UtcDay};

/// The tokens of a request to a model and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsedTokens {
    /// All of the prompt, those from a cache included.
    pub input: u64,
    /// How many of `input` were read from the provider's cache.
    pub cached: u64,
    pub output: u64,
    /// Whether any of it is our guess, because the provider did not say.
    pub is_estimated: bool,
}

impl UsedTokens {
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// In what a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UseOrigin {
    /// A run with a journal.
    Run(RunId),
    /// A call that an agent works for, and the run that made it if one did.
    Call(CallId, Option<RunId>),
    Elsewhere,
}

/// A request to a model that is about to be made, with what it will take at least, as far as can be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModelUse {
    pub user: UserId,
    pub organisation: Option<OrganisationId>,
    pub agent: Option<AgentId>,
    pub origin: UseOrigin,
    /// The model, as the configuration calls it.
    pub model: String,
    pub tokens: UsedTokens,
    /// None of a model without a price.
    pub cost: Option<Cost>,
}

impl NewModelUse {
    /// A request by somebody, of which nothing more is known.
    pub fn by(principal: &Principal, origin: UseOrigin, model: impl Into<String>) -> Self {
        Self {
            user: principal.user.clone(),
            organisation: principal.organisation.clone(),
            agent: principal.agent.clone(),
            origin,
            model: model.into(),
            tokens: UsedTokens::default(),
            cost: None,
        }
    }
}

/// A request that is in the ledger, and whose answer is not.
#[derive(Debug, Clone)]
pub struct OpenModelUse {
    /// Its number there.
    pub number: i64,
    pub at: Timestamp,
    pub entry: NewModelUse,
}

/// What a request came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelUseEnd {
    /// The model that answered, perhaps another than was asked first.
    pub model: String,
    pub tokens: UsedTokens,
    pub cost: Option<Cost>,
    pub took: Duration,
}

/// What somebody spent of one model on one day of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaySpending {
    pub day: UtcDay,
    pub answers: u64,
    pub tokens: u64,
    /// How many of `tokens` are our guess.
    pub estimated: u64,
    pub cost: Cost,
}

/// Keeps what models were asked, a row for each answer, and exact sums of each day.
///
/// A request is written down before it is made, so that one whose answer is cut off, or whose process
/// dies, was not for nothing. It belongs to the day on which it was made.
pub trait ModelLedger: Send + Sync + 'static {
    fn begin_use(&self, entry: NewModelUse) -> Journaled<'_, OpenModelUse>;

    /// Replaces what was thought by what came of it. `None` takes the request back: nothing was used.
    fn end_use(&self, open: OpenModelUse, end: Option<ModelUseEnd>) -> Journaled<'_, ()>;

    /// What a user spent of a model today, whichever organisation and agent it was for.
    fn spent_today<'a>(&'a self, user: &'a UserId, model: &'a str) -> Journaled<'a, DaySpending>;

    /// The same of each model that the user had an answer of today, at most 1,000.
    fn all_spent_today<'a>(&'a self, user: &'a UserId)
    -> Journaled<'a, Vec<(String, DaySpending)>>;
}
