//! A complete and correct MCP server: the upstream with which everything must work.
//!
//! It is built on the official SDK and offers what the official conformance suite calls (the tools,
//! prompts and resources named `test_*`, the tasks and the skills), plus the `matrix_*` tools to
//! try each era, transport and direction. Nothing here misbehaves: the raw fixture does that, see
//! [`crate::fixture`].
//!
//! | flag | what the server does |
//! |---|---|
//! | `--http ADDRESS` | serves `/mcp` there and prints `listening on URL` |
//! | `--stdio` | serves its standard input and output |
//! | `--era handshake` | refuses `server/discover` and every stateless request with -32601 |
//! | `--era stateless` | refuses `initialize` |
//! | `--era both` | serves both (the default) |
//!
//! The `conformance-server` binary takes the same flags, and so does any test binary that calls
//! [`run_if_asked`] first.

mod audience;
mod call;
mod connection;
mod contents;
mod definitions;
mod elicitation;
mod handler;
mod input_required;
mod matrix;
mod prompts;
mod resources;
mod sessions;
mod shared;
mod skills;
mod tasks;
mod tools;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use rmcp::ServiceExt;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::connection::Reference;
pub use self::contents::PNG;
use self::sessions::Sessions;
use self::shared::ServerState;
use crate::Error;
use crate::exit::fail;

/// The first argument that turns a binary into the reference server.
const COMMAND: &str = "reference";

const FLAGS: [&str; 3] = ["--http", "--stdio", "--era"];

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// How long open connections may take to end once the server is told to stop.
const CLOSING_LIMIT: Duration = Duration::from_secs(2);

/// Which revisions of the protocol are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedEras {
    Both,
    /// 2025-11-25 and older only.
    Handshake,
    /// 2026-07-28 only.
    Stateless,
}

enum Endpoint {
    Http(SocketAddr),
    Stdio,
}

/// The command that starts the running binary again as the reference server with these flags.
///
/// The binary's `main` must call [`run_if_asked`] first.
pub fn reference_command(flags: &[&str]) -> (PathBuf, Vec<String>) {
    let program = std::env::current_exe().expect("a running process has an executable");
    let args = std::iter::once(&COMMAND).chain(flags).map(|arg| (*arg).to_owned()).collect();
    (program, args)
}

/// Serves as the reference server if the first argument is `reference` and a flag follows;
/// otherwise returns `None`.
///
/// Makes its own runtime, so `main` must not be inside one.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut args = std::env::args().skip(1).peekable();
    // One of our flags, so that a test filter named `reference` starts no server.
    if args.next().as_deref() != Some(COMMAND) || !FLAGS.contains(&args.peek()?.as_str()) {
        return None;
    }
    Some(run(args))
}

/// Serves with these flags until the process is told to stop, or its standard input ends.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(COMMAND, &error),
    };
    let code = match runtime.block_on(run_from_args(args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(COMMAND, &error),
    };
    // A thread may be blocked in a read of stdin that nothing can stop: the process just ends.
    std::mem::forget(runtime);
    code
}

async fn run_from_args(args: impl Iterator<Item = String>) -> Result<(), Error> {
    let (endpoint, era) = parse(args)?;
    match endpoint {
        Endpoint::Stdio => serve_stdio(era).await,
        Endpoint::Http(address) => {
            let listener = TcpListener::bind(address).await.map_err(Error::io("listening"))?;
            let address = listener.local_addr().map_err(Error::io("listening"))?;
            writeln!(std::io::stdout(), "listening on http://{address}{PATH}")
                .map_err(Error::io("saying the address"))?;
            serve_http(listener, era, CancellationToken::new()).await
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<(Endpoint, ServedEras), Error> {
    let (mut endpoint, mut era) = (None, ServedEras::Both);
    while let Some(flag) = args.next() {
        match flag.as_str() {
            "--stdio" => endpoint = Some(Endpoint::Stdio),
            "--http" => {
                let value = args.next().unwrap_or_default();
                let address = value.parse().map_err(|_| Error::BadValue {
                    flag,
                    value,
                    expected: "an address such as 127.0.0.1:0",
                })?;
                endpoint = Some(Endpoint::Http(address));
            }
            "--era" => {
                let value = args.next().unwrap_or_default();
                era = parse_era(&value).ok_or(Error::BadValue {
                    flag,
                    value,
                    expected: "`both`, `handshake` or `stateless`",
                })?;
            }
            _ => return Err(Error::UnknownBehaviour(flag)),
        }
    }
    Ok((endpoint.ok_or(Error::NoTransport)?, era))
}

fn parse_era(name: &str) -> Option<ServedEras> {
    match name {
        "both" => Some(ServedEras::Both),
        "handshake" => Some(ServedEras::Handshake),
        "stateless" => Some(ServedEras::Stateless),
        _ => None,
    }
}

/// Serves standard input and output until the input ends.
pub async fn serve_stdio(era: ServedEras) -> Result<(), Error> {
    let reference = Reference::new(era, Arc::new(ServerState::new()));
    let service = reference
        .serve(rmcp::transport::stdio())
        .await
        .map_err(|error| Error::io("serving")(std::io::Error::other(error)))?;
    service.waiting().await.map_err(|error| Error::io("serving")(error.into()))?;
    Ok(())
}

/// Serves `/mcp` on a loopback listener until the token is cancelled.
///
/// Every connection sees the same tools, prompts, resources and tasks.
pub async fn serve_http(
    listener: TcpListener,
    era: ServedEras,
    cancellation: CancellationToken,
) -> Result<(), Error> {
    let shared = Arc::new(ServerState::new());
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"])
        .with_cancellation_token(cancellation.child_token());
    let make = move || Ok(Reference::new(era, shared.clone()));
    let service = StreamableHttpService::new(make, Arc::new(Sessions::default()), config);
    let router = Router::new().route_service(PATH, service);
    let listener = listener.tap_io(|stream| {
        // Otherwise a small answer can wait for the peer's delayed acknowledgement.
        drop(stream.set_nodelay(true));
    });
    let serving = axum::serve(listener, router)
        .with_graceful_shutdown(cancellation.clone().cancelled_owned())
        .into_future();
    let mut serving = std::pin::pin!(serving);
    tokio::select! {
        served = &mut serving => return served.map_err(Error::io("serving")),
        () = cancellation.cancelled() => {}
    }
    tokio::time::timeout(CLOSING_LIMIT, serving)
        .await
        .unwrap_or(Ok(()))
        .map_err(Error::io("serving"))
}
