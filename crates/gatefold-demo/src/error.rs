use std::{io, path::PathBuf};

/// Why a demonstration server could not start or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The name is not one of [`servers`](crate::servers).
    #[error("unknown demo server `{0}`: the servers are {names}", names = server_names())]
    UnknownServer(String),
    /// The scratch folder could not be prepared.
    #[error("could not prepare the scratch folder `{}`", path.display())]
    Scratch {
        /// The folder or file that could not be created.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// A database in the scratch folder could not be opened or filled.
    #[error("could not open the database `{}`", path.display())]
    Database {
        /// The database's file.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: sqlx::Error,
    },
    /// The HTTP API could not go on listening.
    #[error("could not serve the HTTP API")]
    Http(#[source] io::Error),
    /// The protocol broke down before the input closed.
    #[error("could not serve the client")]
    Protocol(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why one call did not produce a result. Its text goes to the model that made the call.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    #[error("{0}")]
    Arguments(String),
    #[error("{fault}; {hint}")]
    Missing { fault: String, hint: String },
    #[error("{fault}; {hint}")]
    Refused { fault: String, hint: String },
    #[error("the database failed: {0}; try the call again")]
    Database(#[from] sqlx::Error),
    #[error("could not {action} `{path}`: {source}")]
    File { action: &'static str, path: String, source: io::Error },
    #[error("the server is shutting down; start it again")]
    Stopped,
}

/// A refusal in two parts: what is wrong, and how to fix it.
pub(crate) fn refuse(fault: impl Into<String>, hint: impl Into<String>) -> ToolError {
    ToolError::Refused { fault: fault.into(), hint: hint.into() }
}

fn server_names() -> String {
    let names: Vec<_> =
        crate::servers().iter().map(|server| format!("`{}`", server.name)).collect();
    names.join(", ")
}
