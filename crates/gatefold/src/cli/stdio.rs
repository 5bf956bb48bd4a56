use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use gatefold::Environment;
use gatefold_mcp::serve_stdio;

use super::arguments::Shared;
use super::{reload, session, stop, tokens};

/// How long a first start waits for tools, so that what a client reads once, the instructions,
/// says more than the domains' names. Later starts know tools from disk and do not wait.
const FIRST_TOOLS_WAIT: Duration = Duration::from_secs(1);

/// Serves one client. Standard output belongs to the protocol alone.
pub(super) async fn run(shared: &Shared, environment: &Environment) -> anyhow::Result<ExitCode> {
    session::refuse_inside(environment)?;
    let stop = stop::on_signal()?;
    let session = session::open(shared, environment).await?;
    let app = session.app;
    let following = tokio::spawn(reload::follow(app.clone(), session.inputs, environment.clone()));
    let counting = tokio::spawn(tokens::keep_counting(app.clone()));
    session::warn_of_unusable(&app);
    app.keep_learning();
    tokio::select! {
        () = app.await_first_tools() => {}
        () = tokio::time::sleep(FIRST_TOOLS_WAIT) => {}
        () = stop.cancelled() => {}
    }
    let served = serve_stdio(app.server(), app.endpoint().drain, stop).await;
    following.abort();
    counting.abort();
    app.close().await;
    served.map_err(|error| anyhow!(error).context("the client could not be served"))?;
    Ok(ExitCode::SUCCESS)
}
