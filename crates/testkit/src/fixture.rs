//! An MCP server that misbehaves as its command line says.
//!
//! A test binary with its own `main` calls [`run_if_asked`](crate::run_if_asked) first, and then starts itself again as
//! the server with the command of [`fixture_command`]. The flags compose:
//!
//! | flag | what the server does |
//! |---|---|
//! | `--era handshake` | serves 2025-11-25 and older; `server/discover` gets -32601 |
//! | `--era stateless` | serves 2026-07-28 only; `initialize` gets -32022 |
//! | `--era both` | serves both (the default) |
//! | `--unnamed-handshake` | serves both, but names 2026-07-28 alone, and takes `initialize` only as the first request of a connection, as servers of the official SDKs do |
//! | `--sessionless` | over HTTP, answers `initialize` without a session |
//! | `--old VERSION` | handshake only, and `VERSION` is the newest it knows, such as 2024-11-05 |
//! | `--exit-on-discover` | exits with 1 when it sees `server/discover` |
//! | `--exit-on-initialize` | exits with 1 when it sees `initialize` |
//! | `--ignore-discover` | never answers `server/discover`; the rest as usual |
//! | `--slow-start MS` | reads nothing for that long |
//! | `--exit CODE` | writes a line to stderr and exits at once |
//! | `--hang` | reads and never answers |
//! | `--garbage` | writes lines that are not JSON to stdout, then goes on as usual |
//! | `--garbage-only` | answers every message with such a line |
//! | `--stderr-lines N` | writes N lines to stderr at the start |
//! | `--ignore-eof` | stays alive when stdin closes |
//! | `--bare` | has none of the default tools |
//! | `--tools N` | has N more tools with varied schemas |
//! | `--replay FILE` | serves the `tools` of `{server, initialize, tools}` unedited, and no others |
//! | `--malformed-tool KIND` | adds a tool in the middle that breaks the specification; KIND is `no-name`, `string-schema` or `number-description` |
//! | `--page-size N` | answers `tools/list` in pages |
//! | `--endless-pages` | every page has new tools and a new cursor |
//! | `--repeat-cursor` | every page has the same tools and the same cursor |
//! | `--shuffle SEED` | shuffles the tools, and the keys of every object in them |
//! | `--drift` | the second `tools/list` shows the first tool with another description and schema |
//! | `--log FILE` | appends each message received as one line of JSON, see [`ReceivedMessage`] |
//! | `--http` | serves over HTTP in this process and prints its address, see [`crate::http`] |
//! | `--sse` | over HTTP, answers with an event stream even where it need not |
//! | `--bearer TOKEN` | over HTTP, answers 401 unless the token is sent |
//!
//! The tools are `add`, `ask`, `audio`, `die`, `echo`, `embedded_resource`, `env`, `fail`, `grow`,
//! `huge`, `image`, `meta`, `never`, `progress`, `protocol_error`, `resource_link`,
//! `sleep_forever_child`, `slow`, `structured` and `unknown_block`; their descriptions say what
//! they do. A synthetic or a replayed tool answers with the text of its arguments, as `echo` does; a replayed one
//! after so many milliseconds as its argument `ms` says.

mod answers;
mod args;
mod calls;
mod catalogue;
mod eras;
mod jsonrpc;
mod log;
mod peer;
mod server;
mod stdio;
mod synthetic;

use std::path::PathBuf;
use std::sync::Arc;

pub(crate) use self::answers::{GARBAGE, Reply};
pub(crate) use self::args::{Behaviour, HandshakeSessions, StartMode, Streaming, Transport};
pub(crate) use self::calls::may_speak;
pub(crate) use self::eras::{Era, STATELESS_VERSION};
pub(crate) use self::jsonrpc::{Fault, Incoming, Request, quoted, read};
pub use self::log::{Kind, ReceivedMessage, read_log};
pub(crate) use self::peer::{OUTLET_LIMIT, Outlet, Peer, lock};
pub(crate) use self::server::Server;
pub(crate) use self::stdio::{DEATH_EXIT, serve as serve_stdio};
use crate::Error;

/// The first argument that turns a binary into the fixture.
pub(crate) const COMMAND: &str = "fixture";

/// A server with its behaviours, ready to serve over HTTP.
#[derive(Clone)]
pub struct Fixture {
    pub(crate) behaviour: Behaviour,
    pub(crate) server: Arc<Server>,
}

impl Fixture {
    /// Takes the flags of the table above, such as `["--era", "both", "--tools", "30"]`.
    pub fn new(behaviour: &[&str]) -> Result<Self, Error> {
        Self::from_args(behaviour.iter().map(|flag| (*flag).to_owned()))
    }

    pub(crate) fn from_args(args: impl Iterator<Item = String>) -> Result<Self, Error> {
        let behaviour = args::parse(args)?;
        let server = Arc::new(Server::new(behaviour.clone())?);
        Ok(Self { behaviour, server })
    }
}

/// The command that starts the running binary again as a fixture with these flags.
///
/// The binary's `main` must call [`run_if_asked`](crate::run_if_asked) first.
pub fn fixture_command(behaviour: &[&str]) -> (PathBuf, Vec<String>) {
    let program = std::env::current_exe().expect("a running process has an executable");
    // At least one flag, so that a test filter named `fixture` starts no server.
    let flags = if behaviour.is_empty() { &["--era", "both"] } else { behaviour };
    let args = std::iter::once(&COMMAND).chain(flags).map(|arg| (*arg).to_owned()).collect();
    (program, args)
}
