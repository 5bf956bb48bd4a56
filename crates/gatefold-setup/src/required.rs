//! Which variables a gateway must be started with.

use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{InputVariables, Inputs, all_servers_as_written};
use toml::Value;

use super::{read, variables_in};

/// What every client gives the programs that it starts: the default environment of servers over
/// stdio in the official SDKs, `DEFAULT_INHERITED_ENV_VARS` of the one for TypeScript
/// (`client/stdio.ts`) and of the one for Python (`client/stdio`), on Unix and on Windows.
const GIVEN: &[&str] = &[
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "USER",
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

/// The variables that a configuration needs, and the sources that need them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequiredVariables {
    /// Variables that are referred to without a default, in order. Those that every client passes
    /// on are left out.
    pub names: Vec<String>,
    /// The keys of the sources that refer to one of them.
    pub sources: Vec<String>,
}

impl RequiredVariables {
    /// Adds the variables in a text, which belongs to a source or to none.
    fn note(&mut self, source: Option<&str>, text: &str) {
        for name in variables_in(text) {
            if GIVEN.contains(&name.as_str()) {
                continue;
            }
            if !self.names.contains(&name) {
                self.names.push(name);
            }
            if let Some(key) = source.filter(|key| !self.sources.iter().any(|one| one == key)) {
                self.sources.push(key.to_owned());
            }
        }
    }
}

/// The variables that a configuration needs. Sources that are off need none, and a file that cannot
/// be read counts as empty.
pub fn required_variables(inputs: &Inputs, environment: &Environment) -> RequiredVariables {
    let mut required = RequiredVariables::default();
    if let Some(path) = &inputs.config {
        let text = read(&environment.directory().join(path)).ok().flatten();
        let root = text.and_then(|text| toml::from_str::<toml::Table>(&text).ok());
        of_table(&root.unwrap_or_default(), &mut required);
    }
    // The same variables, in the same order, as where the configuration is read.
    let variables = &mut InputVariables::default();
    for path in &inputs.mcp_configs {
        let servers = all_servers_as_written(path, environment, variables).unwrap_or_default();
        for server in servers.iter().filter(|server| server.is_enabled) {
            for text in server.connection.iter().flat_map(McpConnection::texts) {
                required.note(Some(&server.name), text);
            }
        }
    }
    required
}

fn of_table(root: &toml::Table, required: &mut RequiredVariables) {
    for (name, section) in root {
        match section {
            Value::Table(sources) if name == "sources" => {
                for (key, source) in sources {
                    strings(source, &mut |text| required.note(Some(key), text));
                }
            }
            section => strings(section, &mut |text| required.note(None, text)),
        }
    }
}

fn strings(value: &Value, note: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => note(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, note)),
        Value::Table(table) if table.get("enabled").and_then(Value::as_bool) == Some(false) => {}
        Value::Table(table) => table.iter().for_each(|(_, value)| strings(value, note)),
        _ => {}
    }
}
