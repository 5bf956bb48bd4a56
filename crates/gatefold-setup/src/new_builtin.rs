//! Built-in tools that a person names on the command line.

use toml::Value;

use super::rendered::{Members, text};

/// What stands for every tool that needs nothing.
const ALL: &str = "all";

/// A source of built-in tools.
#[derive(Debug)]
pub struct NewBuiltin {
    /// The names of tools, or the word for all alone.
    pub names: Vec<String>,
}

impl NewBuiltin {
    pub(super) fn members(&self) -> Members {
        let mut members = Members::default();
        let value = match &self.names[..] {
            [only] if only == ALL => text(only),
            names => Value::Array(names.iter().map(|name| text(name)).collect()),
        };
        members.put("builtin", value);
        members
    }
}
