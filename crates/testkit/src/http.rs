//! The fixture over streamable HTTP.
//!
//! Answers are JSON; an event stream only if something precedes the answer or `--sse` asks for it.
//! The handshake era has sessions, the stateless era has none; `GET` gets 405. A call of `echo`
//! does no unnecessary work, so that it can play a fast upstream.

mod service;

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::serve::ListenerExt;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use self::service::Death;
use crate::{Error, Fixture, fixture_command};

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// How long a process may take to print its address.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A fixture in this process, on a thread and a runtime of its own.
///
/// It does not share the test's clock. Dropping it closes every connection.
pub struct HttpFixture {
    pub url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpFixture {
    /// Closes every connection; later ones are refused.
    pub fn shutdown(self) {}
}

impl Drop for HttpFixture {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic on that thread has been printed already.
            drop(thread.join());
        }
    }
}

/// Serves a fixture at a free port of 127.0.0.1; it is ready when this returns.
///
/// `die` ends the connection instead of the process.
pub fn serve_http(fixture: Fixture) -> Result<HttpFixture, Error> {
    let (listener, url) = bind()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::io("making a runtime"))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let thread = std::thread::spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = serve(fixture, listener, Death::Connection) => {}
                _ = stopped => {}
            }
        });
    });
    Ok(HttpFixture { url, stop: Some(stop), thread: Some(thread) })
}

/// A fixture over HTTP in a process of its own, so that `die` ends a real process.
///
/// Dropping it kills the process.
pub struct HttpProcess {
    pub url: String,
    child: Child,
}

impl HttpProcess {
    /// Starts the running binary again, as [`fixture_command`] says.
    pub async fn spawn(behaviour: &[&str]) -> Result<Self, Error> {
        let (program, args) = fixture_command(&[&["--http"], behaviour].concat());
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(Error::io("starting the process"))?;
        let stdout = child.stdout.take().expect("stdout is piped");
        let mut url = String::new();
        let mut stdout = BufReader::new(stdout);
        let what = || "the address".to_owned();
        timeout(START_LIMIT, stdout.read_line(&mut url))
            .await
            .map_err(|_| Error::Late { what: what(), limit_ms: START_LIMIT.as_millis() })?
            .map_err(Error::io("reading the address"))?;
        if url.is_empty() {
            return Err(Error::Closed { what: what() });
        }
        url.truncate(url.trim_end().len());
        Ok(Self { url, child })
    }

    /// The process id, until the process has been waited for.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }
}

/// Prints a line with the address, then serves until stdin closes.
pub(crate) async fn serve_process(fixture: Fixture) -> Result<(), Error> {
    let ignore_eof = fixture.behaviour.ignore_eof;
    let (listener, url) = bind()?;
    writeln!(std::io::stdout(), "{url}").map_err(Error::io("saying the address"))?;
    tokio::select! {
        served = serve(fixture, listener, Death::Process) => served,
        () = until_eof(), if !ignore_eof => Ok(()),
    }
}

async fn until_eof() {
    let mut discarded = [0; 256];
    let mut stdin = tokio::io::stdin();
    while stdin.read(&mut discarded).await.is_ok_and(|read| read > 0) {}
}

fn bind() -> Result<(TcpListener, String), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(Error::io("listening"))?;
    listener.set_nonblocking(true).map_err(Error::io("listening"))?;
    let address = listener.local_addr().map_err(Error::io("listening"))?;
    Ok((listener, format!("http://{address}{PATH}")))
}

async fn serve(fixture: Fixture, listener: TcpListener, death: Death) -> Result<(), Error> {
    sleep(fixture.behaviour.slow_start).await;
    let listener = tokio::net::TcpListener::from_std(listener).map_err(Error::io("listening"))?;
    let listener = listener.tap_io(|stream| {
        // Otherwise a small answer can wait for the peer's delayed acknowledgement.
        drop(stream.set_nodelay(true));
    });
    let router = service::router(PATH, fixture, death);
    axum::serve(listener, router).await.map_err(Error::io("serving"))
}
