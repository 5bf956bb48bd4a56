use std::path::PathBuf;

use gatefold_config::{Fault, Faults};

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "no configuration found: looked for {}\n  help: make one from the MCP clients that you \
         have with `gatefold import`, add a server with `gatefold add`, write one with `gatefold \
         init`, or start with `--mcp-config FILE` and a client's configuration",
        list(.looked_for)
    )]
    NotFound { looked_for: Vec<PathBuf> },
    #[error("{}: cannot be read: {}\n  help: {hint}", path.display(), reason(error))]
    Unreadable { path: PathBuf, hint: &'static str, error: std::io::Error },
    #[error("{0}")]
    Invalid(Faults),
    #[error(
        "no directory for Gatefold's state: `HOME` is not set\n  help: give one with `--state-dir DIR`"
    )]
    NoStateDirectory,
}

impl ConfigError {
    /// The faults of the files; empty if no file could be read at all.
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::Invalid(Faults(faults)) => faults,
            _ => &[],
        }
    }
}

/// Why a file cannot be read, in our own words if the system's say too little.
fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "this user may not read it".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is a file".to_owned(),
        ErrorKind::FileTooLarge => "it is too large".to_owned(),
        _ if is_link_loop(error) => "its symbolic links lead in a circle".to_owned(),
        _ => error.to_string(),
    }
}

/// Whether symbolic links form a loop. The standard library has no stable error kind for it.
pub(super) fn is_link_loop(error: &std::io::Error) -> bool {
    /// `ELOOP`, which has another number on each system.
    const LINK_LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };
    error.raw_os_error() == Some(LINK_LOOP)
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    shown.join(", ")
}
