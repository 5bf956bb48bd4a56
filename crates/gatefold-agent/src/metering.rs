//! What models are asked by one person: within the day's budgets, and into the ledger.

use std::sync::Arc;

use gatefold_core::{AgentId, Principal};
use gatefold_dispatch::{
    DaySpending, JournalError, ModelLedger, ModelUseEnd, NewModelUse, OpenModelUse, UseOrigin,
    UsedTokens,
};
use tokio::time::Instant;

use crate::{Spending, SpendingLimit, TokenPrice};

/// A model with a name in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeteredModel {
    pub name: String,
    pub price: Option<TokenPrice>,
    /// What one person may spend of it on a day of UTC.
    pub budget: SpendingLimit,
}

/// Writes down what a run asks, for one person, of a model and of those that answer when it fails.
pub struct ModelMeter {
    ledger: Arc<dyn ModelLedger>,
    principal: Principal,
    origin: UseOrigin,
    /// In the order in which a client asks them; at least one.
    models: Vec<MeteredModel>,
}

/// A request that is in the ledger.
pub(crate) struct MeteredRequest {
    open: OpenModelUse,
    /// Which of the models may be asked.
    pub(crate) open_models: Vec<bool>,
    began: Instant,
}

impl ModelMeter {
    /// `models` are those of a [`ModelClient`](gatefold_model::ModelClient), in its order.
    pub fn new(
        ledger: Arc<dyn ModelLedger>,
        principal: &Principal,
        agent: Option<&AgentId>,
        origin: UseOrigin,
        models: Vec<MeteredModel>,
    ) -> Self {
        let principal = Principal { agent: agent.cloned(), ..principal.clone() };
        Self { ledger, principal, origin, models }
    }

    /// Writes a request down, of about so many tokens. Otherwise it is why no model may be asked, in words for
    /// the person.
    ///
    /// Requests that run at the same time may each find something left.
    pub(crate) async fn begin(
        &self,
        prompt: u64,
    ) -> Result<Result<MeteredRequest, String>, JournalError> {
        let mut open_models = Vec::with_capacity(self.models.len());
        let mut refusal = None;
        for model in &self.models {
            let refused = self.refuse(model).await?;
            open_models.push(refused.is_none());
            // Of several, the one that the person chose.
            refusal = refusal.or(refused);
        }
        let first = self.models.iter().zip(&open_models).find(|(_, is_open)| **is_open);
        let Some((model, _)) = first else { return Ok(Err(refusal.unwrap_or_default())) };
        let tokens = UsedTokens { input: prompt, is_estimated: true, ..UsedTokens::default() };
        let open = self.ledger.begin_use(self.new_use(model, tokens)).await?;
        Ok(Ok(MeteredRequest { open, open_models, began: Instant::now() }))
    }

    /// Writes down what a request took of the models at these places, the last of which answered if any did, and
    /// says what that is. A request that took nothing was not made at all.
    pub(crate) async fn end(
        &self,
        request: MeteredRequest,
        uses: &[(usize, UsedTokens)],
    ) -> Result<Vec<Spending>, JournalError> {
        let MeteredRequest { open, began, .. } = request;
        let mut uses: Vec<_> = uses
            .iter()
            .map(|(place, tokens)| self.new_use(&self.models[*place], *tokens))
            .collect();
        let spent = |of: &NewModelUse| Spending { tokens: of.tokens.total(), cost: of.cost };
        let spending = uses.iter().map(spent).collect();
        let end = uses.pop().map(|NewModelUse { model, tokens, cost, .. }| {
            let took = began.elapsed();
            ModelUseEnd { model, tokens, cost, took }
        });
        // First, so that less is never written down than was used.
        for failed in uses {
            self.ledger.begin_use(failed).await?;
        }
        self.ledger.end_use(open, end).await?;
        Ok(spending)
    }

    fn new_use(&self, model: &MeteredModel, tokens: UsedTokens) -> NewModelUse {
        let cost = model.price.map(|price| price.cost(&tokens));
        let new = NewModelUse::by(&self.principal, self.origin, &model.name);
        NewModelUse { tokens, cost, ..new }
    }

    async fn refuse(&self, model: &MeteredModel) -> Result<Option<String>, JournalError> {
        if model.budget.is_none() {
            return Ok(None);
        }
        let spent = self.ledger.spent_today(&self.principal.user, &model.name).await?;
        let DaySpending { tokens, cost, day, .. } = spent;
        let is_short = model.budget.shortage(Spending { tokens, cost: Some(cost) }).is_some();
        Ok(is_short.then(|| {
            let midnight = day.next().start().to_string();
            let date = midnight.split('T').next().unwrap_or_default();
            format!(
                "the model `{}` has answered you as much as it may in a day ({}); it is free again on {date} \
                 at 00:00 UTC",
                model.name, model.budget
            )
        }))
    }
}
