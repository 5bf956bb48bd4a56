use std::process::ExitCode;

use anyhow::anyhow;
use gatefold::Environment;
use gatefold_mcp::serve_stdio;

use super::arguments::Shared;
use super::{reload, session, stop};

/// Serves one client. Standard output belongs to the protocol alone.
pub(super) async fn run(shared: &Shared, environment: &Environment) -> anyhow::Result<ExitCode> {
    let stop = stop::on_signal()?;
    let session = session::open(shared, environment).await?;
    let app = session.app;
    let following = tokio::spawn(reload::follow(app.clone(), session.inputs, environment.clone()));
    session::learn(&app, &stop).await;
    let served = serve_stdio(app.server(), stop).await;
    following.abort();
    app.close().await;
    served.map_err(|error| anyhow!(error).context("the client could not be served"))?;
    Ok(ExitCode::SUCCESS)
}
