use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use gatefold::{App, Environment};
use gatefold_core::{AgentId, Domain, Principal};
use gatefold_exchange::{Audience, Scope};
use gatefold_mcp::{end_children, serve_stdio};

use super::arguments::{SharedOptions, Stdio};
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
    let (stop, hangup) = (stop::on_signal()?, stop::reload_signal());
    descriptors::raise();
    let session = session::open(shared, environment).await?;
    let app = session.app;
    let (principal, audience) = audience(arguments, &app)?;
    let request = arguments.request.as_deref().filter(|text| !text.trim().is_empty());
    let audience = match request {
        Some(request) => audience.for_request(request),
        None => audience,
    };
    let following = tokio::spawn(reload::follow(
        hangup,
        app.clone(),
        session.inputs,
        session.seen,
        environment.clone(),
    ));
    let counting = tokio::spawn(app.clone().keep_counting(ChildCounter));
    let judging = tokio::spawn(app.clone().keep_judging_patterns());
    session::warn_of_unusable(&app);
    app.keep_learning();
    app.accounts().offer_links();
    let socket = ControlSocket::open(&app, GatewayRole::Stdio, None).await;
    tokio::select! {
        () = app.await_first_tools() => {}
        () = tokio::time::sleep(FIRST_TOOLS_WAIT) => {}
        () = stop.cancelled() => {}
    }
    let drain = app.config().server.shutdown;
    let served = serve_stdio(app.server(), principal, audience, drain, stop.clone()).await;
    drop(socket);
    following.abort();
    counting.abort();
    judging.abort();
    let hurrying = tokio::spawn(async move {
        stop.cancelled().await;
        end_children(HURRIED_END).await;
    });
    app.close().await;
    hurrying.abort();
    served.map_err(|error| anyhow!(error).context("the client could not be served"))?;
    Ok(ExitCode::SUCCESS)
}

/// Who the client is, and what it should see. An unknown source or agent is an error now, not later.
fn audience(arguments: &Stdio, app: &App) -> anyhow::Result<(Arc<Principal>, Audience)> {
    let disclosure = arguments.disclosure.as_deref();
    let principal = app.local_user();
    if let Some(name) = &arguments.agent {
        let agent = AgentId::new(name.as_str());
        let audience = app.server().agent_audience(&agent, disclosure);
        let audience = audience.filter(|_| app.server().shows_agent(&principal, &agent));
        let audience = audience.ok_or_else(|| unknown_agent(name, app))??;
        let acting = Principal { agent: Some(agent), ..(*principal).clone() };
        return Ok((Arc::new(acting), audience));
    }
    let scope = scope(arguments, app)?;
    Ok((principal, app.server().audience(scope, disclosure)?))
}

pub(super) fn unknown_agent(name: &str, app: &App) -> anyhow::Error {
    let config = app.config();
    let user = app.local_user();
    let found = config.agents.keys().filter(|agent| app.server().shows_agent(&user, agent));
    let known: Vec<_> = found.map(AgentId::as_str).collect();
    match known.as_slice() {
        [] => anyhow!("there is no agent `{name}`: write `[agents.{name}]` in gatefold.toml"),
        known => anyhow!("there is no agent `{name}`; the agents are: {}", known.join(", ")),
    }
}

fn scope(arguments: &Stdio, app: &App) -> anyhow::Result<Scope> {
    let Some(name) = &arguments.source else { return Ok(Scope::Everything) };
    let config = app.config();
    let domains = || config.sources.iter().map(|source| source.domain.as_str());
    let domain = Domain::parse(name).ok().filter(|domain| domains().any(|d| d == domain.as_str()));
    let domain = domain.ok_or_else(|| {
        let known: Vec<_> = domains().collect();
        anyhow!("there is no source `{name}`; the sources are: {}", known.join(", "))
    })?;
    Ok(Scope::Source(domain))
}
