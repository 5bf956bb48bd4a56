//! The model that a command asks.

use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, value_parser};
use gatefold::Environment;
use gatefold_core::Secret;
use gatefold_egress::{Egress, Reach, Settings};
use gatefold_model::{
    Api, ModelAnswer, ModelClient, ModelError, ModelRequest, ModelSpec, ShortForm, ToolCalls,
};
use tokio::time::Instant;

use super::failure::usage;

/// The variable with the endpoint's key, unless another is named.
const KEY_VARIABLE: &str = "GATEFOLD_MODEL_KEY";

/// How long a command waits for an endpoint that is busy, besides the time of the answers.
const PATIENCE: Duration = Duration::from_mins(6);

/// Which model is asked, and where.
#[derive(Debug, Args)]
pub(crate) struct ModelOptions {
    /// Where the model is: the address before `/chat/completions` or `/messages`
    #[arg(long, value_name = "URL")]
    model_url: Option<String>,
    /// The model's name, as its endpoint knows it; without an address `openai:NAME`,
    /// `anthropic:NAME`, `gemini:NAME`, `ollama:NAME` or `llama-server:NAME`
    #[arg(long, value_name = "NAME")]
    pub(super) model: String,
    /// What the address speaks: `openai-chat` or `anthropic`
    #[arg(long, value_name = "API", default_value_t = Api::OpenAiChat, requires = "model_url")]
    model_api: Api,
    /// The variable with the endpoint's key [default: `GATEFOLD_MODEL_KEY`, if it is set; of a
    /// well-known host its own, such as `OPENAI_API_KEY`]
    #[arg(long, value_name = "NAME")]
    model_key_env: Option<String>,
    /// How many seconds one answer of the model may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

/// Why a model gave no answer that is of use.
#[derive(Debug)]
pub(super) struct NoAnswer {
    pub(super) reason: String,
    /// No other request can do better: the key or the address is wrong.
    pub(super) is_final: bool,
}

impl ModelOptions {
    pub(super) fn client(&self, environment: &Environment) -> anyhow::Result<ModelClient> {
        self.client_that_calls(ToolCalls::Auto, environment)
    }

    /// A client whose model calls tools in this way.
    pub(super) fn client_that_calls(
        &self,
        tool_calls: ToolCalls,
        environment: &Environment,
    ) -> anyhow::Result<ModelClient> {
        let (mut spec, usual_key) = if let Some(url) = &self.model_url {
            let url = url.parse();
            let url =
                url.map_err(|error| usage(format!("`--model-url` is not an address: {error}")))?;
            (ModelSpec::new(self.model_api, url, &self.model), KEY_VARIABLE)
        } else {
            let form: ShortForm = self.model.parse().map_err(|error| {
                usage(format!("{error}; or say with `--model-url` where the model is"))
            })?;
            (form.spec(), form.key_variable().unwrap_or(KEY_VARIABLE))
        };
        let variable = self.model_key_env.as_deref();
        let key = environment.get_filled(variable.unwrap_or(usual_key));
        if let (None, Some(variable)) = (key, variable) {
            return Err(usage(format!(
                "the variable `{variable}` of `--model-key-env` is not set"
            )));
        }
        spec.key = key.map(Secret::new);
        spec.tool_calls = tool_calls;
        spec.timeout = Duration::from_secs(self.timeout);
        // An endpoint is silent until its model has said everything.
        let settings = Settings { read_timeout: Some(spec.timeout), ..Settings::default() };
        let egress = Egress::new(settings).context("the model cannot be asked")?;
        // A person named this address on the command line.
        let client = ModelClient::new(egress.client_for(Reach::any()), spec);
        client.map_err(|error| usage(error.to_string()))
    }
}

/// Asks for an answer, and again as often as that is of use.
pub(super) async fn ask(
    model: &ModelClient,
    request: ModelRequest<'_>,
) -> Result<ModelAnswer, ModelError> {
    model.ask(request, Instant::now() + patience(model)).await
}

/// How long a command waits for one answer of a model.
pub(super) fn patience(model: &ModelClient) -> Duration {
    model.spec().timeout.saturating_add(PATIENCE)
}

impl From<ModelError> for NoAnswer {
    fn from(error: ModelError) -> Self {
        Self { reason: error.to_string(), is_final: error.is_final() }
    }
}
