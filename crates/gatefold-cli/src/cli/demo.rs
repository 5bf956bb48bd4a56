//! `gatefold demo`: six servers of our own behind a gateway, and a walk through it.

mod report;
mod walk;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{Config, Origin, SourceConfig};
use gatefold::{App, Environment};
use gatefold_core::{Domain, SystemClock};
use gatefold_demo::DemoServer;
use gatefold_store::create_private_directory;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::arguments::{Demo, SharedOptions};
use super::control::{ControlSocket, GatewayRole};
use super::failure::with_help;
use super::output::Output;
use super::progress::Progress;
use super::{paths, serve, session, stop};

/// Where the demonstration keeps its data.
struct Places {
    state: PathBuf,
    scratch: PathBuf,
}

pub(super) async fn run(
    demo: &Demo,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let stop = stop::on_signal()?;
    let places = prepare(demo, shared, environment)?;
    let config = config(&places.scratch)?;
    let app = gatefold::build(config, &places.state, Arc::new(SystemClock)).await?;
    let app = Arc::new(app);
    let (listener, is_moved) = bind(demo.listen).await?;
    let address = listener.local_addr()?;
    if is_moved {
        let note = format!("{} is in use, so the demonstration uses a free port", demo.listen);
        output.line(&format!("{} {note}\n", output.style().accent("note")));
    }
    let socket = ControlSocket::open(&app, GatewayRole::Demo, Some(address)).await;
    let serving = tokio::spawn(serve(app.clone(), listener, stop.clone()));
    let shown = tokio::select! {
        shown = show(&app, address, output) => shown,
        () = stop.cancelled() => Ok(()),
    };
    if shown.is_ok() && !demo.once && !stop.is_cancelled() {
        let state = paths::as_argument(&places.state, environment);
        report::invitation(address, &places.scratch, &state, output);
        stop.cancelled().await;
    }
    drop(socket);
    stop.cancel();
    let served = serving.await.context("the listener ended unexpectedly")?;
    app.close().await;
    shown.and(served).map(|()| ExitCode::SUCCESS)
}

fn prepare(
    demo: &Demo,
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Places> {
    let root = session::state_dir(shared, &Config::default(), environment)?;
    let state = session::demo_state_dir(&root);
    let places = Places { state, scratch: root.join("demo").join("scratch") };
    for directory in [&places.state, &places.scratch] {
        if demo.fresh {
            remove(directory)?;
        }
        create_private_directory(directory).map_err(|error| unusable(directory, &error))?;
    }
    Ok(places)
}

fn remove(directory: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unusable(directory, &error)),
        _ => Ok(()),
    }
}

fn unusable(directory: &Path, error: &io::Error) -> anyhow::Error {
    with_help(
        format!("`{}` cannot be used: {error}", directory.display()),
        "choose another place with `--state-dir`",
    )
}

/// The six servers as sources: this program, started once for each.
fn config(scratch: &Path) -> anyhow::Result<Config> {
    let program = std::env::current_exe().context("this program's own file could not be found")?;
    let command = program.to_str().context("this program's path is not Unicode")?;
    let scratch = scratch.to_str().context("the scratch directory's path is not Unicode")?;
    let source = |server: &DemoServer| {
        let args = ["demo-server", server.name, "--scratch", scratch].map(str::to_owned).to_vec();
        let connection = McpConnection::Stdio {
            command: command.to_owned(),
            args,
            env: Vec::new(),
            inherit_env: Vec::new(),
            cwd: None,
        };
        let key = server.name.to_owned();
        let origin = Origin { file: "the demonstration".into(), line: 0, key };
        SourceConfig {
            description: Some(server.description.to_owned()),
            ..SourceConfig::new(Domain::from_key(server.name), connection, origin)
        }
    };
    let sources = gatefold_demo::servers().iter().map(source).collect();
    Ok(Config { sources, ..Config::default() })
}

/// Listens on the requested address, or on a free port if that one is in use.
async fn bind(listen: SocketAddr) -> anyhow::Result<(TcpListener, bool)> {
    match TcpListener::bind(listen).await {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let free = serve::bind(SocketAddr::new(listen.ip(), 0)).await?;
            Ok((free, true))
        }
        Err(_) => Ok((serve::bind(listen).await?, false)),
        Ok(listener) => Ok((listener, false)),
    }
}

async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    serve::serve_app(&app, listener, stop).await
}

async fn show(app: &Arc<App>, address: SocketAddr, output: &Output) -> anyhow::Result<()> {
    let connected = app.connect(&Progress::new(output, "starting six servers")).await;
    for connected in connected {
        if let Err(error) = connected.result {
            anyhow::bail!("the demonstration's own servers do not start: {error}");
        }
    }
    let tour = walk::take(app, super::loopback::reachable(address)).await?;
    report::tour(&tour, address, output);
    Ok(())
}
