use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "no configuration found: looked for {}\n  help: make one from the MCP clients that you \
         have with `gatefold import`, write one with `gatefold init`, or start with `--mcp-config \
         FILE` and a client's configuration",
        list(.looked_for)
    )]
    NotFound { looked_for: Vec<PathBuf> },
    #[error("{}: cannot be read: {}\n  help: {hint}", path.display(), reason(error))]
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

/// Why a file cannot be read, in words that are not the system's where these say less.
fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "this user may not read it".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is a file".to_owned(),
        ErrorKind::FileTooLarge => "it is too large".to_owned(),
        _ if is_link_loop(error) => "its symbolic links lead in a circle".to_owned(),
        _ => error.to_string(),
    }
}

/// Whether symbolic links lead to each other. The standard library has no stable word for it.
pub(super) fn is_link_loop(error: &std::io::Error) -> bool {
    /// `ELOOP`, which is another number on each system.
    const LINK_LOOP: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };
    error.raw_os_error() == Some(LINK_LOOP)
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

impl Fault {
    /// The fault as the reason why one source does not work.
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
        write!(f, "{}\n  help: {}", self.message, self.hint)
    }
}

/// The lines of a text, to find the place of any byte of it.
///
/// They are looked for once: a file of thousands of sources asks for thousands of places.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// The byte that each line begins with.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { text, starts: std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect() }
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line and column of a byte offset, both from 1, the column in characters.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (line, before.trim_start_matches('\u{feff}').chars().count() + 1)
    }
}
