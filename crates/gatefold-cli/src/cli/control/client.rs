//! A command's side of the control socket.

use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use gatefold_operations::{AppRequest, Request};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::folder::ControlFolder;
use super::{ControlReply, ControlRequest, GatewayIdentity};
use crate::cli::failure::with_help;

/// The longest reply that is read.
const REPLY_LIMIT_BYTES: u64 = 256 * 1024 * 1024;

/// How long a gateway may take to say who it is.
const IDENTITY_DEADLINE: Duration = Duration::from_secs(2);

/// How long it may take to look something up.
const LOOK_DEADLINE: Duration = Duration::from_secs(60);

/// How long it may work. The gateway itself has deadlines for a call, and for each source that has
/// to start first.
const WORK_DEADLINE: Duration = Duration::from_secs(24 * 60 * 60);

/// A gateway that answers on its control socket.
pub(in crate::cli) struct RunningGateway {
    pub(in crate::cli) identity: GatewayIdentity,
    folder: ControlFolder,
    socket: String,
}

impl RunningGateway {
    /// The gateway behind a socket. `None` if its process is gone.
    pub(super) async fn behind(state_dir: &Path, socket: String) -> io::Result<Option<Self>> {
        let folder = ControlFolder::of(state_dir);
        let asked =
            timeout(IDENTITY_DEADLINE, exchange(&folder, &socket, &ControlRequest::Identity));
        let reply = match asked.await? {
            Ok(reply) => reply,
            Err(error) if is_gone(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let ControlReply::Answer(answer) = reply else {
            return Err(io::Error::other("it does not say who it is"));
        };
        let identity = serde_json::from_str(answer.get())?;
        Ok(Some(Self { identity, folder, socket }))
    }

    /// Sends a request. An error is worded for the person at the command.
    pub(in crate::cli) async fn ask<R>(&self, request: &R) -> anyhow::Result<R::Answer>
    where
        R: Request<Answer: DeserializeOwned>,
    {
        self.ask_as(request).await
    }

    /// The same, with the answer as another type than the operation's: a gateway of another version
    /// may not have all members of that.
    pub(in crate::cli) async fn ask_as<T: DeserializeOwned>(
        &self,
        request: &impl Request,
    ) -> anyhow::Result<T> {
        let request: AppRequest = request.clone().into();
        let deadline = match request {
            AppRequest::ListTools(_)
            | AppRequest::SearchTools(_)
            | AppRequest::InspectTools(_)
            | AppRequest::CallTool(_) => WORK_DEADLINE,
            AppRequest::GetStatus(_)
            | AppRequest::GetRecord(_)
            | AppRequest::RefreshSource(_)
            | AppRequest::ReadLog(_)
            | AppRequest::ResumeRun(_) => LOOK_DEADLINE,
        };
        let request = &ControlRequest::Operation(request);
        let process = self.identity.process;
        let unanswered = |why: String| {
            with_help(
                format!("the gateway that runs, process {process}, gave no answer: {why}"),
                "see `gatefold doctor`, or restart it",
            )
        };
        let exchanged = timeout(deadline, exchange(&self.folder, &self.socket, request)).await;
        let reply = exchanged
            .map_err(|_| unanswered(format!("it took more than {} s", deadline.as_secs())))?
            .map_err(|error| unanswered(error.to_string()))?;
        match reply {
            ControlReply::Answer(answer) => serde_json::from_str(answer.get()).with_context(|| {
                format!("the gateway that runs, process {process}, is of another version")
            }),
            ControlReply::Fault(fault) => Err(fault.into()),
        }
    }
}

/// Whether a socket was left behind by a process that is gone.
pub(super) async fn is_stale(folder: &ControlFolder, socket: &str) -> bool {
    let Ok(address) = folder.address(socket) else { return false };
    let connected = timeout(IDENTITY_DEADLINE, UnixStream::connect(address.path())).await;
    matches!(connected, Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
}

async fn exchange(
    folder: &ControlFolder,
    socket: &str,
    request: &ControlRequest,
) -> io::Result<ControlReply> {
    let address = folder.address(socket)?;
    let mut stream = UnixStream::connect(address.path()).await?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut reply = Vec::new();
    let mut read = BufReader::new(stream.take(REPLY_LIMIT_BYTES));
    read.read_until(b'\n', &mut reply).await?;
    if reply.is_empty() {
        return Err(io::Error::other("it closed the connection"));
    }
    Ok(serde_json::from_slice(&reply)?)
}
