use std::io;
use std::path::PathBuf;

use super::ConfigError;
use crate::Environment;

/// The name of Gatefold's own configuration file.
pub const FILE_NAME: &str = "gatefold.toml";

/// Looks for a configuration in the usual places: the working directory, then the user's
/// configuration directory (XDG base directory specification).
pub(super) fn config_file(environment: &Environment) -> Result<PathBuf, ConfigError> {
    let here = environment.directory().join(FILE_NAME);
    if here.is_file() {
        return Ok(FILE_NAME.into());
    }
    let user = user_config_file(environment);
    let looked_for: Vec<_> = std::iter::once(here).chain(user).collect();
    if let Some(found) = looked_for.iter().find(|path| path.is_file()) {
        return Ok(found.clone());
    }
    match looked_for.iter().find(|path| path.is_dir()) {
        Some(directory) => Err(ConfigError::Unreadable {
            path: directory.clone(),
            hint: "move it away, or name a file with `--config FILE`",
            error: io::ErrorKind::IsADirectory.into(),
        }),
        None => Err(ConfigError::NotFound { looked_for }),
    }
}

/// The user's own `gatefold.toml`, whether or not it exists. `None` without a home.
pub fn user_config_file(environment: &Environment) -> Option<PathBuf> {
    base_directory(environment, "XDG_CONFIG_HOME", ".config")
        .map(|directory| directory.join("gatefold").join(FILE_NAME))
}

/// The default directory for audit records and manifests: `gatefold` in the user's state directory.
pub fn default_state_dir(environment: &Environment) -> Result<PathBuf, ConfigError> {
    base_directory(environment, "XDG_STATE_HOME", ".local/state")
        .map(|directory| directory.join("gatefold"))
        .ok_or(ConfigError::NoStateDirectory)
}

/// One of the specification's directories. The specification says to ignore relative ones.
fn base_directory(environment: &Environment, variable: &str, default: &str) -> Option<PathBuf> {
    let set = environment.get_filled(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| environment.home().map(|home| home.join(default)))
}
