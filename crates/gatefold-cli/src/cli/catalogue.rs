//! The catalogue as commands use it: opened, and completed by asking unknown sources.

use std::process::ExitCode;

use gatefold::Environment;
use gatefold_catalog::View;
use gatefold_core::Domain;
use gatefold_dispatch::PinnedTurn;
use gatefold_operations::{LeftOutSource, complete};

use super::arguments::SharedOptions;
use super::output::Output;
use super::progress::Progress;
use super::{session, visible};

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

/// What people are told of a ranking for which that was not enough.
pub(super) const UNREAD_TOOLS: &str =
    "the encoder has not read all tools yet, so this ranking is without it; ask again later";

pub(super) fn warn_of(left_out: &[LeftOutSource], output: &Output) {
    for LeftOutSource { domain, reason } in left_out {
        let reason = visible::on_one_line(reason);
        output.warning(&format!("source `{domain}` is left out: {reason}"));
    }
}

/// The exit code when some domains could not be asked.
pub(super) fn code_of(failed: &[Domain]) -> ExitCode {
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
