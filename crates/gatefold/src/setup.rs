//! From the clients that a person has to a gateway in front of their servers, and back: what
//! `import`, `connect` and `disconnect` do.
//!
//! Reading is `config`'s, editing `gatefold-clients`'; what is decided here are functions of what
//! was read, and files are touched in `files` and `undo` alone.

mod connect;
mod files;
mod found;
mod import;
mod rendered;
mod secrecy;
mod undo;

use std::path::PathBuf;

pub use connect::{Act, Connected, Disconnected, connect, connected, disconnect, held};
pub use files::read;
pub use found::{FoundFile, find, is_gatefold, machine, servers_of};
pub use import::{Plan, Planned, Skipped, Why, plan, user_config_file, variables_in};
pub use rendered::{SecretStyle, append, write};
pub use secrecy::{FoundSecret, is_secret};

use crate::config::ConfigError;

/// Why a set-up was left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    #[error("the user's home is not known: `HOME` is not set\n  help: set it")]
    NoHome,
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}: {error}", path.display())]
    Edit { path: PathBuf, error: gatefold_clients::EditError },
    #[error(
        "{}: cannot be {act}: {error}\n  help: check that the user who runs this may do so",
        path.display()
    )]
    File { path: PathBuf, act: &'static str, error: std::io::Error },
    #[error(
        "{}: changed while it was being edited\n  help: try again; nothing was written", path.display()
    )]
    Changed { path: PathBuf },
    #[error(
        "{}: sources cannot be added to it: {fault}\n  help: mend it, or name another file with \
         `--config FILE`",
        path.display()
    )]
    NotAppendable { path: PathBuf, fault: String },
    #[error(
        "Gatefold is not in {}\n  help: `gatefold connect` lists where it is", path.display()
    )]
    NotConnected { path: PathBuf },
    #[error(
        "{}: what is kept there for the way back cannot be read: {error}\n  help: edit {} by hand; the \
         file as it was may stand in the former",
        record.display(), path.display()
    )]
    Record { record: PathBuf, path: PathBuf, error: serde_json::Error },
}
