//! The control socket: how the binary's commands ask a running gateway.
//!
//! Every gateway listens on a Unix socket of its own in the folder `control` of its state
//! directory, which only its user may enter. A connection carries one request and one reply, each a
//! line of JSON. Hanging up before the reply cancels the request, including a tool call.

mod client;
mod folder;
mod listener;
mod search;

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

use gatefold_core::Timestamp;
use gatefold_operations::{AppRequest, OperationError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(super) use client::RunningGateway;
pub(super) use listener::ControlSocket;
pub(super) use search::{START_HELP, locate, on_record, without_any};

/// The longest request: a call's arguments with the envelope around them.
const REQUEST_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// How long a gateway waits for a request, and for its reply to be read.
const LINE_DEADLINE: Duration = Duration::from_secs(10);

/// What a command asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ControlRequest {
    /// Who are you?
    Identity,
    Operation(AppRequest),
}

/// The reply to a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ControlReply {
    Answer(Box<RawValue>),
    Fault(OperationError),
}

/// The command that started a gateway. Gateways are asked in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GatewayRole {
    Serve,
    Demo,
    Stdio,
}

impl fmt::Display for GatewayRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Serve => "serve",
            Self::Demo => "demo",
            Self::Stdio => "stdio",
        })
    }
}

/// Who answers on a socket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GatewayIdentity {
    pub(super) role: GatewayRole,
    pub(super) version: String,
    pub(super) process: u32,
    pub(super) started_at: Timestamp,
    /// Where it serves MCP over HTTP, if it does.
    pub(super) url: Option<String>,
    /// The files of its configuration, without symbolic links.
    pub(super) files: Vec<String>,
}

/// A file's path without symbolic links, for comparisons.
fn real_path(file: &Path) -> String {
    let real = fs::canonicalize(file);
    real.as_deref().unwrap_or(file).to_string_lossy().into_owned()
}
