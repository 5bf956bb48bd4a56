//! `gatefold models`: which language models there are, and whether they answer.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use gatefold::Environment;
use gatefold::config::{Config, ModelConfig};
use gatefold_core::{Cost, Principal};
use gatefold_model::{History, ModelClient, ModelError, ModelRequest, UserMessage};
use gatefold_operations::{Asker, ModelToday, StateOperations};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::arguments::{Format, SharedOptions};
use super::chat::configuration;
use super::chosen_model::{ModelChooser, host, key_words};
use super::failure::with_help;
use super::output::Output;
use super::table::Table;
use super::{session, stop};

/// What a model is asked so that it answers something.
const TRIAL: &str = "Answer with the word yes.";

/// How long a model may take to answer that: a local one may have to be loaded first.
const TRIAL_TIME: Duration = Duration::from_secs(90);

/// How many models of an endpoint are named.
const NAMED: usize = 10;

#[derive(Debug, Args)]
pub(crate) struct Models {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Ask each model something tiny, and say what is wrong with those that do not answer
    #[command(after_long_help = "Example:\n  gatefold models check fast")]
    Check {
        /// Only this one: a name in `[models]`, or a short form such as `ollama:qwen3`
        #[arg(value_name = "NAME")]
        name: Option<String>,
        #[command(flatten)]
        format: Format,
    },
}

impl Models {
    pub(crate) fn is_json(&self) -> bool {
        match &self.command {
            Some(ModelsCommand::Check { format, .. }) => format.json,
            None => self.format.json,
        }
    }
}

pub(super) async fn run(
    models: &Models,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let config = configuration(shared, environment)?;
    let user = config.local_user();
    stop::unless_stopped(async {
        let chooser = ModelChooser { config: &config, principal: &user, environment };
        match &models.command {
            None => list(&chooser, shared, output).await,
            Some(ModelsCommand::Check { name, .. }) => {
                check(name.as_deref(), &chooser, output).await
            }
        }
    })
    .await
}

/// A model with the reason why it is there.
struct KnownModel {
    model: ModelConfig,
    origin: String,
}

/// What was spent today of each of these models, in their order.
async fn spent_today(
    known: &[KnownModel],
    chooser: &ModelChooser<'_>,
    shared: &SharedOptions,
) -> anyhow::Result<Vec<ModelToday>> {
    let ModelChooser { config, principal, environment } = *chooser;
    let models = || known.iter().map(|known| &known.model);
    let state_dir = session::state_dir(shared, config, environment)?;
    if !state_dir.exists() {
        let nothing = |model| ModelToday::of(model, None, config, principal);
        return Ok(models().map(nothing).collect());
    }
    let state = StateOperations::open(&state_dir, Asker::Operator).await?;
    let today = state.models_today(models(), config).await;
    state.close().await?;
    Ok(today?)
}

/// The configured models, or what the environment offers where there are none.
async fn known(chooser: &ModelChooser<'_>) -> Vec<KnownModel> {
    let ModelChooser { config, principal, .. } = chooser;
    let configured = configured(config, principal);
    if !configured.is_empty() {
        return configured;
    }
    let offered = chooser.offered().await;
    offered.map(|(model, origin)| KnownModel { model, origin }).into_iter().collect()
}

fn configured(config: &Config, principal: &Principal) -> Vec<KnownModel> {
    let origin = "configuration".to_owned();
    let models = config.models_for(principal).cloned();
    models.map(|model| KnownModel { model, origin: origin.clone() }).collect()
}

async fn list(
    chooser: &ModelChooser<'_>,
    shared: &SharedOptions,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let known = known(chooser).await;
    let today = spent_today(&known, chooser, shared).await?;
    let known = || known.iter().zip(&today);
    if output.is_json() {
        let models: Vec<_> = known().map(|(known, today)| as_json(known, today)).collect();
        output.json(&json!({ "models": models }));
        return Ok(ExitCode::SUCCESS);
    }
    let style = output.style();
    let columns = ["name", "api", "at", "model", "key", "today", "from"];
    let mut table = Table::new(&columns).spare(&[1, 6]);
    for (KnownModel { model, origin }, today) in known() {
        let key = match &model.absent {
            Some(_) => style.bad(&format!("{}, missing", key_words(&model.key_source))),
            None => key_words(&model.key_source),
        };
        let (api, name) = (model.spec.api.to_string(), model.spec.model.clone());
        let name_words = style.strong(&model.name);
        table.row([name_words, api, host(model), name, key, words(today), origin.clone()]);
    }
    if today.is_empty() {
        output.line("there are no models");
        output.paragraph("", &format!("to have one, {}", super::chosen_model::NO_MODEL_HELP));
    } else {
        output.lines(&table.lines(style));
    }
    Ok(ExitCode::SUCCESS)
}

/// What was spent, and what is left where that is limited.
fn words(today: &ModelToday) -> String {
    let about = if today.estimated > 0 { "about " } else { "" };
    let mut words = match today.tokens {
        0 => "-".to_owned(),
        tokens => format!("{about}{tokens} tokens"),
    };
    if let Some(cost) = today.cost.filter(|_| today.tokens > 0) {
        let _ = write!(words, ", cost {cost}");
    }
    if !today.left.is_none() {
        let _ = write!(words, "; left: {}", today.left);
    }
    words
}

