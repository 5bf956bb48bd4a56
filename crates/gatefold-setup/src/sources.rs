//! Adds sources to a `gatefold.toml`, removes them, and switches them on and off. Everything else
//! in the file stays as a person wrote it.

use std::path::Path;

use gatefold::config::kinds::KindSection as _;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold_clients::{
    EditError, Entry, Switch, TableText, add_table, remove_table, set_switch, table_names, toml_key,
};
use gatefold_config::nearest_key;
use gatefold_core::Domain;
use gatefold_secrecy::redact;
use toml::Value;

use super::SetupError;
use super::import::{connection_as_written, secrets_in};
use super::new_api::NewApi;
use super::new_builtin::NewBuiltin;
use super::new_database::NewDatabase;
use super::new_knowledge::NewKnowledge;
use super::new_skills::NewSkills;
use super::rendered::{HEAD, Members};
use super::secrecy::{self, SecretStyle};

/// The table of all sources.
const SOURCES: &str = "sources";

/// Whether a source is served.
const ENABLED: Switch<'static> = Switch { key: "enabled", default: true };

/// A source that a person describes on the command line.
#[derive(Debug)]
pub struct NewSource {
    pub name: String,
    pub connection: NewConnection,
    pub description: Option<String>,
    /// Patterns for what may be called.
    pub allow: Vec<String>,
    pub deny: Vec<String>,
}

/// How a new source is reached.
#[derive(Debug)]
pub enum NewConnection {
    Mcp(McpConnection),
    Api(NewApi),
    Database(NewDatabase),
    Builtin(NewBuiltin),
    Skills(NewSkills),
    Knowledge(NewKnowledge),
}

/// Whether a source is to be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceSwitch {
    On,
    Off,
}

/// Why a source cannot be added under a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    #[error(
        "`{0}` cannot name a source\n  help: use letters, digits, `-` and `_`, at most {max}",
        max = Domain::MAX_LENGTH
    )]
    Illegal(String),
    #[error(
        "there is already a source `{0}`\n  help: choose another name, or remove it first: `gatefold \
         remove {0}`"
    )]
    Taken(String),
    /// The second has the same domain.
    #[error(
        "`{0}` would have the same domain as the source `{1}`\n  help: choose a name that differs in \
         letters or digits"
    )]
    SameDomain(String, String),
}

/// A text without one source.
#[derive(Debug)]
pub struct Removal {
    pub text: String,
    /// Secrets that only this source referred to.
    pub unused_secrets: Vec<String>,
}

/// The names of the sources in a text, in its order.
pub fn source_names(text: &str, path: &Path) -> Result<Vec<String>, SetupError> {
    table_names(text, &[SOURCES.to_owned()]).map_err(|error| edit(path, error))
}

/// The source that a wrong name most likely means.
pub fn nearest_source<'n>(name: &str, names: &'n [String]) -> Option<&'n str> {
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    nearest_key(name, &names)
}

/// A text for people, with its secrets masked.
pub fn redacted(text: &str) -> String {
    redact(text).into_owned()
}

/// Why a source cannot have this name next to those in the text, if it cannot.
pub fn name_fault(name: &str, existing: &str) -> Option<NameFault> {
    let domain = Domain::from_key(name);
    if !Entry::is_name(name)
        || name.len() > Domain::MAX_LENGTH
        || !name.contains(|letter: char| letter.is_ascii_alphanumeric())
    {
        return Some(NameFault::Illegal(name.to_owned()));
    }
    let root = toml::from_str::<toml::Table>(existing).unwrap_or_default();
    let sources = root.get(SOURCES).and_then(Value::as_table);
    for (known, source) in sources.into_iter().flatten() {
        if known == name {
            return Some(NameFault::Taken(name.to_owned()));
        }
        let given = source.get("domain").and_then(Value::as_str);
        if given.map_or_else(|| Domain::from_key(known) == domain, |it| it == domain.as_str()) {
            return Some(NameFault::SameDomain(name.to_owned(), known.clone()));
        }
    }
    None
}

