use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Separates a message from its hint where both are one text.
pub(crate) const HELP: &str = "\n  help: ";

/// All faults, in the order of the files and of the places in them.
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

/// One fault at one place of a configuration file.
///
/// It never repeats a value from a variable, nor any value that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub file: PathBuf,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// The key's full path, such as `sources.github.command`. Empty for a syntax error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    pub message: String,
    /// How to fix it.
    pub hint: String,
}

impl Fault {
    /// The fault on one line, as the reason why a source does not work.
    pub fn on_one_line(&self) -> String {
        let Self { file, line, column, key, message, hint } = self;
        format!("`{key}` {message}; {hint} ({}:{line}:{column})", file.display())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file.display(), self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "`{}` ", self.key)?;
        }
        write!(f, "{}{HELP}{}", self.message, self.hint)
    }
}
