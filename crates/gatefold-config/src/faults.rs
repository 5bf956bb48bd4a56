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

/// A syntax error: where, and what.
#[derive(Debug)]
pub struct SyntaxFault {
    /// The byte offset in the text.
    pub offset: usize,
    pub message: String,
    pub hint: &'static str,
}

/// The lines of a text, to find the place of any byte in it.
///
/// They are computed once: a file of thousands of sources needs thousands of places.
pub struct Lines<'a> {
    text: &'a str,
    /// The byte that each line begins with.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line and column of a byte offset, both from 1, the column in characters.
    pub fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}
