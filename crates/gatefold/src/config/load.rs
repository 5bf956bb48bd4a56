use std::io;
use std::path::{Path, PathBuf};

use gatefold_config::{Dialect, Document, Fault, Faults, ForeignKey, Lines, parse_toml};

use super::error::is_link_loop;
use super::kinds::{Kinds, SourceKind};
use super::sections::{Draft, FOREIGN_KEYS};
use super::{Config, ConfigError, clients, locate, resolve, sections};
use crate::{Environment, files};

/// The largest configuration file, in bytes.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// The files that make a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// A `gatefold.toml`.
    pub config: Option<PathBuf>,
    /// Configurations of MCP clients, whose servers become sources.
    pub mcp_configs: Vec<PathBuf>,
    /// The kinds of sources that they may have.
    pub kinds: Kinds,
}

impl Inputs {
    /// These files, or the one in its usual place when there are none.
    pub fn located(mut self, environment: &Environment) -> Result<Self, ConfigError> {
        if self.config.is_none() && self.mcp_configs.is_empty() {
            self.config = Some(locate::config_file(environment)?);
        }
        Ok(self)
    }
}

/// Reads the files and puts together what they say.
///
/// The error has every fault of every file that could be read at all.
pub fn load(inputs: &Inputs, environment: &Environment) -> Result<Config, ConfigError> {
    let environment = &environment.for_one_load();
    let mut faults = Vec::new();
    let mut draft = Draft::default();
    let mut files = Vec::new();
    if let Some(path) = &inputs.config {
        let text = read(path, environment, &mut faults)?;
        let text = text.as_deref().unwrap_or_default();
        let document = Document::new(path, text, environment, Dialect::Gatefold);
        let document = document.with_foreign_keys(foreign_keys(&inputs.kinds));
        if let Some(root) = document.parsed(parse_toml(text)) {
            draft = sections::read(&document, &root, &inputs.kinds);
        }
        faults.extend(document.take_faults());
        files.push(environment.directory().join(path));
    }
    for path in &inputs.mcp_configs {
        let Some(text) = read(path, environment, &mut faults)? else {
            continue;
        };
        let document = Document::new(path, &text, environment, Dialect::Client);
        draft.sources.extend(clients::read(&document, &text, environment, draft.source_limits));
        faults.extend(document.take_faults());
        files.push(environment.directory().join(path));
    }
    if faults.is_empty() {
        Ok(resolve::resolve(draft, files))
    } else {
        Err(ConfigError::Invalid(Faults(faults)))
    }
}

/// What other programs call the keys of a `gatefold.toml`.
fn foreign_keys(kinds: &Kinds) -> Vec<ForeignKey> {
    let of_kinds = kinds.iter().flat_map(SourceKind::foreign_keys);
    FOREIGN_KEYS.iter().chain(of_kinds).copied().collect()
}

/// Reads a file. One that is not text is noted as wrong.
pub(super) fn read(
    path: &Path,
    environment: &Environment,
    faults: &mut Vec<Fault>,
) -> Result<Option<String>, ConfigError> {
    let read = files::read(&environment.directory().join(path), FILE_LIMIT_BYTES);
    let bytes = read.map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => "check the path",
            io::ErrorKind::PermissionDenied => "let the user that runs Gatefold read it",
            io::ErrorKind::FileTooLarge => "give a configuration of at most 4 MiB",
            io::ErrorKind::IsADirectory => "name a file in it",
            _ if is_link_loop(&error) => "give a regular file, or mend the links",
            _ => "give a regular file",
        };
        ConfigError::Unreadable { path: path.to_owned(), hint, error }
    })?;
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Some(text)),
        Err(error) => error,
    };
    let valid = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(&error.as_bytes()[..valid]);
    let (line, column) = Lines::of(&text).place(valid);
    faults.push(Fault {
        file: path.to_owned(),
        line,
        column,
        key: String::new(),
        message: "the text is not UTF-8".to_owned(),
        hint: "save the file as UTF-8".to_owned(),
    });
    Ok(None)
}
