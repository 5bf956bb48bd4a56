use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "no configuration found: looked for {}\n  help: write a `gatefold.toml`, or start with \
         `--mcp-config FILE` and the configuration of a client that you have",
        list(.looked_for)
    )]
    NotFound { looked_for: Vec<PathBuf> },
    #[error("{}: cannot be read: {error}\n  help: {hint}", path.display())]
    Unreadable { path: PathBuf, hint: &'static str, error: std::io::Error },
    #[error("{0}")]
    Invalid(Faults),
    #[error(
        "no directory for Gatefold's state: `HOME` is not set\n  help: give one with `--state-dir DIR`"
    )]
    NoStateDirectory,
}

impl ConfigError {
    /// What is wrong in the files, one entry a fault; empty when no file could be read at all.
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::Invalid(Faults(faults)) => faults,
            _ => &[],
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    shown.join(", ")
}

/// All that was found wrong, in the order of the files and of the places in them.
#[derive(Debug)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n" };
            write!(f, "{gap}{fault}")?;
        }
        Ok(())
    }
}

/// One thing wrong in one place of a configuration file.
///
/// It never repeats a value that a variable gave, nor any value that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub file: PathBuf,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The key's full path, such as `sources.github.command`. Empty for a fault of syntax.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    pub message: String,
    /// How to put it right.
    pub hint: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "`{}` ", self.key)?;
        }
        write!(f, "{}\n  help: {}", self.message, self.hint)
    }
}

/// The line and column of a byte offset, both from 1, the column in characters.
pub(super) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
