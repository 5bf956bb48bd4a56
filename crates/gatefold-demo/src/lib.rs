//! The demonstration's own MCP servers: six small domains that do real work in a scratch folder.
//!
//! `gatefold demo` starts each as a child process over stdio, so visitors see what any MCP server
//! would offer: files in a folder, an issue tracker, a contacts book, a calendar and units of
//! measure in SQLite, and functions on text. A tool is a description, its arguments, its results,
//! and mostly one SQL statement that gets the arguments as JSON. The servers' data survives a
//! restart, and the first start always creates the same data.
//!
//! The crate knows rmcp and SQL. It must not know the gateway: no other Gatefold crate, no
//! network, no environment, nothing outside the scratch folder it was given.

mod calendar;
mod caller;
mod contacts;
mod database;
mod error;
mod fields;
mod files;
mod issues;
mod prompts;
mod server;
mod text;
mod tool;
mod units;

use std::path::Path;

pub use crate::{error::DemoError, server::Server};

/// One of the demonstration's servers: a domain and its subject.
#[derive(Debug)]
pub struct DemoServer {
    /// The name to pass to [`serve_stdio`], also the domain it is shown under.
    pub name: &'static str,
    /// One sentence that says what the tools work on.
    pub description: &'static str,
}

/// The six servers, in the order in which the demonstration starts them.
pub fn servers() -> &'static [DemoServer] {
    &[
        DemoServer {
            name: "files",
            description: "Read, write, search and organise files in a scratch folder.",
        },
        DemoServer {
            name: "issues",
            description: "Track issues: report, search, label, comment on, assign and close them.",
        },
        DemoServer {
            name: "contacts",
            description: "Keep a contacts book: people, how to reach them and the groups they are in.",
        },
        DemoServer {
            name: "calendar",
            description: "Plan events, find free time, and reckon with dates.",
        },
        DemoServer {
            name: "text",
            description: "Count, search, reshape and encode pieces of text.",
        },
        DemoServer {
            name: "units",
            description: "Calculate, summarise numbers and convert units of measure.",
        },
    ]
}

/// Serves one server over standard input and output until standard input closes.
///
/// Both protocol eras are served: the `initialize` handshake and the stateless `2026-07-28`.
/// Everything the server keeps lies under `scratch`, which is created when it is missing.
pub async fn serve_stdio(name: &str, scratch: &Path) -> Result<(), DemoError> {
    let server = Server::open(name, scratch).await?;
    let (input, output) = rmcp::transport::io::stdio_pipes();
    server.serve(input, output).await
}
