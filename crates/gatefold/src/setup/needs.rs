//! Which variables a gateway needs of whoever starts it.

use gatefold_clients::{Client, Machine, config_files};
use toml::Value;

use super::{read, variables_in};
use crate::Environment;
use crate::config::{Connection, Inputs, servers_as_written};

/// What every client gives the programs that it starts.
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

/// The variables that a configuration refers to without a default, in order, without those that
/// every client passes on. Sources that are off need none. What cannot be read refers to none.
pub fn variables_needed(
    inputs: &Inputs,
    machine: &Machine,
    environment: &Environment,
) -> Vec<String> {
    let mut names = Vec::new();
    let mut note = |text: &str| {
        for name in variables_in(text) {
            if !GIVEN.contains(&name.as_str()) && !names.contains(&name) {
                names.push(name);
            }
        }
    };
    if let Some(path) = &inputs.config {
        let text = read(&environment.directory().join(path)).ok().flatten();
        let root = text.and_then(|text| toml::from_str::<toml::Table>(&text).ok());
        strings(&Value::Table(root.unwrap_or_default()), &mut note);
    }
    let files = Client::ALL.iter().flat_map(|client| config_files(machine, *client));
    let mut places: Vec<_> = files.map(|file| file.servers).collect();
    places.sort();
    places.dedup();
    for path in &inputs.mcp_configs {
        let servers = places.iter().filter_map(|at| servers_as_written(path, at, environment).ok());
        for server in servers.flatten().filter(|server| server.is_enabled) {
            of_connection(&server.connection, &mut note);
        }
    }
    names
}

fn strings(value: &Value, note: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => note(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, note)),
        Value::Table(table) if table.get("enabled").and_then(Value::as_bool) == Some(false) => {}
        Value::Table(table) => table.iter().for_each(|(_, value)| strings(value, note)),
        _ => {}
    }
}

fn of_connection(connection: &Connection, note: &mut impl FnMut(&str)) {
    let pairs = match connection {
        Connection::Stdio { command, args, env, cwd, .. } => {
            let cwd = cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
            for text in std::iter::once(command).chain(args).chain(&cwd) {
                note(text);
            }
            env
        }
        Connection::Http { url, headers } => {
            note(url);
            headers
        }
        Connection::Disabled | Connection::Unusable(_) => return,
    };
    for (_, value) in pairs {
        note(value.expose());
    }
}
