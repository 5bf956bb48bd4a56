//! The catalogue as commands use it: opened, completed by asking unknown sources, and searched for
//! a tool by name.

use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::{Tool, View};
use gatefold_core::{Domain, ToolName};
use gatefold_dispatch::Pinned;

use super::arguments::SharedOptions;
use super::failure::with_help;
use super::output::Output;
use super::progress::Progress;
use super::{check, session, visible};

/// The hint when no configured source can have tools.
pub(super) const NO_SOURCE: &str =
    "no source is configured; `gatefold import` imports them from your clients";

/// Runs `act` on the catalogue and on the domains that failed to answer.
///
/// Sources that were never reached are asked first, unless `is_enough` accepts what is known.
pub(super) async fn with_catalog(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
    is_enough: impl FnOnce(&View) -> bool,
    act: impl AsyncFnOnce(&Pinned, &[Domain]) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let app = session::open(shared, environment).await?.app;
    let mut failed = Vec::new();
    if !is_enough(app.pin().view()) {
        for (domain, reason) in app.learn(&Progress::new(output, "learning")).await {
            let reason = visible::on_one_line(&check::reason(&reason, &domain));
            output.warning(&format!("source `{domain}` is left out: {reason}"));
            failed.push(domain);
        }
    }
    let result = act(&app.pin(), &failed).await;
    app.close().await;
    result
}

/// The exit code when some domains could not be asked.
pub(super) fn code_of(failed: &[Domain]) -> ExitCode {
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Finds a tool by any of its names.
pub(super) fn resolve<'a>(view: &'a View, name: &str) -> anyhow::Result<&'a Tool> {
    let unknown = |nearest: Vec<String>| {
        let help = if !nearest.is_empty() {
            format!("did you mean {}?", nearest.join(" or "))
        } else if view.tool_count() > 0 {
            "`gatefold tools list` shows them all".to_owned()
        } else if view.domains().next().is_some() {
            "no source could be reached; `gatefold check` says why".to_owned()
        } else {
            NO_SOURCE.to_owned()
        };
        with_help(format!("unknown tool `{name}`"), help)
    };
    let asked = ToolName::parse(name).map_err(|_| unknown(Vec::new()))?;
    view.resolve(&asked)
        .map_err(|miss| unknown(miss.nearest.iter().map(|id| format!("`{id}`")).collect()))
}
