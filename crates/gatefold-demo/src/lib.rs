//! The demonstration's own sources: ten small domains that do real work in a scratch folder.
//!
//! `gatefold demo` starts six as child processes over stdio, so visitors see what any MCP server
//! would offer: files in a folder, an issue tracker, a contacts book, a calendar and units of
//! measure in SQLite, and functions on text. The seventh, a shop, is an HTTP API that serves its own
//! OpenAPI description. The eighth, the staff of a garden, is a SQLite file that the gateway itself
//! reads. The ninth are skills: procedures of that garden, as files. The tenth is its handbook, documents
//! that a knowledge base is made of. A tool is a description, its arguments, its results, and mostly one
//! SQL statement that gets the arguments as JSON; an operation of the API is a tool with a method and a
//! path. The data survives a restart, and the first start always creates the same data.
//!
//! The crate knows rmcp, HTTP and SQL. It must not know the gateway: no other Gatefold crate, no
//! network but the listener it was given, no environment, nothing outside the scratch folder it was
//! given.

mod api;
mod calendar;
mod caller;
mod contacts;
mod database;
mod error;
mod fields;
mod files;
mod folders;
mod issues;
mod prompts;
mod server;
mod shop;
mod text;
mod tool;
mod units;

use std::path::{Path, PathBuf};

use crate::database::Database;
pub use crate::{api::DemoApi, error::DemoError, folders::create_folder, server::Server};

/// One of the demonstration's servers: a domain and its subject.
#[derive(Debug)]
pub struct DemoServer {
    /// The name to pass to [`serve_stdio`] or [`DemoApi::open`], also the domain it is shown under.
    pub name: &'static str,
    /// One sentence that says what the tools work on.
    pub description: &'static str,
}

/// The six MCP servers, in the order in which the demonstration starts them.
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

/// The HTTP APIs, behind the servers.
pub fn apis() -> &'static [DemoServer] {
    &[DemoServer {
        name: "shop",
        description: "Buy seeds, tools and kitchen supplies: find products, place, follow and cancel orders.",
    }]
}

/// The databases, behind the APIs.
pub fn databases() -> &'static [DemoServer] {
    &[DemoServer {
        name: "staff",
        description: "Employees of a garden: who reports to whom, departments and leave.",
    }]
}

/// The source of built-in tools.
pub fn builtin() -> &'static DemoServer {
    &DemoServer {
        name: "builtin",
        description: "A calculator with units, and dates in every time zone.",
    }
}

/// The folders of skills, behind the databases.
pub fn skill_folders() -> &'static [DemoServer] {
    &[DemoServer {
        name: "skills",
        description: "Procedures of the garden, step by step: faults, new colleagues.",
    }]
}

/// The knowledge bases, behind the skills.
pub fn knowledge_bases() -> &'static [DemoServer] {
    &[DemoServer {
        name: "handbook",
        description: "The garden's handbook: visitors, leave, expenses, machines.",
    }]
}

/// Creates a database on first start, and returns the path of its file.
pub async fn create_database(name: &str, scratch: &Path) -> Result<PathBuf, DemoError> {
    match name {
        "staff" => Database::create(scratch, name, include_str!("staff.sql")).await,
        other => Err(DemoError::UnknownServer(other.to_owned())),
    }
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
