//! `gatefold demo`: six servers, an HTTP API, a database, a folder of skills and a handbook of our own
//! behind a gateway, and a walk through it.

mod report;
mod walk;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
#[cfg(feature = "knowledge")]
use gatefold::config::kinds::KnowledgeKind;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::kinds::{BuiltinKind, DatabaseKind, DatabaseRules, OpenApiKind, SkillsKind};
use gatefold::config::{Config, Origin, SourceConfig, SourceSection};
use gatefold::files::create_private_directory;
use gatefold::{App, Environment};
use gatefold_core::{Clock as _, Domain, SystemClock};
use gatefold_demo::{DemoApi, DemoServer};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::arguments::{Demo, SharedOptions};
use super::control::{ControlSocket, GatewayRole};
use super::failure::{usage_with_help, with_help};
use super::output::Output;
use super::progress::Progress;
use super::{paths, serve, session, stop};

/// Where the API listens, unless the port is in use: a fixed one can stand in a configuration.
const API_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8430);

/// The operations of the API before which a person is asked.
const API_ASKS: [&str; 1] = ["cancel_order"];

/// What a model is given of a large result: less than usual, so that the walk stays short.
const PREVIEW_TOKENS: usize = 1000;

/// The built-in tools.
const BUILTIN: [&str; 2] = ["calculate", "datetime"];

/// What models may see of the databases.
const DATABASE_RULES: DatabaseRules<'static> = DatabaseRules {
    deny_tables: &["bank_accounts"],
    hide_columns: &["employees.salary"],
    mask: &["employees.email"],
};

/// Where the demonstration keeps its data.
pub(super) struct Places {
    state: PathBuf,
    scratch: PathBuf,
}

pub(super) async fn run(
    demo: &Demo,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    if !SystemClock.now().has_http_date() {
        let reason = "the system's date is before 1970 or after 9999, which HTTP cannot express";
        return Err(with_help(reason, "set the clock"));
    }
    if !demo.listen.ip().to_canonical().is_loopback() {
        return Err(usage_with_help(
            format!(
                "the demonstration asks nobody who they are, and `{}` can be reached from other machines",
                demo.listen
            ),
            "leave out `--listen`, or give a loopback address",
        ));
    }
    let stop = stop::on_signal()?;
    let places = Places::of(shared, environment)?;
    if demo.fresh {
        places.remove()?;
    }
    let gateway = DemoGateway::open(places).await?;
    let app = gateway.app.clone();
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
        let Places { state, scratch } = &gateway.places;
        let state = paths::as_argument(state, environment);
        report::invitation(address, &gateway.description, scratch, &state, output);
        stop.cancelled().await;
    }
    drop(socket);
    stop.cancel();
    let served = serving.await.context("the listener ended unexpectedly")?;
    gateway.close().await?;
    shown.and(served).map(|()| ExitCode::SUCCESS)
}

impl Places {
    pub(super) fn of(shared: &SharedOptions, environment: &Environment) -> anyhow::Result<Self> {
        let root = session::state_dir(shared, &Config::default(), environment)?;
        let (state, scratch) = (session::demo_state_dir(&root), root.join("demo").join("scratch"));
        Ok(Self { state, scratch })
    }

    fn both(&self) -> [&Path; 2] {
        [&self.state, &self.scratch]
    }

