//! What people have spent of language models today.

use std::collections::HashMap;

use gatefold::config::{Config, ModelConfig};
use gatefold_agent::SpendingLimit;
use gatefold_core::{Cost, Principal};
use gatefold_dispatch::{DaySpending, ModelLedger as _};

use crate::{Asker, OperationError, StateOperations};

/// What somebody has spent of one model on this day of UTC, and has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelToday {
    pub name: String,
    pub tokens: u64,
    /// How many of `tokens` are our guess, because the endpoint did not say.
    pub estimated: u64,
    /// None of a model without a price.
    pub cost: Option<Cost>,
    /// What is left, as far as that is limited.
    pub left: SpendingLimit,
}

impl ModelToday {
    /// A model of which somebody has spent so much, or nothing.
    pub fn of(
        model: &ModelConfig,
        spent: Option<&DaySpending>,
        config: &Config,
        principal: &Principal,
    ) -> Self {
        let (tokens, estimated, cost) =
            spent.map_or((0, 0, Cost::ZERO), |spent| (spent.tokens, spent.estimated, spent.cost));
        let budget = model.budget_for(config, principal);
        let left = SpendingLimit {
            tokens: budget.tokens.map(|all| all.saturating_sub(tokens)),
            cost: budget.cost.map(|all| all.saturating_sub(cost)),
        };
        let cost = model.price.map(|_| cost);
        Self { name: model.name.clone(), tokens, estimated, cost, left }
    }
}

impl StateOperations {
    /// What whoever asks has spent today of these models, without those that they may not use. The operator's is
    /// the local user's.
    pub async fn models_today<'m>(
        &self,
        models: impl IntoIterator<Item = &'m ModelConfig>,
        config: &Config,
    ) -> Result<Vec<ModelToday>, OperationError> {
        let principal = match &self.asker {
            Asker::Operator => config.local_user(),
            Asker::Principal(principal) => principal.clone(),
        };
        let spent = self.store.all_spent_today(&principal.user).await?;
        let spent: HashMap<_, _> = spent.into_iter().collect();
        let seen = models.into_iter().filter(|model| model.is_for(&principal));
        let of =
            |model: &ModelConfig| ModelToday::of(model, spent.get(&model.name), config, &principal);
        Ok(seen.map(of).collect())
    }
}
