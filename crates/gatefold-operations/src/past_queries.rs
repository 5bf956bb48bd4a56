//! What searches have learnt from use.

use gatefold_store::{PastQueryFilter, PastQueryRecord};

use crate::{LISTED, OperationError, StateOperations};

impl StateOperations {
    /// Past queries, by tool and then by weight, the heaviest first.
    pub async fn past_queries(
        &self,
        of: &PastQueryFilter,
    ) -> Result<Vec<PastQueryRecord>, OperationError> {
        self.asker.require_operator("list past queries")?;
        Ok(self.store.past_queries(of, LISTED).await?)
    }

    /// Erases past queries, and returns how many there were.
    pub async fn forget_past_queries(&self, of: &PastQueryFilter) -> Result<u64, OperationError> {
        self.asker.require_operator("erase past queries")?;
        Ok(self.store.forget_past_queries(of).await?)
    }
}