fn as_json(known: &KnownModel, today: &ModelToday) -> Value {
    let KnownModel { model, origin } = known;
    json!({
        "name": model.name,
        "api": model.spec.api.name(),
        "host": host(model),
        "model": model.spec.model,
        "key": key_words(&model.key_source),
        "is_usable": model.absent.is_none(),
        "from": origin,
        "today": {
            "tokens": today.tokens,
            "estimated_tokens": today.estimated,
            "cost": today.cost.map(Cost::as_units),
            "tokens_left": today.left.tokens,
            "cost_left": today.left.cost.map(Cost::as_units),
        },
    })
}

/// How the trial of one model went.
#[derive(Serialize)]
struct Trial {
    name: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

async fn check(
    name: Option<&str>,
    chooser: &ModelChooser<'_>,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let models: Vec<_> = match name {
        Some(name) => vec![chooser.find(name)?],
        None => known(chooser).await.into_iter().map(|known| known.model).collect(),
    };
    if models.is_empty() {
        return Err(with_help("there is no model to try", super::chosen_model::NO_MODEL_HELP));
    }
    let mut trials = Vec::new();
    for model in &models {
        let trial = attempt(model, chooser).await;
        if !output.is_json() {
            print(&trial, model, output);
        }
        trials.push(trial);
    }
    let is_ok = trials.iter().all(|trial| trial.ok);
    if output.is_json() {
        output.json(&json!({ "ok": is_ok, "models": trials }));
    }
    Ok(if is_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(trial: &Trial, model: &ModelConfig, output: &Output) {
    let style = output.style();
    let (name, host) = (style.strong(&trial.name), host(model));
    match (&trial.reason, &trial.help, trial.ms) {
        (Some(reason), help, _) => {
            output.line(&format!("{} {name} at {host}: {reason}", style.bad("failed")));
            if let Some(help) = help {
                output.paragraph("  ", &format!("help: {help}"));
            }
        }
        (None, _, ms) => {
            let ms = ms.unwrap_or_default();
            output.line(&format!("{} {name} at {host} answered in {ms} ms", style.good("ok")));
        }
    }
}

async fn attempt(model: &ModelConfig, chooser: &ModelChooser<'_>) -> Trial {
    let failed = |reason: String, help: Option<String>| {
        let name = model.name.clone();
        Trial { name, ok: false, ms: None, reason: Some(reason), help }
    };
    if let Some(fault) = &model.absent {
        return failed(fault.on_one_line(), None);
    }
    // Its fallback's answer would say nothing about it.
    let alone = ModelConfig { fallback: None, ..model.clone() };
    let client = match chooser.client(&alone) {
        Ok(client) => client,
        Err(error) => return failed(error.to_string(), None),
    };
    let began = Instant::now();
    let deadline = began + TRIAL_TIME;
    let history = History::new(UserMessage::text(TRIAL).expect("it is not blank"));
    let asked = timeout_at(deadline, client.ask(ModelRequest::new("", &history), deadline)).await;
    match asked {
        Ok(Ok(_)) => {
            let ms = Some(began.elapsed().as_millis());
            Trial { name: model.name.clone(), ok: true, ms, reason: None, help: None }
        }
        Ok(Err(error)) => {
            let help = help(&error, model, &client).await;
            failed(error.to_string(), Some(help))
        }
        Err(_) => {
            let reason = format!("it did not answer within {} s", TRIAL_TIME.as_secs());
            failed(reason, Some("see what its server does, or take a smaller model".to_owned()))
        }
    }
}

/// What to do about an error.
async fn help(error: &ModelError, model: &ModelConfig, client: &ModelClient) -> String {
    match error {
        ModelError::Refused { status, .. } => match status.as_u16() {
            401 | 403 => format!("check its key, which comes from: {}", key_words(&model.key_source)),
            404 => match other_models(client).await {
                Some(models) => format!("check `model`; the endpoint has {models}"),
                None => "check `url` and `model`".to_owned(),
            },
            _ => "check `api`, `model` and `extra`".to_owned(),
        },
        ModelError::Busy { status, .. } if status.as_u16() == 429 => {
            "wait, or see what the key's account still has".to_owned()
        }
        ModelError::Busy { .. } | ModelError::Reported { .. } => "try again later".to_owned(),
        ModelError::Unreachable(_) => {
            "check `url`, and that its server runs and can be reached from here".to_owned()
        }
        ModelError::NotAnAnswer { .. } | ModelError::Empty => {
            "check that `url` is the address before `/chat/completions` or `/messages`, and `api` what \
             it speaks"
                .to_owned()
        }
        _ => "check its section in gatefold.toml".to_owned(),
    }
}

/// The models that an endpoint names.
async fn other_models(client: &ModelClient) -> Option<String> {
    let models = client.models(Instant::now() + TRIAL_TIME).await.ok()?;
    let named: Vec<_> = models.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    (!named.is_empty()).then(|| named.join(", "))
}
