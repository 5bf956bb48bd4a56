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

/// A path as a shell takes it, with the user's home shortened where that is possible.
pub(super) fn as_argument(path: &Path, environment: &Environment) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+~".contains(c);
    let short = shown(path, environment);
    if short.chars().all(is_plain) {
        return short;
    }
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
