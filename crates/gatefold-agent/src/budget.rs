//! What runs may spend, and what they have spent.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gatefold_core::Cost;
use gatefold_dispatch::RunId;

use crate::Shortage;

/// What was spent, or may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spending {
    pub tokens: u64,
    /// None where no model has a price.
    pub cost: Option<Cost>,
}

/// The most that may be spent, as far as that is limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpendingLimit {
    pub tokens: Option<u64>,
    pub cost: Option<Cost>,
}

/// What runs may still spend. What is spent of one is spent of the budget that it is within, too: that is
/// how a run's children share what it has.
#[derive(Debug, Clone, Default)]
pub struct Budget(Arc<BudgetState>);

#[derive(Debug, Default)]
struct BudgetState {
    limit: SpendingLimit,
    tokens: AtomicU64,
    micros: AtomicU64,
    has_price: AtomicBool,
    outer: Option<Budget>,
    /// The run that it is the budget of.
    run: Option<RunId>,
}

impl SpendingLimit {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// What there is no more of, once so much was spent.
    pub fn shortage(&self, spent: Spending) -> Option<Shortage> {
        if self.tokens.is_some_and(|limit| spent.tokens >= limit) {
            return Some(Shortage::Tokens);
        }
        let cost = spent.cost.unwrap_or_default();
        self.cost.is_some_and(|limit| cost >= limit).then_some(Shortage::Cost)
    }
}

impl fmt::Display for SpendingLimit {
    /// `50000 tokens`, `a cost of 1.50`, or both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.tokens, self.cost) {
            (Some(tokens), Some(cost)) => write!(f, "{tokens} tokens or a cost of {cost}"),
            (Some(tokens), None) => write!(f, "{tokens} tokens"),
            (None, Some(cost)) => write!(f, "a cost of {cost}"),
            (None, None) => f.write_str("no limit"),
        }
    }
}

impl Budget {
    pub fn new(limit: SpendingLimit) -> Self {
        Self(Arc::new(BudgetState { limit, ..BudgetState::default() }))
    }

    pub fn unlimited() -> Self {
        Self::default()
    }

    /// The budget of a run, within this one. What is spent by others for the run can be told from what they spend otherwise.
    #[must_use]
    pub(crate) fn of_run(&self, limit: SpendingLimit, run: Option<RunId>) -> Self {
        let outer = Some(self.clone());
        Self(Arc::new(BudgetState { limit, outer, run, ..BudgetState::default() }))
    }

    /// The innermost run that what is spent here is spent for, if it has a journal.
    pub(crate) fn run(&self) -> Option<RunId> {
        self.0.run.or_else(|| self.0.outer.as_ref()?.run())
    }

    pub fn spent(&self) -> Spending {
        let micros = self.0.micros.load(Ordering::Relaxed);
        let has_price = self.0.has_price.load(Ordering::Relaxed);
        Spending {
            tokens: self.0.tokens.load(Ordering::Relaxed),
            cost: has_price.then_some(Cost::from_micros(micros)),
        }
    }

    /// What there is no more of, here or further out.
    pub fn shortage(&self) -> Option<Shortage> {
        let own = self.0.limit.shortage(self.spent());
        own.or_else(|| self.0.outer.as_ref()?.shortage())
    }

    /// Counts what was spent. It is known only afterwards, so the last answer may take more than was left.
    pub fn spend(&self, spending: Spending) {
        add(&self.0.tokens, spending.tokens);
        if let Some(cost) = spending.cost {
            add(&self.0.micros, cost.as_micros());
            self.0.has_price.store(true, Ordering::Relaxed);
        }
        if let Some(outer) = &self.0.outer {
            outer.spend(spending);
        }
    }
}

fn add(sum: &AtomicU64, more: u64) {
    let plus = |sum: u64| Some(sum.saturating_add(more));
    let _ = sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, plus);
}