    fn remove(&self) -> anyhow::Result<()> {
        for directory in self.both() {
            match std::fs::remove_dir_all(directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(unusable(directory, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The demonstration's sources behind a gateway, which nobody can reach yet.
pub(super) struct DemoGateway {
    pub(super) app: Arc<App>,
    places: Places,
    /// The address of the API's description.
    description: String,
    api: JoinHandle<anyhow::Result<()>>,
    stopped: CancellationToken,
}

impl DemoGateway {
    pub(super) async fn open(places: Places) -> anyhow::Result<Self> {
        for directory in places.both() {
            create_private_directory(directory).map_err(|error| unusable(directory, &error))?;
        }
        let (api, listener) = open_api(&places.scratch).await?;
        let description = format!("http://{}/openapi.json", listener.local_addr()?);
        let stopped = CancellationToken::new();
        let until = stopped.clone().cancelled_owned();
        let api = tokio::spawn(async move { Ok(api.serve(listener, until).await?) });
        let mut others = open_databases(&places.scratch).await?;
        others.extend(open_skills(&places.scratch)?);
        #[cfg(feature = "knowledge")]
        others.extend(open_knowledge(&places.scratch)?);
        let config = config(&places.scratch, &description, others)?;
        let app = gatefold::build(config, &places.state, Arc::new(SystemClock)).await?;
        Ok(Self { app: Arc::new(app), places, description, api, stopped })
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.app.close().await;
        self.stopped.cancel();
        self.api.await.context("the API ended unexpectedly")?
    }
}

fn unusable(directory: &Path, error: &io::Error) -> anyhow::Error {
    with_help(
        format!("`{}` cannot be used: {error}", directory.display()),
        "choose another place with `--state-dir`",
    )
}

/// Opens the API and a port for it.
async fn open_api(scratch: &Path) -> anyhow::Result<(DemoApi, TcpListener)> {
    let about = gatefold_demo::apis().first().context("the demonstration has no API")?;
    let api = DemoApi::open(about.name, scratch).await?;
    let (listener, _) = bind(API_ADDRESS).await?;
    Ok((api, listener))
}

/// The databases as sources.
async fn open_databases(scratch: &Path) -> anyhow::Result<Vec<SourceConfig>> {
    let mut sources = Vec::new();
    for about in gatefold_demo::databases() {
        let path = gatefold_demo::create_database(about.name, scratch).await?;
        let section = DatabaseKind::sqlite_at(&path, DATABASE_RULES);
        sources.push(source(about, section.context("the rules of the database are wrong")?));
    }
    Ok(sources)
}

/// The folders of skills as sources.
fn open_skills(scratch: &Path) -> anyhow::Result<Vec<SourceConfig>> {
    let folder = |about: &DemoServer| {
        let path = gatefold_demo::create_folder(about.name, scratch)?;
        Ok(source(about, SkillsKind::at(&path)))
    };
    gatefold_demo::skill_folders().iter().map(folder).collect()
}

/// The knowledge bases as sources.
#[cfg(feature = "knowledge")]
fn open_knowledge(scratch: &Path) -> anyhow::Result<Vec<SourceConfig>> {
    let folder = |about: &DemoServer| {
        let path = gatefold_demo::create_folder(about.name, scratch)?;
        Ok(source(about, KnowledgeKind::at(&path)))
    };
    gatefold_demo::knowledge_bases().iter().map(folder).collect()
}

/// The sources: this program, started once for each server, the API and the others.
fn config(scratch: &Path, description: &str, others: Vec<SourceConfig>) -> anyhow::Result<Config> {
    let program = std::env::current_exe().context("this program's own file could not be found")?;
    let command = program.to_str().context("this program's path is not Unicode")?;
    let scratch = scratch.to_str().context("the scratch directory's path is not Unicode")?;
    let server = |server: &DemoServer| {
        let args = ["demo-server", server.name, "--scratch", scratch].map(str::to_owned).to_vec();
        let connection = McpConnection::Stdio {
            command: command.to_owned(),
            args,
            env: Vec::new(),
            inherit_env: Vec::new(),
            cwd: None,
        };
        source(server, connection)
    };
    let api = OpenApiKind::described_at(description, &API_ASKS).context("the address is no URL")?;
    let apis = gatefold_demo::apis().iter().map(|about| source(about, api.clone()));
    let servers = gatefold_demo::servers().iter().map(server);
    let builtin = BuiltinKind::tools(&BUILTIN).context("there is no such tool")?;
    let builtin = source(gatefold_demo::builtin(), builtin);
    let mut config = Config::of(servers.chain(apis).chain(others).chain([builtin]).collect());
    config.results.preview_tokens = PREVIEW_TOKENS;
    Ok(config)
}

fn source(about: &DemoServer, section: impl Into<SourceSection>) -> SourceConfig {
    let key = about.name.to_owned();
    let origin = Origin { file: "the demonstration".into(), line: 0, key };
    SourceConfig {
        description: Some(about.description.to_owned()),
        ..SourceConfig::new(Domain::from_key(about.name), section, origin)
    }
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
    let endpoint = app.endpoint()?;
    serve::serve_app(&app, listener, endpoint, stop).await
}

async fn show(app: &Arc<App>, address: SocketAddr, output: &Output) -> anyhow::Result<()> {
    let connected = app
        .connect(&Progress::new(output, "starting six servers, an API, a database and skills"))
        .await;
    for connected in connected {
        if let Err(error) = connected.result {
            anyhow::bail!("the demonstration's own sources do not start: {error}");
        }
    }
    let tour = walk::take(app, super::loopback::reachable(address)).await?;
    report::tour(&tour, address, output);
    Ok(())
}
