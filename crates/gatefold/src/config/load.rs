use std::path::PathBuf;

use gatefold_config::{Dialect, Document, Faults, ForeignKey, parse_toml};

use super::file_text::read;
use super::kinds::{Kinds, SourceKind};
use super::profiles::DisclosureNames;
use super::sections::{Draft, FOREIGN_KEYS, Known};
use super::{Config, ConfigError, clients, locate, resolve, sections};
use crate::Environment;

/// The files that make a configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// A `gatefold.toml`.
    pub config: Option<PathBuf>,
    /// Configuration files of MCP clients, whose servers become sources.
    pub mcp_configs: Vec<PathBuf>,
    /// The kinds that sources may have.
    pub kinds: Kinds,
    /// The disclosures that they may choose.
    pub disclosures: DisclosureNames,
}

impl Inputs {
    /// These files, or the one in its usual place if there are none.
    pub fn located(mut self, environment: &Environment) -> Result<Self, ConfigError> {
        if self.config.is_none() && self.mcp_configs.is_empty() {
            self.config = Some(locate::config_file(environment)?);
        }
        Ok(self)
    }
}

/// Reads the files and combines them.
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
            let known = Known { kinds: &inputs.kinds, disclosures: &inputs.disclosures };
            draft = sections::read(&document, &root, &known);
        }
        faults.extend(document.take_faults());
        files.push(environment.directory().join(path));
    }
    for path in &inputs.mcp_configs {
        let Some(text) = read(path, environment, &mut faults)? else {
            continue;
        };
        let mut document = Document::new(path, &text, environment, Dialect::Client);
        draft.sources.extend(clients::read(&mut document, &text, environment, draft.source_limits));
        faults.extend(document.take_faults());
        files.push(environment.directory().join(path));
    }
    if faults.is_empty() {
        Ok(resolve::resolve(draft, files))
    } else {
        Err(ConfigError::Invalid(Faults(faults)))
    }
}

/// Other programs' names for the keys of a `gatefold.toml`.
fn foreign_keys(kinds: &Kinds) -> Vec<ForeignKey> {
    let of_kinds = kinds.iter().flat_map(SourceKind::foreign_keys);
    FOREIGN_KEYS.iter().chain(of_kinds).copied().collect()
}
