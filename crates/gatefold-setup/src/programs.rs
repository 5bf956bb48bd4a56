//! Finds the program of a source, in the same way for every command.

use std::path::{Path, PathBuf};

use gatefold_core::Secret;

use gatefold::Environment;
use gatefold::config::kinds::ProgramNeed;

/// The program that a source needs, if it can be found.
pub fn found(need: &ProgramNeed<'_>, environment: &Environment) -> Option<PathBuf> {
    let folder = folder(need.cwd, environment);
    which::which_in(need.command, Some(search_path(need.env, environment)), folder).ok()
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
