//! `gatefold surface`: what a model is shown, to the byte, and what it costs.

mod comparison;
mod counted;
mod difference;
mod limits;
mod report;

use std::process::ExitCode;

use clap::Args;
use gatefold::{App, Environment};
use gatefold_core::ClientName;

use super::arguments::{Format, SharedOptions};
use super::catalogue;
use super::output::Output;
use super::progress::Progress;
use super::{control, session, stop};
use comparison::Comparison;
use counted::CountedSurface;
use difference::Difference;

pub(super) use limits::warnings_of_excess;

#[derive(Debug, Args)]
pub(crate) struct SurfaceArguments {
    /// How tools are shown: `gateway`, `namespace`, `typed`, `intent`, `flat` or `auto` [default: the
    /// client's, else `disclosure.default`]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["table", "diff"])]
    disclosure: Option<String>,
    /// Show what a client is given that gives itself this name
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Compare all of them, at rest and for typical tasks, and choose one
    #[arg(long)]
    table: bool,
    /// Set two of them beside each other, tool by tool
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "table")]
    diff: Option<Vec<String>>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// What is to be printed.
enum Printout {
    One(Box<CountedSurface>),
    Table(Comparison),
    Difference(Box<Difference>),
}

pub(super) async fn run(
    surface: &SurfaceArguments,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        let session = session::open(shared, environment).await.map_err(control::without_any)?;
        let progress = Progress::new(output, "learning");
        let left_out = catalogue::complete(&session.app, &progress, |_| false).await;
        let printout = printout(&session.app, surface).await;
        session.app.close().await;
        catalogue::warn_of(&left_out, output);
        let printout = printout?;
        if let Some(client) = surface.client.as_deref().map(ClientName::new) {
            warn_of_no_profile(&session.app, &client, output);
        }
        match printout {
            Printout::One(one) => report::print(&one, surface.client.as_deref(), output),
            Printout::Table(comparison) => comparison.print(output),
            Printout::Difference(difference) => difference.print(output),
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

async fn printout(app: &App, asked: &SurfaceArguments) -> anyhow::Result<Printout> {
    let client = asked.client.as_deref().map(ClientName::new);
    if asked.table {
        return Ok(Printout::Table(Comparison::over(app, client.as_ref()).await?));
    }
    if let Some([a, b]) = asked.diff.as_deref() {
        let difference = Difference::between(app, a, b, client.as_ref()).await?;
        return Ok(Printout::Difference(Box::new(difference)));
    }
    let turn = app.turn_for(asked.disclosure.as_deref(), client.as_ref())?;
    let [one] = counted::counted([turn]).await?;
    Ok(Printout::One(Box::new(one)))
}

/// A client of a name that the configuration does not have is shown what everybody is.
fn warn_of_no_profile(app: &App, client: &ClientName, output: &Output) {
    if !app.config().clients.contains_key(client) {
        output.warning(&format!(
            "there is no profile `clients.{client}`: such a client is shown the default"
        ));
    }
}
