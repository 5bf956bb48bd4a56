use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use gatefold::{App, Environment, OpenAddress, status_routes};
use gatefold_http::HttpEndpoint;
use gatefold_mcp::serve_http;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::arguments::{Serve, SharedOptions};
use super::control::{ControlSocket, GatewayRole};
use super::failure::{usage_with_help, with_help};
use super::tokens::ChildCounter;
use super::{descriptors, loopback, memory, reload, session, status, stop};

pub(super) async fn run(
    serve: &Serve,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<ExitCode> {
    session::refuse_inside(environment)?;
    let (stop, hangup) = (stop::on_signal()?, stop::reload_signal());
    descriptors::raise();
    let session = session::open(shared, environment).await?;
    let app = session.app;
    let listen = serve.listen.unwrap_or(app.config().server.listen);
    if let Err(open) = app.check_address(listen) {
        app.close().await;
        return Err(refuse_open(&open));
    }
    let endpoint = match app.endpoint() {
        Ok(endpoint) => endpoint,
        Err(error) => {
            app.close().await;
            return Err(usage_with_help(&error, error.fix()));
        }
    };
    let listener = bind(listen).await?;
    let following = tokio::spawn(reload::follow(
        hangup,
        app.clone(),
        session.inputs,
        session.seen,
        environment.clone(),
    ));
    let counting = tokio::spawn(app.clone().keep_counting(ChildCounter));
    let judging = tokio::spawn(app.clone().keep_judging_patterns());
    let keeping_up = tokio::spawn(app.clone().keep_up_runs());
    memory::bound_what_is_kept();
    let giving_back = tokio::spawn(memory::give_back_when_unused());
    let socket = ControlSocket::open(&app, GatewayRole::Serve, Some(listener.local_addr()?)).await;
    let served = async {
        announce(&app, listener.local_addr()?);
        reload::warn_of_tls(app.tls_warnings());
        session::warn_of_unusable(&app);
        app.keep_learning();
        serve_app(&app, listener, endpoint, stop.clone()).await
    };
    let result = served.await;
    drop(socket);
    following.abort();
    counting.abort();
    judging.abort();
    keeping_up.abort();
    giving_back.abort();
    app.close().await;
    tracing::info!("stopped");
    result.map(|()| ExitCode::SUCCESS)
}

/// The ways out for a gateway that strangers could reach.
fn refuse_open(open: &OpenAddress) -> anyhow::Error {
    usage_with_help(
        open,
        "write `authentication = \"token\"` under `[server]` and make a token for each user with \
         `gatefold token create --name NAME --for USER`; or write `authentication = \"none\"`, and \
         everybody who reaches the address may call every tool",
    )
}

pub(super) async fn bind(listen: SocketAddr) -> anyhow::Result<TcpListener> {
    let error = match TcpListener::bind(listen).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    if error.kind() == std::io::ErrorKind::AddrInUse {
        return Err(in_use(listen).await);
    }
    Err(with_help(
        format!("cannot listen on `{listen}`: {error}"),
        "choose another address with `--listen`",
    ))
}

/// Who uses the address. If it is another gateway on this machine, it says so itself.
async fn in_use(listen: SocketAddr) -> anyhow::Error {
    const HELP: &str = "stop that one, or choose another address with `--listen`";
    let status = match status::sign_of_life(loopback::reachable(listen)).await {
        Ok(status) => status,
        Err(silent) if silent.is_secured => {
            let what = format!("`{listen}` is already in use by a Gatefold that speaks HTTPS");
            return with_help(what, HELP);
        }
        Err(_) => return with_help(format!("`{listen}` is in use by another program"), HELP),
    };
    let process = &status["process"];
    with_help(
        format!("`{listen}` is already in use by Gatefold, process {process}"),
        format!(
            "use that one, stop it with `kill {process}`, or choose another address with `--listen`"
        ),
    )
}

/// Serves MCP and agents until `stop` fires and running calls have ended. The status is served too if only
/// this machine can ask for it.
pub(super) async fn serve_app(
    app: &Arc<App>,
    listener: TcpListener,
    mut endpoint: HttpEndpoint,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let is_loopback = listener.local_addr()?.ip().is_loopback();
    if is_loopback && !app.requires_tokens() {
        app.accounts().offer_links();
    }
    let status = if is_loopback { status_routes(app.clone()) } else { Router::new() };
    let routes = gatefold_api::routes(app.clone(), stop.clone());
    let routes = routes.public(status).public(app.admission_routes());
    endpoint.connections = endpoint.connections.min(descriptors::connections());
    let served = serve_http(app.server(), listener, endpoint, routes, stop).await;
    served.context("the listener failed")
}

fn announce(app: &App, address: SocketAddr) {
    let (sources, tools) = (app.config().sources.len(), app.pin().view().tool_count());
    let url = loopback::mcp_url(address, app.is_secured());
    tracing::info!(%url, sources, tools, "listening");
    if !address.ip().is_loopback() && !app.requires_tokens() {
        tracing::warn!(
            %address,
            "anybody who reaches this address can call every tool: `server.authentication` is \"none\""
        );
    }
}
