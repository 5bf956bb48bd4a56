//! Setting Gatefold up on a person's machine: `import`, `connect` and `disconnect` move servers
//! between clients and a gateway, [`doctor`] finds what is wrong, [`secrets`] is the keyring.
//!
//! Nothing here asks a question or prints: a caller decides what to show and what to confirm.
//! `gatefold::config` reads configurations and `gatefold-clients` edits clients' files; decisions
//! here are functions of what was read. Only `files` and `undo` touch clients' files, and only
//! `secrets` talks to the keyring. This crate must not know the command line, terminals or the
//! tokenizer.

mod connect;
pub mod doctor;
mod files;
mod found;
mod import;
mod lines;
mod new_api;
mod new_builtin;
mod new_database;
mod new_knowledge;
mod new_skills;
mod overlap;
pub mod programs;
mod rendered;
mod required;
mod secrecy;
pub mod secrets;
pub mod shell;
mod sources;
mod undo;

use std::io;
use std::path::PathBuf;

pub use connect::{ConnectReport, Connector, DisconnectReport, UnrecordedEntry, WriteMode};
pub use files::read;
pub use found::{FoundFile, existing, find, is_gatefold, listen_in, machine, servers_of};
pub use import::{FailedImport, ImportFault, keep};
pub use import::{
    ImportPlan, PlannedSource, SkipReason, SkippedServer, plan, user_config_file, variables_in,
};
pub use new_api::{NewApi, NewAuth};
pub use new_builtin::NewBuiltin;
pub use new_database::NewDatabase;
pub use new_knowledge::NewKnowledge;
pub use new_skills::NewSkills;
pub use overlap::{
    KeepReason, KeptServer, ServedSources, ServerOverlap, SourceReach, overlap, source_reach,
};
pub use rendered::{append, write};
pub use required::{RequiredVariables, required_variables};
pub use secrecy::{FoundSecret, SecretStyle, is_secret};
pub use sources::{
    NameFault, NewConnection, NewSource, Removal, SourceSwitch, add_source, name_fault,
    nearest_source, plain_secrets, redacted, remove_source, section, source_names,
    summary_as_written, switch_source,
};
pub use undo::Records;

use gatefold::config::ConfigError;

/// Why a command changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    #[error("the home directory is unknown: `HOME` is not set\n  help: set it")]
    NoHome,
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}: {error}", path.display())]
    Edit { path: PathBuf, error: gatefold_clients::EditError },
    /// The configuration, which its own reader would reject as well.
    #[error("{}: {error}", path.display())]
    Uneditable { path: PathBuf, error: gatefold_clients::EditError },
    #[error(
        "{}: cannot be {act}: {}\n  help: {}", path.display(), reason(error), remedy(error)
    )]
    File { path: PathBuf, act: &'static str, error: std::io::Error },
    #[error(
        "{}: is read-only\n  help: make it writable, or edit the file that it is made from",
        path.display()
    )]
    ReadOnly { path: PathBuf },
    #[error(
        "{}: there is already a server `{name}`\n  help: add Gatefold under another name with `--name \
         OTHER`",
        path.display()
    )]
    NameTaken { path: PathBuf, name: String },
    #[error(
        "{}: changed while it was being edited\n  help: try again; nothing was written", path.display()
    )]
    Changed { path: PathBuf },
    #[error(
        "{}: sources cannot be added to it: {fault}\n  help: fix it, or name another file with \
         `--config FILE`",
        path.display()
    )]
    NotAppendable { path: PathBuf, fault: String },
    #[error(
        "Gatefold is not in {}\n  help: `gatefold connect` lists where it is", path.display()
    )]
    NotConnected { path: PathBuf },
    #[error(
        "{}: it no longer exists; the servers that were taken out of it are kept in {}\n  help: have \
         the client make its file, and try again: the servers go back into it",
        path.display(), record.display()
    )]
    Gone { path: PathBuf, record: PathBuf },
    #[error(
        "Gatefold is in {}, but there is no record of what it replaced\n  help: `--force` takes only \
         the entry out",
        path.display()
    )]
    NoRecord { path: PathBuf },
    #[error(
        "{}: this undo record cannot be read: {error}\n  help: edit {} by hand; the \
         original file may be in the former",
        record.display(), path.display()
    )]
    Record { record: PathBuf, path: PathBuf, error: serde_json::Error },
}

/// Why a file cannot be read or written, in our own words if the system's say too little.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::FileTooLarge => "it is too large".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        _ => error.to_string(),
    }
}

/// What to do about it.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::InvalidData => "save the file as UTF-8",
        io::ErrorKind::FileTooLarge => "check what is in it: no configuration is that large",
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => {
            "put a regular file there, or a link to one"
        }
        _ => "check that the user who runs this may do so",
    }
}
