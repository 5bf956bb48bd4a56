//! Finds the running gateways.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use futures::future::join_all;
use gatefold::Environment;
use gatefold::config::{ConfigError, Inputs};
use gatefold_operations::StateOperations;

use super::client::RunningGateway;
use super::folder::ControlFolder;
use super::{GatewayIdentity, real_path};
use crate::cli::arguments::SharedOptions;
use crate::cli::failure::usage;
use crate::cli::{session, stop};

/// How to start a gateway, for when none is found.
pub(in crate::cli) const START_HELP: &str =
    "start one with `gatefold serve`, or try `gatefold demo`";

/// Replaces the error about a missing configuration by one that also says how to start a gateway.
pub(in crate::cli) fn without_any(error: anyhow::Error) -> anyhow::Error {
    if !matches!(error.downcast_ref(), Some(ConfigError::NotFound { .. })) {
        return error;
    }
    usage(format!(
        "no gateway runs, and there is no configuration\n  help: {START_HELP}; `gatefold import` and \
         `gatefold init` write a configuration, `--config FILE` names one"
    ))
}

/// The gateways that share a state directory.
pub(in crate::cli) struct LocatedGateways {
    pub(in crate::cli) state_dir: PathBuf,
    /// In the order in which they are asked: `serve` first, and among equals the one that started
    /// last.
    pub(in crate::cli) running: Vec<RunningGateway>,
    /// Sockets on which nobody answers, each with the reason.
    pub(in crate::cli) silent: Vec<String>,
    /// The files that a gateway must use for the command to be about its sources.
    files: Option<Vec<String>>,
}

impl LocatedGateways {
    /// The gateway to ask about itself, and the others. One that runs with this command's
    /// configuration comes first.
    pub(in crate::cli) fn into_first(mut self) -> Option<(RunningGateway, Vec<GatewayIdentity>)> {
        if self.running.is_empty() {
            return None;
        }
        let fits = self.running.iter().position(|gateway| self.fits(&gateway.identity));
        let first = self.running.remove(fits.unwrap_or_default());
        Some((first, self.running.into_iter().map(|gateway| gateway.identity).collect()))
    }

    /// The gateway to ask about its sources: one with the configuration that the command line names
    /// or the working directory leads to. If there is no configuration, any gateway will do.
    pub(in crate::cli) fn for_sources(&self) -> Option<&RunningGateway> {
        self.running.iter().find(|gateway| self.fits(&gateway.identity))
    }

    fn fits(&self, identity: &GatewayIdentity) -> bool {
        self.files.as_ref().is_none_or(|files| *files == identity.files)
    }
}

/// Finds the gateways of the state directory that the command line or the configuration leads to.
/// If there is neither, and no gateway runs there, the demo's gateways are used.
pub(in crate::cli) async fn locate(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<LocatedGateways> {
    let state_dir = session::state_dir_alone(shared, environment)?;
    let located = shared.inputs().located(environment);
    let is_unconfigured = matches!(located, Err(ConfigError::NotFound { .. }));
    let is_named = shared.config.is_some() || !shared.mcp_config.is_empty();
    let files = located.ok().filter(|_| is_named || shared.state_dir.is_none());
    let files = files.map(|inputs| names(&inputs, environment));
    let found = look_in(&state_dir).await;
    if found.0.is_empty() && is_unconfigured && shared.state_dir.is_none() {
        let demo = session::demo_state_dir(&state_dir);
        let (running, silent) = look_in(&demo).await;
        if !running.is_empty() {
            return Ok(LocatedGateways { state_dir: demo, running, silent, files });
        }
    }
    let (running, silent) = found;
    Ok(LocatedGateways { state_dir, running, silent, files })
}

fn names(inputs: &Inputs, environment: &Environment) -> Vec<String> {
    let files = inputs.config.iter().chain(&inputs.mcp_configs);
    files.map(|file| real_path(&environment.directory().join(file))).collect()
}

/// All gateways that run on a state directory, and why others do not answer.
async fn look_in(state_dir: &Path) -> (Vec<RunningGateway>, Vec<String>) {
    let names = ControlFolder::of(state_dir).names();
    let asked = names.into_iter().map(async |name| {
        let found = RunningGateway::behind(state_dir, name.clone()).await;
        (name, found)
    });
    let (mut running, mut silent) = (Vec::new(), Vec::new());
    for (name, found) in join_all(asked).await {
        match found {
            Ok(gateway) => running.extend(gateway),
            Err(error) => silent.push(silence(&name, &error)),
        }
    }
    running.sort_by_key(|gateway| {
        (gateway.identity.role, std::cmp::Reverse(gateway.identity.started_at))
    });
    (running, silent)
}

/// Describes a socket such as `serve-1234-18c...sock` that does not answer.
fn silence(socket: &str, error: &io::Error) -> String {
    let mut parts = socket.split('-');
    let (role, process) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match error.kind() {
        io::ErrorKind::TimedOut => {
            format!("`gatefold {role}`, process {process}, runs but does not answer")
        }
        _ => format!("`gatefold {role}`, process {process}, cannot be asked: {error}"),
    }
}

/// Acts on what is on record in the state directory that the other options lead to. What is changed
/// there is noticed by every gateway on it.
pub(crate) async fn on_record(
    shared: &SharedOptions,
    environment: &Environment,
    act: impl AsyncFnOnce(&StateOperations) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let state_dir = locate(shared, environment).await?.state_dir;
        session::with_state(&state_dir, act).await
    })
    .await
}
