use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use gatefold::{App, Environment};
use gatefold_core::{Domain, Principal};
use gatefold_exchange::{Audience, Disclosures, Scope};
use gatefold_mcp::{end_children, serve_stdio};

use super::arguments::{DisclosureName, SharedOptions, Stdio};
use super::control::{ControlSocket, GatewayRole};
use super::tokens::ChildCounter;
use super::{descriptors, reload, session, stop};

/// How long a first start waits for tools. A client reads the instructions only once, and with
/// tools they say more than the domains' names. Later starts know the tools from disk and do not
/// wait.
const FIRST_TOOLS_WAIT: Duration = Duration::from_secs(1);

/// How long servers may take to exit after a signal. Official clients send SIGKILL a second after
/// SIGTERM, and then the children of our servers would stay forever.
const HURRIED_END: Duration = Duration::from_millis(400);

/// Serves one client. Standard output is only for the protocol.
pub(super) async fn run(
    arguments: &Stdio,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    session::refuse_inside(environment)?;
    let stop = stop::on_signal()?;
    descriptors::raise();
    let session = session::open(shared, environment).await?;
    let app = session.app;
    let audience = audience(arguments, &app)?;
    let following = tokio::spawn(reload::follow(app.clone(), session.inputs, environment.clone()));
    let counting = tokio::spawn(app.clone().keep_counting(ChildCounter));
    session::warn_of_unusable(&app);
    app.keep_learning();
    let socket = ControlSocket::open(&app, GatewayRole::Stdio, None).await;
    tokio::select! {
        () = app.await_first_tools() => {}
        () = tokio::time::sleep(FIRST_TOOLS_WAIT) => {}
        () = stop.cancelled() => {}
    }
    let principal = Arc::new(Principal::local());
    let drain = app.endpoint().drain;
    let served = serve_stdio(app.server(), principal, audience, drain, stop.clone()).await;
    drop(socket);
    following.abort();
    counting.abort();
    let hurrying = tokio::spawn(async move {
        stop.cancelled().await;
        end_children(HURRIED_END).await;
    });
    app.close().await;
    hurrying.abort();
    served.map_err(|error| anyhow!(error).context("the client could not be served"))?;
    Ok(ExitCode::SUCCESS)
}

/// What the client should see. An unknown source is an error now, not later.
fn audience(arguments: &Stdio, app: &App) -> anyhow::Result<Audience> {
    let disclosure = arguments.disclosure.as_ref().map(|disclosure| match disclosure {
        DisclosureName::Gateway => Disclosures::GATEWAY,
        DisclosureName::Flat => Disclosures::FLAT,
    });
    let Some(name) = &arguments.source else {
        return Ok(app.server().audience(Scope::Everything, disclosure)?);
    };
    let config = app.config();
    let domains = || config.sources.iter().map(|source| source.domain.as_str());
    let domain = Domain::parse(name).ok().filter(|domain| domains().any(|d| d == domain.as_str()));
    let domain = domain.ok_or_else(|| {
        let known: Vec<_> = domains().collect();
        anyhow!("there is no source `{name}`; the sources are: {}", known.join(", "))
    })?;
    Ok(app.server().audience(Scope::Source(domain), disclosure)?)
}
