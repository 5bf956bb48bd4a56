use std::path::{Path, PathBuf};

use gatefold_config::{Dialect, Document, Fault, Faults, ForeignKey, parse_toml};

use super::file_text::read;
use super::kinds::{Kinds, SourceKind};
use super::profiles::{DisclosureNames, RegisteredNames};
use super::sections::{Draft, FOREIGN_KEYS};
use super::{Config, ConfigError, InputVariables, clients, locate, resolve, sections, tool_modes};
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
    let environment = &with_its_secrets(inputs, environment).for_one_load();
    let mut faults = Vec::new();
    let mut draft = Draft::default();
    let mut files = Vec::new();
    let mut inputs_of_clients = InputVariables::default();
    if let Some(path) = &inputs.config {
        let text = read(path, environment, &mut faults)?;
        draft = own(path, text.as_deref().unwrap_or_default(), inputs, environment, &mut faults);
        files.push(environment.directory().join(path));
    }
    for path in &inputs.mcp_configs {
        let Some(text) = read(path, environment, &mut faults)? else {
            continue;
        };
        let mut document = Document::new(path, &text, environment, Dialect::Client);
        let limits = draft.source_limits;
        let sources =
            clients::read(&mut document, &text, environment, limits, &mut inputs_of_clients);
        draft.sources.extend(sources);
        faults.extend(document.take_faults());
        files.push(environment.directory().join(path));
    }
    if faults.is_empty() {
        let disclosure = &mut draft.disclosure;
        disclosure.modes =
            tool_modes::with_variables(std::mem::take(&mut disclosure.modes), environment);
        disclosure.selection = tool_modes::selection(disclosure.selection, environment);
        Ok(resolve::resolve(draft, files))
    } else {
        Err(ConfigError::Invalid(Faults(faults)))
    }
}

/// A `gatefold.toml`.
fn own(
    path: &Path,
    text: &str,
    inputs: &Inputs,
    environment: &Environment,
    faults: &mut Vec<Fault>,
) -> Draft {
    let document = Document::new(path, text, environment, Dialect::Gatefold);
    let document = document.with_foreign_keys(foreign_keys(&inputs.kinds));
    let known = RegisteredNames { kinds: &inputs.kinds, disclosures: &inputs.disclosures };
    let root = document.parsed(parse_toml(text));
    let draft = root.map(|root| sections::read(&document, &root, &known));
    faults.extend(document.take_faults());
    draft.unwrap_or_default()
}

/// What is wrong with one source of a text that will become a `gatefold.toml`.
#[derive(Debug)]
pub struct SourceFindings {
    pub faults: Vec<Fault>,
    /// The variable or secret that it refers to and that does not exist here.
    pub absent: Option<Fault>,
    /// How many faults there are elsewhere in the text.
    pub elsewhere: usize,
}

/// Reads a text as if it were the file `path` and looks at one of its sources.
pub fn check_source(
    name: &str,
    text: &str,
    path: &Path,
    environment: &Environment,
) -> SourceFindings {
    let inputs = Inputs { config: Some(path.to_owned()), ..Inputs::default() };
    let environment = &with_its_secrets(&inputs, environment).for_one_load();
    let mut faults = Vec::new();
    let draft = own(path, text, &inputs, environment, &mut faults);
    let key = format!("sources.{name}");
    let is_own = |fault: &Fault| {
        fault.key.strip_prefix(&key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let (faults, elsewhere): (Vec<_>, Vec<_>) = faults.into_iter().partition(is_own);
    let source = draft.sources.iter().find(|source| source.origin.key == name);
    let absent = source.and_then(|source| source.section.fault()).cloned();
    SourceFindings { faults, absent, elsewhere: elsewhere.len() }
}

/// The environment with the file of secrets that the configuration names, if any. It has to be
/// known before anything else is read, because references to secrets may be anywhere.
pub fn with_its_secrets(inputs: &Inputs, environment: &Environment) -> Environment {
    match secrets_file(inputs, environment) {
        Some(path) => environment.with_secret_file(&path),
        None => environment.clone(),
    }
}

/// The file of secrets that a configuration names, even if there are faults elsewhere in it.
pub fn secrets_file(inputs: &Inputs, environment: &Environment) -> Option<PathBuf> {
    let path = inputs.config.as_ref()?;
    let text = read(path, environment, &mut Vec::new()).ok().flatten()?;
    let root = parse_toml(&text).ok()?;
    let document = Document::new(path, &text, environment, Dialect::Gatefold);
    let found = sections::secrets_file(&document, &root)?;
    Some(environment.directory().join(found))
}

/// Other programs' names for the keys of a `gatefold.toml`.
fn foreign_keys(kinds: &Kinds) -> Vec<ForeignKey> {
    let of_kinds = kinds.iter().flat_map(SourceKind::foreign_keys);
    FOREIGN_KEYS.iter().chain(of_kinds).copied().collect()
}
