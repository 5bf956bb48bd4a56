//! Paths as people read them.

use std::path::Path;

use gatefold::Environment;
use gatefold_setup::shell;

/// A path with the user's home shortened to `~`.
pub(super) fn shown(path: &Path, environment: &Environment) -> String {
    let home = environment.home();
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// A path as a shell accepts it, with the user's home shortened where possible.
pub(super) fn as_argument(path: &Path, environment: &Environment) -> String {
    let short = shown(path, environment);
    match short.strip_prefix("~/") {
        Some(rest) if shell::quoted(Path::new(rest)) == rest => short,
        _ => shell::quoted(path),
    }
}
