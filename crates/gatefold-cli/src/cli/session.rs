//! The common start of every command that works with sources.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use gatefold::config::{Config, Inputs, default_state_dir, load};
use gatefold::{App, Environment, SeenFiles};
use gatefold_core::SystemClock;
use gatefold_mcp::INSIDE;
use gatefold_operations::{Asker, StateOperations};
use gatefold_setup::{SourceReach, source_reach};

use super::arguments::SharedOptions;
use super::failure;

/// A gateway and the inputs that it was built from.
pub(super) struct Session {
    pub(super) app: Arc<App>,
    pub(super) inputs: Inputs,
    /// What its files held just before they were read.
    pub(super) seen: SeenFiles,
}

/// Refuses to serve as a source of another Gatefold: a source that leads back to this configuration
/// would start itself forever.
pub(super) fn refuse_inside(environment: &Environment) -> anyhow::Result<()> {
    if environment.get_filled(INSIDE).is_none() {
        return Ok(());
    }
    Err(failure::with_help(
        "Gatefold was started by Gatefold, which would go on for ever",
        "remove Gatefold from its own sources",
    ))
}

/// Finds and reads the configuration and builds the gateway. It connects to nothing yet.
pub(super) async fn open(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Session> {
    let inputs = shared.inputs().located(environment)?;
    let files = inputs.config.iter().chain(&inputs.mcp_configs);
    let seen = SeenFiles::of(files.map(|file| environment.directory().join(file)));
    let config = load(&inputs, environment)?;
    let session = open_with(config, shared, environment).await?;
    Ok(Session { inputs, seen, ..session })
}

/// Builds the gateway of a configuration.
pub(super) async fn open_with(
    config: Config,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Session> {
    let state_dir = state_dir(shared, &config, environment)?;
    let app = gatefold::build(config, &state_dir, Arc::new(SystemClock)).await?;
    Ok(Session { app: Arc::new(app), inputs: Inputs::default(), seen: SeenFiles::default() })
}

/// Acts on what is on record in a state directory, which is closed afterwards.
pub(super) async fn with_state(
    state_dir: &Path,
    act: impl AsyncFnOnce(&StateOperations) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let state = StateOperations::open(state_dir, Asker::Operator).await?;
    let done = act(&state).await;
    state.close().await?;
    done.map(|()| ExitCode::SUCCESS)
}

/// Logs which sources cannot be used at all, so that nobody wonders about their tools.
pub(super) fn warn_of_unusable(app: &App) {
    for source in app.config().sources {
        if let Some(fault) = source.section.fault() {
            let reason = fault.on_one_line();
            tracing::warn!(domain = %source.domain, %reason, "a source cannot be used");
        }
    }
}

/// Which sources were reached as they are configured now. An unreadable record counts as none.
pub(super) async fn reach(config: &Config, state_dir: &Path) -> SourceReach {
    source_reach(config, state_dir).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "which sources were reached is not known");
        SourceReach::default()
    })
}

/// The state directory for commands that need no configuration: the usual one if a configuration
/// cannot be read.
pub(super) fn state_dir_alone(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    let inputs = shared.inputs().located(environment);
    let config = inputs.and_then(|inputs| load(&inputs, environment)).unwrap_or_default();
    state_dir(shared, &config, environment)
}

/// Where the demonstration keeps its state, given the state directory.
pub(super) fn demo_state_dir(state_dir: &Path) -> PathBuf {
    state_dir.join("demo").join("state")
}

/// The state directory: the command line's, else the configuration's, else the user's default.
pub(super) fn state_dir(
    shared: &SharedOptions,
    config: &Config,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    let Some(chosen) = shared.state_dir.as_ref().or(config.state_dir.as_ref()) else {
        return Ok(default_state_dir(environment)?);
    };
    let state_dir = environment.directory().join(chosen);
    let nearest = state_dir.ancestors().find(|path| path.exists());
    if let Some(other) = nearest.filter(|path| !path.is_dir()) {
        return Err(failure::usage(format!(
            "the state directory cannot be `{}`: `{}` is no directory\n  help: choose another with \
             `--state-dir DIR`",
            chosen.display(),
            other.display()
        )));
    }
    Ok(state_dir)
}
