//! The gateway's side of the control socket.

use std::fs::{self, Permissions};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gatefold::App;
use gatefold_operations::{AppOperations, Asker, Fault, OperationError};
use serde_json::value::to_raw_value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::folder::{ControlFolder, socket_name};
use super::{
    ControlReply, ControlRequest, GatewayIdentity, GatewayRole, LINE_DEADLINE, REQUEST_LIMIT_BYTES,
    client, real_path,
};
use crate::cli::loopback;

/// Connections at a time. Further ones wait to be accepted.
const CONNECTIONS: usize = 16;

/// The pause after a connection could not be accepted, mostly for lack of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// The socket of this process. Dropping it stops listening and removes the socket.
pub(in crate::cli) struct ControlSocket {
    path: PathBuf,
    _listening: AbortOnDropHandle<()>,
}

impl ControlSocket {
    /// Listens for the binary's other commands. A gateway can serve without this, so a failure is
    /// only logged.
    pub(in crate::cli) async fn open(
        app: &Arc<App>,
        role: GatewayRole,
        listen: Option<SocketAddr>,
    ) -> Option<Self> {
        let answering = Answering { app: app.clone(), role, listen };
        match Self::listen(answering).await {
            Ok(socket) => Some(socket),
            Err(error) => {
                tracing::warn!(%error, "other commands cannot ask this gateway: no control socket");
                None
            }
        }
    }

    async fn listen(answering: Answering) -> io::Result<Self> {
        let folder = ControlFolder::of(answering.app.store().state_dir());
        folder.prepare()?;
        remove_stale(&folder).await;
        let name = socket_name(answering.role, answering.app.started_at().as_millis());
        // It gets its final name once it answers: a socket that refuses connections counts as left
        // behind.
        let new = format!("{name}.new");
        let (path, unlisted) = (folder.path(&name), folder.path(&new));
        let listener = UnixListener::bind(folder.address(&new)?.path())?;
        fs::set_permissions(&unlisted, Permissions::from_mode(0o600))?;
        fs::rename(&unlisted, &path)?;
        let listening = AbortOnDropHandle::new(tokio::spawn(accept(listener, answering)));
        Ok(Self { path, _listening: listening })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        // If this fails, the next gateway removes it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes the sockets of gateways that were killed.
async fn remove_stale(folder: &ControlFolder) {
    for name in folder.names() {
        if client::is_stale(folder, &name).await {
            let _ = fs::remove_file(folder.path(&name));
        }
    }
}

async fn accept(listener: UnixListener, answering: Answering) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    // At most as many as there are places.
    let mut conversations = JoinSet::new();
    while let Ok(place) = places.clone().acquire_owned().await {
        while conversations.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let answering = answering.clone();
                conversations.spawn(async move {
                    if let Err(error) = converse(stream, &answering).await {
                        tracing::debug!(%error, "a command was not answered");
                    }
                    drop(place);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Reads one request and writes the reply, unless the command goes away first.
async fn converse(stream: UnixStream, answering: &Answering) -> io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read.take(REQUEST_LIMIT_BYTES));
    let mut line = String::new();
    timeout(LINE_DEADLINE, read.read_line(&mut line)).await??;
    let reply = tokio::select! {
        reply = answering.reply(&line) => reply,
        () = hung_up(&mut read) => return Ok(()),
    };
    let mut reply = serde_json::to_vec(&reply)?;
    reply.push(b'\n');
    timeout(LINE_DEADLINE, write.write_all(&reply)).await?
}

/// Waits until the other side has closed the connection. Ignores anything it sends until then.
async fn hung_up(read: &mut (impl AsyncRead + Unpin)) {
    let mut unused = [0; 64];
    while read.read(&mut unused).await.is_ok_and(|count| count > 0) {}
}

/// What answers need.
#[derive(Clone)]
struct Answering {
    app: Arc<App>,
    role: GatewayRole,
    /// Where it serves MCP over HTTP, if it does.
    listen: Option<SocketAddr>,
}

impl Answering {
    async fn reply(&self, line: &str) -> ControlReply {
        let Ok(request) = serde_json::from_str::<ControlRequest>(line) else {
            let version = env!("CARGO_PKG_VERSION");
            let unknown = Fault::new(format!(
                "the gateway that runs, of version {version}, does not know this request"
            ));
            let help = "restart it, so that both are of the same version";
            return ControlReply::Fault(OperationError::Unavailable(unknown.with_help(help)));
        };
        let answer = match request {
            ControlRequest::Identity => {
                Ok(to_raw_value(&self.identity()).expect("an identity is JSON"))
            }
            // Whoever can enter the folder of the socket runs the gateway.
            ControlRequest::Operation(request) => {
                request.answer(&AppOperations::new(&self.app, Asker::Operator, &())).await
            }
        };
        answer.map_or_else(ControlReply::Fault, ControlReply::Answer)
    }

    fn identity(&self) -> GatewayIdentity {
        let is_secured = self.app.is_secured();
        let url = |listen| loopback::mcp_url(loopback::reachable(listen), is_secured);
        let files = self.app.config().files;
        GatewayIdentity {
            role: self.role,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            started_at: self.app.started_at(),
            url: self.listen.map(url),
            files: files.iter().map(|file| real_path(file)).collect(),
        }
    }
}
