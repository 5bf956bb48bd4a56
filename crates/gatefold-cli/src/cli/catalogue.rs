//! The catalogue as commands use it: they open it, complete it by asking unknown sources, and look
//! up tools in it by name.

use std::process::ExitCode;
use std::time::Duration;

use gatefold::{App, Environment};
use gatefold_catalog::{Tool, View};
use gatefold_core::{Domain, ToolName};
use gatefold_dispatch::PinnedTurn;
use serde::{Deserialize, Serialize};

use super::arguments::SharedOptions;
use super::failure::with_help;
use super::output::Output;
use super::progress::Progress;
use super::{session, visible};

/// The hint when no configured source can have tools.
pub(super) const NO_SOURCE: &str = "no source is configured; `gatefold import` imports them from your clients, `gatefold add` adds \
     one, and `gatefold init` writes a configuration to fill in";

/// Runs `act` on the catalogue and on the domains that failed to answer.
///
/// Sources that were never reached are asked first, unless `is_enough` accepts what is known.
pub(super) async fn with_catalog(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
    is_enough: impl FnOnce(&View) -> bool,
    act: impl AsyncFnOnce(&PinnedTurn, &[Domain]) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let app = session::open(shared, environment).await?.app;
    let left_out = complete(&app, &Progress::new(output, "learning"), is_enough).await;
    warn_of(&left_out, output);
    let failed: Vec<_> = left_out.into_iter().map(|source| source.domain).collect();
    let result = act(&app.pin(), &failed).await;
    app.close().await;
    result
}

/// How long a command waits for the encoder to read the tools, which it does once.
const ENCODER_WAIT: Duration = Duration::from_mins(1);

/// What people see of the encoder meanwhile.
pub(super) const READING: &str = "the encoder reads the tools";

/// What people are told of a ranking for which that was not enough.
pub(super) const UNREAD_TOOLS: &str =
    "the encoder has not read all tools yet, so this ranking is without it; ask again later";

/// Waits until the encoder has read the tools, so that a search finds what it will find from then on.
/// Returns whether it has.
pub(super) async fn await_encoder(app: &App, progress: &Progress) -> bool {
    progress.during(READING, app.await_encoder(ENCODER_WAIT)).await
}

/// A source that could not be asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LeftOutSource {
    pub(super) domain: Domain,
    reason: String,
}

/// Asks the sources that were never reached, unless `is_enough` accepts what is known. Returns those
/// that could not be asked.
pub(super) async fn complete(
    app: &App,
    progress: &Progress,
    is_enough: impl FnOnce(&View) -> bool,
) -> Vec<LeftOutSource> {
    if is_enough(app.pin().view()) {
        return Vec::new();
    }
    let failed = app.learn(progress).await.into_iter();
    let left_out = failed.map(|(domain, error)| {
        let reason = reason(&error, &domain);
        LeftOutSource { domain, reason }
    });
    left_out.collect()
}

pub(super) fn warn_of(left_out: &[LeftOutSource], output: &Output) {
    for LeftOutSource { domain, reason } in left_out {
        let reason = visible::on_one_line(reason);
        output.warning(&format!("source `{domain}` is left out: {reason}"));
    }
}

/// The reason without the domain, which is printed next to it.
pub(super) fn reason(error: &str, domain: &Domain) -> String {
    let known = format!("`{domain}` is unavailable: ");
    error.strip_prefix(&known).unwrap_or(error).to_owned()
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
