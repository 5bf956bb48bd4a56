//! Which of the configured models somebody may use, and the client that asks it.

use std::iter;
use std::time::Duration;

use gatefold_agent::{AgentModel, MeteredModel, ModelRoom, SpendingLimit};
use gatefold_core::Principal;
use gatefold_egress::{Egress, EgressError, Reach, Settings};
use gatefold_model::{ModelClient, ModelSpec};

use crate::config::{AgentConfig, Config, DAILY_TOKENS, Fault, ModelChoice, ModelConfig};

/// Why a model cannot be asked at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelChoiceError {
    #[error("there is no model `{name}`\n  help: {hint}")]
    Unknown { name: String, hint: String },
    /// It is without its key, or cannot be asked with what it has.
    #[error("the model `{name}` cannot be used: {fault}")]
    Unusable { name: String, fault: String },
    #[error("no model can be asked")]
    Egress(#[from] EgressError),
}

impl Config {
    /// The models that somebody may use, in the order of the file.
    pub fn models_for(&self, principal: &Principal) -> impl Iterator<Item = &ModelConfig> {
        self.models.iter().filter(move |model| model.is_for(principal))
    }

    /// The model of this name. One that somebody may not use and a missing one look the same.
    pub fn model_for(
        &self,
        name: &str,
        principal: &Principal,
    ) -> Result<&ModelConfig, ModelChoiceError> {
        let found = self.models_for(principal).find(|model| model.name == name);
        found.ok_or_else(|| {
            let known = self.models_for(principal).map(|model| format!("`{}`", model.name));
            let known: Vec<_> = known.collect();
            let hint = match known.as_slice() {
                [] => "write `[models.NAME]` in gatefold.toml, or use a short form".to_owned(),
                known => format!("the models are {}", known.join(", ")),
            };
            ModelChoiceError::Unknown { name: name.to_owned(), hint }
        })
    }

    /// A model that a section chose, as far as somebody may use it.
    pub fn chosen_model<'c>(
        &'c self,
        choice: &'c ModelChoice,
        principal: &Principal,
    ) -> Option<&'c ModelConfig> {
        match choice {
            ModelChoice::Named(name) => self.model_for(name, principal).ok(),
            ModelChoice::Own(model) => Some(model),
        }
    }

    /// The model of an agent's runs, or of those without an agent: its own, or the first that somebody may use.
    pub fn usual_model<'c>(
        &'c self,
        agent: Option<&'c AgentConfig>,
        principal: &Principal,
    ) -> Option<&'c ModelConfig> {
        match agent.and_then(|agent| agent.model.as_ref()) {
            Some(choice) => self.chosen_model(choice, principal),
            None => self.models_for(principal).find(|model| model.absent.is_none()),
        }
    }

    /// The models without the variable or secret that they need, by their names: those of `[models]`, and
    /// the short forms of agents.
    pub fn unusable_models(&self) -> impl Iterator<Item = (&str, &Fault)> {
        let of_agents = self.agents.values().filter_map(|agent| match &agent.model {
            Some(ModelChoice::Own(model)) => Some(&**model),
            _ => None,
        });
        let all = self.models.iter().chain(of_agents);
        all.filter_map(|model| Some((model.name.as_str(), model.absent.as_ref()?)))
    }

    /// A model's fallbacks in turn, without those that somebody may not use or that lack their key. They lead
    /// in no circle.
    fn fallbacks<'c>(
        &'c self,
        model: &'c ModelConfig,
        principal: &Principal,
    ) -> impl Iterator<Item = &'c ModelConfig> {
        let next = |last: &&'c ModelConfig| match last.fallback.as_ref()? {
            ModelChoice::Named(name) => self.models.iter().find(|model| model.name == *name),
            ModelChoice::Own(model) => Some(&**model),
        };
        let all = std::iter::successors(Some(model), next).skip(1);
        all.filter(|model| model.absent.is_none() && model.is_for(principal))
    }
}

/// How long one answer is waited for beyond the time that its endpoint has: for tries that it asks to wait for.
const PATIENCE: Duration = Duration::from_mins(6);

impl ModelConfig {
    /// What the model takes.
    pub fn room(&self) -> ModelRoom {
        ModelRoom {
            context_tokens: self.context_tokens,
            max_output_tokens: self.spec.max_output_tokens,
            patience: self.spec.timeout.saturating_add(PATIENCE),
        }
    }
}

/// A client for a model and for those that answer when it fails, as far as somebody may use them.
pub fn model_client(
    model: &ModelConfig,
    config: &Config,
    principal: &Principal,
) -> Result<ModelClient, ModelChoiceError> {
    agent_model(model, None, config, principal).map(|model| model.client)
}

/// A model for an agent's runs, or for those without an agent: with the models that answer when it fails, as far
/// as somebody may use them, and with what they may spend.
pub fn agent_model(
    model: &ModelConfig,
    agent: Option<&AgentConfig>,
    config: &Config,
    principal: &Principal,
) -> Result<AgentModel, ModelChoiceError> {
    if let Some(fault) = &model.absent {
        let (name, fault) = (model.name.clone(), fault.on_one_line());
        return Err(ModelChoiceError::Unusable { name, fault });
    }
    let own = agent.map(|agent| agent.limits).unwrap_or_default();
    let limits = own.or(&config.agent_limits);
    let chain: Vec<_> = iter::once(model).chain(config.fallbacks(model, principal)).collect();
    let mut whole: Option<ModelClient> = None;
    for model in chain.iter().rev() {
        let own = client(model, limits.turn)?;
        whole = Some(match whole {
            Some(fallback) => own.with_fallback(fallback),
            None => own,
        });
    }
    Ok(AgentModel {
        client: whole.expect("the model itself is one of them"),
        chain: chain.into_iter().map(|model| metered_model(model, config, principal)).collect(),
        room: model.room(),
        limits,
    })
}

impl ModelConfig {
    /// What somebody may have of it in a day: what it says, or what everybody but the local user has of a model
    /// that says nothing.
    pub fn budget_for(&self, config: &Config, principal: &Principal) -> SpendingLimit {
        let is_local = principal.user == Principal::local().user && principal.token.is_none();
        let usual = || SpendingLimit {
            tokens: (!is_local).then(|| config.model_tokens.unwrap_or(DAILY_TOKENS)),
            cost: None,
        };
        self.budget.unwrap_or_else(usual)
    }
}

fn metered_model(model: &ModelConfig, config: &Config, principal: &Principal) -> MeteredModel {
    let budget = model.budget_for(config, principal);
    MeteredModel { name: model.name.clone(), price: model.price, budget }
}

/// A client of one model, each of whose answers may take so long, if that is set.
fn client(model: &ModelConfig, turn: Option<Duration>) -> Result<ModelClient, ModelChoiceError> {
    let timeout = turn.unwrap_or(model.spec.timeout);
    model.clients.get_or_open(timeout, || open_client(model, timeout))
}

fn open_client(model: &ModelConfig, timeout: Duration) -> Result<ModelClient, ModelChoiceError> {
    let ModelConfig { name, spec, .. } = model;
    let spec = ModelSpec { timeout, ..spec.clone() };
    // An endpoint is silent until its model has said everything.
    let settings = Settings { read_timeout: Some(spec.timeout), ..Settings::default() };
    let egress = Egress::new(settings)?;
    // The operator's file, or the person at the keyboard, named the address.
    let client = ModelClient::new(egress.client_for(Reach::any()), spec);
    let unusable = |fault: String| ModelChoiceError::Unusable { name: name.clone(), fault };
    client.map_err(|error| unusable(error.to_string()))
}
