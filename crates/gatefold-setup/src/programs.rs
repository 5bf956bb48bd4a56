//! Finds the program of a source, in the same way for every command.

use std::path::{Path, PathBuf};

use gatefold_core::Secret;

use gatefold::Environment;
use gatefold::config::Connection;

/// The program that a connection starts. None where it starts none, or there is none such.
pub fn found(connection: &Connection, environment: &Environment) -> Option<PathBuf> {
    let Connection::Stdio { command, env, cwd, .. } = connection else {
        return None;
    };
    let folder = folder(cwd.as_deref(), environment);
    which::which_in(command, Some(search_path(env, environment)), folder).ok()
}

/// The folder in which a program is started, which a relative command starts from too.
pub fn folder(cwd: Option<&Path>, environment: &Environment) -> PathBuf {
    cwd.map_or_else(|| environment.directory().to_owned(), |cwd| environment.directory().join(cwd))
}

/// The search path for a command without a folder: the source's own `PATH`, or else ours.
pub fn search_path<'a>(env: &'a [(String, Secret)], environment: &'a Environment) -> &'a str {
    let own = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.expose());
    own.or_else(|| environment.get("PATH")).unwrap_or_default()
}
