//! What happens after a change of the configuration.

use std::path::Path;

use gatefold::Environment;
use serde::Serialize;

use crate::cli::arguments::SharedOptions;
use crate::cli::control;
use crate::cli::output::Output;

/// A gateway that follows the changed file.
#[derive(Debug, Serialize)]
pub(super) struct FollowingGateway {
    process: u32,
    /// Where it serves over HTTP, if it does.
    url: Option<String>,
}

/// The gateway that runs with this configuration.
pub(super) async fn gateway(
    path: &Path,
    shared: &SharedOptions,
    environment: &Environment,
) -> Option<FollowingGateway> {
    let config = Some(path.to_owned());
    let shared = SharedOptions { config, mcp_config: Vec::new(), ..shared.clone() };
    let located = control::locate(&shared, environment).await.ok()?;
    let identity = &located.for_sources()?.identity;
    Some(FollowingGateway { process: identity.process, url: identity.url.clone() })
}

/// Says that a running gateway needs no restart.
pub(super) fn taken_over(gateway: Option<&FollowingGateway>, output: &Output) {
    if let Some(FollowingGateway { process, .. }) = gateway {
        let text = format!("the gateway that runs (process {process}) takes it over by itself");
        output.paragraph("", &text);
    }
}
