//! The model that somebody talks to: the one asked for, the agent's, the first that is configured, or
//! what the environment offers.

use std::time::Duration;

use gatefold::config::{AgentConfig, Config, KeySource, ModelConfig};
use gatefold::{Environment, ModelChoiceError, agent_model, model_client};
use gatefold_agent::AgentModel;
use gatefold_core::{Principal, Secret};
use gatefold_egress::{Egress, Reach, Settings};
use gatefold_model::{Api, ModelClient, ModelSpec, Origin, ShortForm, detect};
use tokio::time::Instant;
use url::Url;

use super::failure::{usage, usage_with_help, with_help};

/// How long a server on this machine may take to say which models it has.
const LOCAL_SERVER: Duration = Duration::from_secs(1);

/// What to do where there is no model at all.
pub(super) const NO_MODEL_HELP: &str = "set `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`, or start Ollama or \
                             llama-server on this machine, or write `[models.NAME]` in gatefold.toml; \
                             `gatefold config explain models` says how";

/// A model that can be asked.
pub(super) struct ChosenModel {
    pub(super) config: ModelConfig,
    /// The same as runs ask it: with its fallbacks and limits.
    pub(super) runs: AgentModel,
    /// Why it was chosen, if nobody asked for it.
    pub(super) reason: Option<String>,
}

impl ChosenModel {
    /// Who wrote the answers of this model, and of none of its fallbacks.
    pub(super) fn origin(&self) -> Origin {
        let ModelSpec { api, url, model, .. } = &self.config.spec;
        Origin::new(*api, url, model)
    }
}

/// What models there are, and for whom.
#[derive(Clone, Copy)]
pub(super) struct ModelChooser<'a> {
    pub(super) config: &'a Config,
    pub(super) principal: &'a Principal,
    pub(super) environment: &'a Environment,
}

impl ModelChooser<'_> {
    /// The model of this name, or of this short form,
    /// for runs of this agent.
    pub(super) fn named(
        &self,
        name: &str,
        agent: Option<&AgentConfig>,
    ) -> anyhow::Result<ChosenModel> {
        self.opened(self.find(name)?, agent, None)
    }

    pub(super) fn find(&self, name: &str) -> anyhow::Result<ModelConfig> {
        match self.config.model_for(name, self.principal) {
            Ok(model) => Ok(model.clone()),
            Err(unknown) => match name.parse::<ShortForm>() {
                Ok(form) => self.of_short_form(&form),
                Err(_) => Err(usage(format!("{unknown}, or {}", ShortForm::forms()))),
            },
        }
    }

    /// The model for an agent, or for whoever has none.
    pub(super) async fn usual(&self, agent: Option<&AgentConfig>) -> anyhow::Result<ChosenModel> {
        if let Some(choice) = agent.and_then(|agent| agent.model.as_ref()) {
            let model = self.config.chosen_model(choice, self.principal).ok_or_else(|| {
                usage_with_help(
                    "the agent has no model that you may use",
                    "choose one with `--model NAME`",
                )
            })?;
            return self.opened(model.clone(), agent, Some("the agent has it".to_owned()));
        }
        let mut models = self.config.models_for(self.principal);
        let first = models.find(|model| model.absent.is_none());
        if let Some(first) = first.or_else(|| self.config.models_for(self.principal).next()) {
            let reason = "it is the first in gatefold.toml".to_owned();
            return self.opened(first.clone(), agent, Some(reason));
        }
        match self.offered().await {
            Some((model, reason)) => self.opened(model, agent, Some(reason)),
            None => Err(with_help("there is no model to talk to", NO_MODEL_HELP)),
        }
    }

    /// The model that the environment offers, and why.
    pub(super) async fn offered(&self) -> Option<(ModelConfig, String)> {
        let found = detect(|variable| self.key(variable), models_at).await?;
        let model = ModelConfig::of_short_form(&found.form, |variable| self.key(variable));
        Some((model, found.reason))
    }

    fn of_short_form(&self, form: &ShortForm) -> anyhow::Result<ModelConfig> {
        let model = ModelConfig::of_short_form(form, |variable| self.key(variable));
        match &model.key_source {
            KeySource::Variable(variable) if model.spec.key.is_none() => Err(usage_with_help(
                format!("the model `{form}` needs the variable `{variable}`, which is not set"),
                "set it, or choose another model with `--model NAME`",
            )),
            _ => Ok(model),
        }
    }

    /// A model for runs of this agent.
    pub(super) fn opened(
        &self,
        config: ModelConfig,
        agent: Option<&AgentConfig>,
        reason: Option<String>,
    ) -> anyhow::Result<ChosenModel> {
        let runs = agent_model(&config, agent, self.config, self.principal)?;
        Ok(ChosenModel { config, runs, reason })
    }

    pub(super) fn client(&self, model: &ModelConfig) -> Result<ModelClient, ModelChoiceError> {
        model_client(model, self.config, self.principal)
    }

    fn key(&self, variable: &str) -> Option<Secret> {
        self.environment.get_filled(variable).map(Secret::new)
    }
}

/// The models of a server on this machine; None if nothing answers.
async fn models_at(url: Url) -> Option<Vec<String>> {
    let settings = Settings {
        connect_timeout: LOCAL_SERVER,
        read_timeout: Some(LOCAL_SERVER),
        ..Settings::default()
    };
    let egress = Egress::new(settings).ok()?.without_proxies();
    let spec = ModelSpec::new(Api::OpenAiChat, url, "");
    let client = ModelClient::new(egress.client_for(Reach::any()), spec).ok()?;
    client.models(Instant::now() + LOCAL_SERVER).await.ok()
}

/// Where a model is, without anything secret.
pub(super) fn host(model: &ModelConfig) -> String {
    let url = &model.spec.url;
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Where a model's key comes from, in words.
pub(super) fn key_words(source: &KeySource) -> String {
    match source {
        KeySource::Nowhere => "none".to_owned(),
        KeySource::Variable(name) => format!("variable `{name}`"),
        KeySource::Secret(name) => format!("secret `{name}`"),
        KeySource::File => "the configuration".to_owned(),
    }
}
