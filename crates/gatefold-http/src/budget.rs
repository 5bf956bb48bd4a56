//! How much memory all large requests over HTTP may take together.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What each request may take without counting towards the budget, in bytes. Nearly every call
/// fits, so large requests do not keep small ones out. The limit on connections bounds the sum.
const FREE_BYTES: usize = 16 * 1024;
/// What one permit of the budget stands for, in bytes.
const UNIT: usize = 1024;
/// How many copies of a request exist at most while it is handled: its body and the message read
/// from it, then the arguments and the message that is sent on.
const COPIES: usize = 2;
/// Calls that wait for their clients' answers have a budget of their own: the main one divided by
/// this.
const WAITING_PART: usize = 2;

/// The memory that is left.
pub(crate) struct RequestBudget {
    left: Arc<Semaphore>,
    left_for_waiting: Arc<Semaphore>,
}

/// What one request takes from the budget. Dropping the last clone gives it back.
#[derive(Clone)]
pub struct BudgetShare(Option<Arc<LargeRequest>>);

/// A request that counts towards the budget, or still may.
struct LargeRequest {
    budget: Arc<RequestBudget>,
    taken: Mutex<TakenUnits>,
}

#[derive(Default)]
struct TakenUnits {
    permit: Option<OwnedSemaphorePermit>,
    is_waiting: bool,
}

/// There is not enough left.
#[derive(Debug)]
pub(crate) struct OverBudget;

impl RequestBudget {
    /// A budget of this many bytes. One request of the largest size always fits.
    pub(crate) fn new(bytes: usize, largest: usize) -> Arc<Self> {
        let of = |bytes: usize| {
            let units = bytes.max(largest.saturating_mul(COPIES)).div_ceil(UNIT);
            Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS)))
        };
        Arc::new(Self { left: of(bytes), left_for_waiting: of(bytes / WAITING_PART) })
    }

    /// The share of a request that has not arrived yet.
    pub(crate) fn share(self: &Arc<Self>) -> BudgetShare {
        let taken = Mutex::default();
        BudgetShare(Some(Arc::new(LargeRequest { budget: self.clone(), taken })))
    }
}

impl BudgetShare {
    /// The share of a request that is counted elsewhere.
    pub fn none() -> Self {
        Self(None)
    }

    /// Takes what a request of this size needs. It never waits: requests waiting for each other's
    /// shares would all wait until their deadlines.
    pub(crate) fn grow(&self, size: usize) -> Result<(), OverBudget> {
        let Some(request) = self.0.as_ref().filter(|_| size > FREE_BYTES) else { return Ok(()) };
        let mut taken = request.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = size.saturating_mul(COPIES).div_ceil(UNIT).saturating_sub(taken.units());
        if missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).map_err(|_| OverBudget)?;
        let more = request.budget.left.clone().try_acquire_many_owned(missing);
        let more = more.map_err(|_| OverBudget)?;
        match &mut taken.permit {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }

    /// Whether anything was taken for it, as for a large request.
    pub fn is_large(&self) -> bool {
        let taken = self.0.as_ref().map(|request| request.taken.lock());
        taken.is_some_and(|taken| taken.unwrap_or_else(PoisonError::into_inner).units() > 0)
    }

    /// Whether its request may wait for its client, which has a budget of its own.
    pub fn may_wait(&self) -> bool {
        let Some(request) = &self.0 else { return true };
        let mut taken = request.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.is_waiting || taken.units() == 0 {
            return true;
        }
        let Ok(units) = u32::try_from(taken.units()) else { return false };
        match request.budget.left_for_waiting.clone().try_acquire_many_owned(units) {
            Ok(waiting) => {
                *taken = TakenUnits { permit: Some(waiting), is_waiting: true };
                true
            }
            Err(_) => false,
        }
    }
}

impl TakenUnits {
    fn units(&self) -> usize {
        self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 64 * 1024;

    #[test]
    fn a_large_request_counts_twice_until_nothing_of_it_is_left() {
        let budget = RequestBudget::new(4 * LARGE, LARGE);
        let [first, second, third] = [(); 3].map(|()| budget.share());
        first.grow(LARGE).unwrap();
        second.grow(LARGE).unwrap();
        third.grow(LARGE).unwrap_err();
        third.grow(FREE_BYTES).unwrap();
        assert!(!third.is_large(), "a small one takes none");
        assert!(first.is_large());
        let of_its_call = first.clone();
        drop(first);
        third.grow(LARGE).unwrap_err();
        drop(of_its_call);
        third.grow(LARGE).unwrap();
    }

    #[test]
    fn one_that_waits_for_its_client_keeps_no_new_one_out() {
        let budget = RequestBudget::new(4 * LARGE, LARGE);
        let [first, second, third, fourth] = [(); 4].map(|()| budget.share());
        first.grow(LARGE).unwrap();
        second.grow(LARGE).unwrap();
        let waiting = first.clone();
        assert!(waiting.may_wait());
        assert!(waiting.may_wait(), "it has its room already");
        assert!(!second.may_wait(), "half of the budget is for those");
        third.grow(LARGE).unwrap();
        fourth.grow(LARGE).unwrap_err();
        drop((first, waiting));
        assert!(second.may_wait());
    }
}
