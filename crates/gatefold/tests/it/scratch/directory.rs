use std::path::Path;

use gatefold::Environment;
use gatefold::config::{Config, ConfigError, Inputs, load};
use tempfile::TempDir;

/// A directory with configuration files; messages name files relative to it.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
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
