use std::path::Path;
use std::time::Duration;

use gatefold::Environment;
use gatefold::config::{Config, ConfigError, Inputs, load};
use tempfile::TempDir;

/// The longest that a test waits for anything.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// A directory with configuration files, which messages name relative to it.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path().join(name), text).unwrap();
        self
    }

    pub(crate) fn environment(&self) -> Environment {
        let variables =
            [("TOKEN", "s3cret"), ("PORT", "99"), ("BREAK", "a\nb"), ("HOME", "/home/ann")];
        Environment::new(variables, self.path())
    }

    pub(crate) fn load(&self, inputs: &Inputs) -> Result<Config, ConfigError> {
        load(inputs, &self.environment())
    }
}

/// Loads one `gatefold.toml`.
pub(crate) fn toml(text: &str) -> Result<Config, ConfigError> {
    let scratch = Scratch::new();
    let inputs = Inputs { config: Some("gatefold.toml".into()), ..Inputs::default() };
    scratch.write("gatefold.toml", text).load(&inputs)
}

/// Loads one client's configuration.
pub(crate) fn json(text: &str) -> Result<Config, ConfigError> {
    let scratch = Scratch::new();
    let inputs = Inputs { mcp_configs: vec!["mcp.json".into()], ..Inputs::default() };
    scratch.write("mcp.json", text).load(&inputs)
}