/// The secrets that a source has in plain text, by the names under which they could be kept.
pub fn plain_secrets(source: &NewSource) -> Vec<String> {
    let mut names = Vec::new();
    let mut bare = match &source.connection {
        NewConnection::Mcp(connection) => connection.clone(),
        NewConnection::Api(api) => api.as_server(),
        NewConnection::Database(database) => database.as_server(),
        NewConnection::Builtin(_) | NewConnection::Skills(_) | NewConnection::Knowledge(_) => {
            return names;
        }
    };
    secrecy::take_out(&mut bare, &source.name, |name, _| {
        let reference = SecretStyle::Keyring.reference(&name);
        if !names.contains(&name) {
            names.push(name);
        }
        reference
    });
    if let NewConnection::Mcp(McpConnection::Stdio { command, .. }) = &source.connection
        && names.is_empty()
        && secrecy::has_secret_command(command)
    {
        names.push(secrecy::variable_name(&source.name));
    }
    names
}

/// The text with a new source. Without a text, a new one is started.
pub fn add_source(
    existing: Option<&str>,
    source: &NewSource,
    path: &Path,
) -> Result<String, SetupError> {
    let members = members(source);
    let lines = members.to_string();
    let table: toml::Table =
        members.0.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let inline = Value::Table(table.clone()).to_string();
    let sources = [SOURCES.to_owned()];
    let text = existing.unwrap_or(HEAD);
    let text = add_table(text, &sources, &source.name, &TableText { lines, inline })
        .map_err(|error| edit(path, error))?;
    let written = toml::from_str::<toml::Table>(&text).ok();
    let written = written.as_ref().and_then(|root| root.get(SOURCES)?.get(&source.name));
    if written.and_then(Value::as_table) == Some(&table) {
        return Ok(text);
    }
    let fault = EditError::Unsafe("the new source would read differently".to_owned());
    Err(edit(path, fault))
}

/// The new source as a section of its own.
pub fn section(source: &NewSource) -> String {
    format!("[{SOURCES}.{}]\n{}", toml_key(&source.name), members(source))
}

/// The text without a source and its comments.
pub fn remove_source(text: &str, name: &str, path: &Path) -> Result<Removal, SetupError> {
    let after = remove_table(text, &[SOURCES.to_owned()], name);
    let after = after.map_err(|error| edit(path, error))?;
    let mut unused_secrets = secrets_in(text);
    let used = secrets_in(&after);
    unused_secrets.retain(|name| !used.contains(name));
    unused_secrets.sort();
    unused_secrets.dedup();
    Ok(Removal { text: after, unused_secrets })
}

/// The text with a source switched on or off.
pub fn switch_source(
    text: &str,
    name: &str,
    switch: SourceSwitch,
    path: &Path,
) -> Result<String, SetupError> {
    let table = [SOURCES.to_owned(), name.to_owned()];
    set_switch(text, &table, ENABLED, switch == SourceSwitch::On).map_err(|error| edit(path, error))
}

/// How a source is reached, as the text has it, without anything that may be secret.
pub fn summary_as_written(text: &str, name: &str) -> Option<String> {
    let root = toml::from_str::<toml::Table>(text).ok()?;
    let connection = connection_as_written(root.get(SOURCES)?.get(name)?)?;
    Some(connection.summary())
}

fn edit(path: &Path, error: EditError) -> SetupError {
    SetupError::Uneditable { path: path.to_owned(), error }
}

fn members(source: &NewSource) -> Members {
    let mut members = match &source.connection {
        NewConnection::Mcp(connection) => Members::of(connection),
        NewConnection::Api(api) => api.members(),
        NewConnection::Database(database) => database.members(),
        NewConnection::Builtin(builtin) => builtin.members(),
        NewConnection::Skills(skills) => skills.members(),
        NewConnection::Knowledge(knowledge) => knowledge.members(),
    };
    if let Some(description) = &source.description {
        members.put_description(description);
    }
    members.put_list("allow", &source.allow);
    members.put_list("deny", &source.deny);
    members
}
