//! Paths as people read them.

use std::path::Path;

use gatefold::Environment;

/// A path with the user's home shortened to `~`.
pub(super) fn shown(path: &Path, environment: &Environment) -> String {
    let home = environment.home();
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
