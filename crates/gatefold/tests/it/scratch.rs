use std::time::Duration;

use gatefold::config::{Config, ConfigError, Inputs};

pub(crate) use self::directory::Scratch;

// The command line's tests include this module too.
mod directory;

/// The longest that a test waits for anything.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Loads one `gatefold.toml`.
pub(crate) fn toml(text: &str) -> Result<Config, ConfigError> {
    let scratch = Scratch::new();
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    // The example of `overlay` names this file, which has to be there.
    scratch.write("api.overlay.toml", "");
    scratch.write("gatefold.toml", text).load(&inputs)
}

/// Loads one client's configuration.
pub(crate) fn json(text: &str) -> Result<Config, ConfigError> {
    let scratch = Scratch::new();
    let inputs = Inputs { mcp_configs: vec!["mcp.json".into()], ..Inputs::default() };
    scratch.write("mcp.json", text).load(&inputs)
}
