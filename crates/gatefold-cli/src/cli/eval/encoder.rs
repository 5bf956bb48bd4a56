//! The encoder of what is measured: whether it can be used, and has read all.

use std::sync::Arc;
use std::time::Duration;

use gatefold::config::load;
use gatefold::{EncoderTier, Environment};
use gatefold_catalog::{Encoder, Scope, SearchMode, View, search};
use gatefold_encoder::ModelPlace;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::cli::arguments::SharedOptions;
use crate::cli::failure::with_help;
use crate::cli::output::Output;
use crate::cli::paths;
use crate::cli::progress::{Progress, READING};

/// How long an encoder may take to read texts that it does not know yet.
const READING_LIMIT: Duration = Duration::from_mins(10);

/// How long one look at that waits.
const STEP: Duration = Duration::from_millis(100);

/// The encoder of the configured sources.
pub(super) fn configured_model(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Option<ModelPlace>> {
    let inputs = shared.inputs().located(environment)?;
    Ok(load(&inputs, environment)?.search.encoder)
}

/// Refuses an encoder that cannot be opened, because the figures would be those of a search without
/// one.
pub(super) async fn examine(
    model: Option<&ModelPlace>,
    environment: &Environment,
) -> anyhow::Result<()> {
    let Some(model) = model else { return Ok(()) };
    let (shown, help) = match model {
        ModelPlace::Builtin => (
            model.to_string(),
            "measure without it: `--encoder none`, or `search.encoder = \"none\"`",
        ),
        ModelPlace::Files(path) => (
            paths::shown(path, environment),
            "name a folder with `model.onnx` and `vocab.txt`; `gatefold model get` downloads one",
        ),
    };
    EncoderTier::examine(model.clone()).await.map(drop).map_err(|fault| {
        with_help(format!("the encoder in `{shown}` cannot be used: {fault}"), help)
    })
}

/// Searches once and waits until the encoder has read everything. The first search builds the index,
/// which should not be timed, and determines the past queries and the written texts to read.
pub(super) async fn prepare(
    view: &View,
    request: &str,
    mode: SearchMode,
    output: &Output,
) -> anyhow::Result<()> {
    search(view, request, &Scope::default(), mode, 1);
    match view.snapshot().encoder() {
        Some(encoder) if mode != SearchMode::Keyword => await_reading(encoder, output).await,
        _ => Ok(()),
    }
}

/// Waits until the encoder has read everything, because the figures would be those of a search
/// without one.
pub(super) async fn await_reading(
    encoder: &Arc<dyn Encoder>,
    output: &Output,
) -> anyhow::Result<()> {
    let reading = async {
        loop {
            let encoder = Arc::clone(encoder);
            // In steps, so that no thread waits for long after somebody has stopped the command.
            if spawn_blocking(move || encoder.finish(STEP)).await.unwrap_or(true) {
                break;
            }
        }
    };
    let progress = Progress::new(output, "measuring");
    let reading = progress.during(READING, reading);
    timeout(READING_LIMIT, reading).await.map_err(|_| {
        let minutes = READING_LIMIT.as_secs() / 60;
        with_help(
            format!("the encoder has not read everything within {minutes} minutes"),
            "run it again, or measure without it: `--encoder none`, or `search.encoder = \"none\"`",
        )
    })
}
