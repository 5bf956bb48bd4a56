//! `gatefold surface`: what a model is shown, to the byte, and what it costs.

mod comparison;
mod counted;
mod difference;
mod limits;
mod report;

use std::process::ExitCode;

use clap::Args;
use gatefold::config::kinds::SKILLS_HEADING;
use gatefold::{App, Environment, ShownTo};
use gatefold_core::{AgentId, ClientName};
use gatefold_exchange::Disclosures;
use gatefold_operations::{await_encoder, complete};

use super::arguments::{Format, SharedOptions};
use super::catalogue;
use super::output::Output;
use super::progress::Progress;
use super::{control, session, stdio, stop};
use comparison::Comparison;
use counted::CountedSurface;
use difference::Difference;

pub(super) use limits::warnings_of_excess;

#[derive(Debug, Args)]
pub(crate) struct SurfaceArguments {
    /// How tools are shown: `gateway`, `namespace`, `typed`, `intent`, `flat` or `auto` [default: the
    /// agent's, the client's or `disclosure.default`]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["table", "diff"])]
    disclosure: Option<String>,
    /// Show what a client is given that gives itself this name
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Show what this agent of the configuration is given
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Show the tools that are chosen for a request in these words
    #[arg(long = "for", value_name = "TEXT")]
    request: Option<String>,
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
        let left_out = complete(&session.app, &progress, |_| false).await;
        let searches = surface.request.is_some() || surface.table;
        if searches && !await_encoder(&session.app, &progress).await {
            output.warning(catalogue::UNREAD_TOOLS);
        }
        let printout = printout(&session.app, surface).await;
        drop(progress);
        session.app.close().await;
        catalogue::warn_of(&left_out, output);
        let printout = printout?;
        if let Some(client) = surface.client.as_deref().map(ClientName::new) {
            warn_of_no_profile(&session.app, &client, output);
        }
        match printout {
            Printout::One(one) => {
                report::print(&one, surface.client.as_deref(), output);
                warn_of_stubs(&session.app, surface.agent.as_deref(), &one, output);
            }
            Printout::Table(comparison) => comparison.print(output),
            Printout::Difference(difference) => difference.print(output),
        }
        Ok(ExitCode::SUCCESS)
    })
    .await
}

async fn printout(app: &App, asked: &SurfaceArguments) -> anyhow::Result<Printout> {
    let client = asked.client.as_deref().map(ClientName::new);
    let agent = asked.agent.as_deref().map(AgentId::new);
    if let Some(agent) = agent.as_ref().filter(|agent| !app.config().agents.contains_key(*agent)) {
        return Err(stdio::unknown_agent(agent.as_str(), app));
    }
    let (client, agent, request) = (client.as_ref(), agent.as_ref(), asked.request.as_deref());
    let whom = ShownTo { client, agent, request };
    if asked.table {
        return Ok(Printout::Table(Comparison::over(app, &whom).await?));
    }
    if let Some([a, b]) = asked.diff.as_deref() {
        return Ok(Printout::Difference(Box::new(Difference::between(app, a, b, &whom).await?)));
    }
    let turn = app.turn_for(asked.disclosure.as_deref(), &whom)?;
    let [one] = counted::counted([turn]).await?;
    Ok(Printout::One(Box::new(one)))
}

/// Skills that should be inline, and do not fit.
fn warn_of_stubs(app: &App, agent: Option<&str>, one: &CountedSurface, output: &Output) {
    let config = app.config();
    let agent = agent.and_then(|agent| config.agents.get(&AgentId::new(agent)));
    let modes = config.disclosure.modes.clone();
    let modes = match agent {
        Some(agent) => agent.modes.over(modes),
        None => modes,
    };
    let are_inline = !modes.inline.is_empty() && one.name == Disclosures::TYPED;
    if are_inline && one.shown.instructions.contains(SKILLS_HEADING) {
        output.warning(
            "some skills do not fit into the instructions and are shown by their descriptions: \
             give the client's profile a larger `instructions_size`",
        );
    }
}

/// A client of a name that the configuration does not have is shown what everybody is.
fn warn_of_no_profile(app: &App, client: &ClientName, output: &Output) {
    if !app.config().clients.contains_key(client) {
        output.warning(&format!(
            "there is no profile `clients.{client}`: such a client is shown the default"
        ));
    }
}
