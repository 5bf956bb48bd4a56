//! The MCP clients on this machine: whether Gatefold is in them, as this program, and alone.
//!
//! What a client's entry is, is judged as `connect` and `import` judge it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gatefold_clients::{Client, ConfigFile, Scope};

use super::{Finding, Level, Section};
use crate::Environment;
use crate::config::{ClientServer, Config, ConfigError, Connection, Inputs};
use crate::setup::{self, FoundFile, Needs};
use crate::shell;

/// What the clients' entries are held against.
pub(super) struct Known<'a> {
    pub(super) config: &'a Config,
    pub(super) inputs: &'a Inputs,
    /// The options that chose it, for commands that are to use the same one.
    pub(super) options: String,
    /// This program.
    pub(super) program: Option<&'a Path>,
    /// Whether a gateway listens on the configured address.
    pub(super) is_running: bool,
    pub(super) environment: &'a Environment,
}

impl Known<'_> {
    fn is_gatefold(&self, server: &ClientServer) -> bool {
        setup::is_gatefold(server, self.config.server.listen)
    }

    /// What Gatefold would lack when this client starts it.
    fn unmet(&self, client: Client) -> Needs {
        let inputs = self.inputs.clone().located(self.environment);
        match (setup::machine(self.environment), inputs) {
            (Ok(machine), Ok(inputs)) if !client.refers_to_variables() => {
                setup::needs(&inputs, &machine, self.environment)
            }
            _ => Needs::default(),
        }
    }
}

pub(super) fn look(known: &Known<'_>) -> Vec<Finding> {
    let Ok(machine) = setup::machine(known.environment) else {
        return Vec::new();
    };
    let files = setup::find(&machine, &Client::ALL, known.environment);
    let connected: Vec<_> = files.iter().filter(|file| is_connected(file, known)).collect();
    let is_connected = |client| connected.iter().any(|found| found.file.client == client);
    let look = |found: &FoundFile| client(found, is_connected(found.file.client), known);
    let mut findings: Vec<_> = files.iter().flat_map(look).collect();
    if findings.is_empty() {
        findings.push(Finding::ok(Section::Clients, "no MCP client keeps servers on this machine"));
    }
    findings
}

fn is_connected(found: &FoundFile, known: &Known<'_>) -> bool {
    found.servers.as_ref().is_ok_and(|servers| servers.iter().any(|one| known.is_gatefold(one)))
}

/// What is to be said about one file of a client, which has Gatefold there or in another one.
fn client(found: &FoundFile, is_connected: bool, known: &Known<'_>) -> Vec<Finding> {
    let file = &found.file;
    let servers = match &found.servers {
        Ok(servers) => servers,
        Err(error) => return vec![unreadable(file, error)],
    };
    if !is_connected {
        let what = "Gatefold is not in its configuration";
        return vec![finding(file, Level::Note, what).fix(connect(file, known))];
    }
    let ours = servers.iter().filter(|server| known.is_gatefold(server));
    let mut findings: Vec<_> = ours.map(|entry| judged(file, entry, known)).collect();
    // A file that was read a moment ago can be read.
    let unmet = known.unmet(file.client);
    let held = setup::held(file, known.config, &unmet, known.environment).unwrap_or_default();
    if !held.names.is_empty() {
        let names =
            held.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let what = format!("it still holds servers that Gatefold offers as well: {names}");
        findings.push(finding(file, Level::Warning, what).fix(connect(file, known)));
    }
    findings
}

fn finding(file: &ConfigFile, level: Level, what: impl std::fmt::Display) -> Finding {
    Finding::new(Section::Clients, level, format!("{}: {what}", file.client))
        .at(file.path.display())
}

/// The command that puts Gatefold into this file as it should be, and what it offers out of it.
fn connect(file: &ConfigFile, known: &Known<'_>) -> String {
    let project = if file.scope == Scope::Project { " --project" } else { "" };
    format!("gatefold connect {}{project}{}", file.client.id(), known.options)
}

fn unreadable(file: &ConfigFile, error: &ConfigError) -> Finding {
    let fault = |what: String| finding(file, Level::Fault, what);
    if let Some(first) = error.faults().first() {
        let place = format!("{}:{}:{}", file.path.display(), first.line, first.column);
        let what = format!("its configuration is broken: {}", first.message);
        return fault(what).at(place).fix(&first.hint);
    }
    let text = error.to_string();
    let (what, help) = text.split_once("\n  help: ").unwrap_or((&text, ""));
    let named = format!("{}: ", file.path.display());
    let why = what.strip_prefix(&named).unwrap_or(what);
    let is_forbidden =
        matches!(error, ConfigError::Unreadable { error, .. } if is_forbidden(error));
    let chmod = format!("chmod u+r {}", shell::quoted(&file.path));
    let fix = if is_forbidden || help.is_empty() { chmod } else { help.to_owned() };
    fault(format!("its configuration {why}")).fix(fix)
}

fn is_forbidden(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// What is to be said about an entry for Gatefold.
fn judged(file: &ConfigFile, entry: &ClientServer, known: &Known<'_>) -> Finding {
    if !entry.is_enabled {
        let what = "its entry for Gatefold is disabled";
        let fix = format!("enable `{}` in {}", entry.name, file.client);
        return finding(file, Level::Note, what).fix(fix);
    }
    match &entry.connection {
        Connection::Stdio { command, args, .. } => program(file, command, args, known),
        Connection::Http { url, .. } => address(file, url, known),
        // No entry of ours is any of these.
        Connection::Disabled | Connection::Unusable(_) => {
            finding(file, Level::Note, "its entry for Gatefold is of no use")
                .fix(connect(file, known))
        }
    }
}

/// An entry that starts a program.
fn program(file: &ConfigFile, command: &str, args: &[String], known: &Known<'_>) -> Finding {
    let environment = known.environment;
    let is_reference = command.contains("${");
    let path = environment.get("PATH").unwrap_or_default();
    let found = which::which_in(command, Some(path), environment.directory());
    let found = match found {
        _ if is_reference => return finding(file, Level::Ok, "Gatefold is connected"),
        Ok(found) => found,
        Err(_) => {
            let what = format!("its entry starts `{command}`, which is not there");
            return finding(file, Level::Fault, what).fix(connect(file, known));
        }
    };
    let config = args.iter().position(|arg| arg == "--config").and_then(|at| args.get(at + 1));
    let chosen = config.filter(|path| !path.contains("${"));
    let chosen = chosen.map(|path| environment.directory().join(path));
    if let Some(missing) = chosen.filter(|path| !path.is_file()) {
        let what = format!("its entry names `{}`, which does not exist", missing.display());
        return finding(file, Level::Fault, what).fix(connect(file, known));
    }
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    if known.program.is_some_and(|program| real(program) != real(&found)) {
        let what = format!("its entry starts another Gatefold: `{}`", found.display());
        return finding(file, Level::Warning, what).fix(connect(file, known));
    }
    finding(file, Level::Ok, "Gatefold is connected")
}

/// An entry that asks a gateway which has to run already.
fn address(file: &ConfigFile, url: &str, known: &Known<'_>) -> Finding {
    let listen = known.config.server.listen;
    let uri = url.parse::<http::Uri>().unwrap_or_default();
    let is_local = matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"));
    if !is_local {
        return finding(file, Level::Ok, "Gatefold is connected, on another machine");
    }
    if uri.port_u16() != Some(listen.port()) {
        let what = format!("its entry leads to `{url}`, and `listen` in `[server]` is `{listen}`");
        return finding(file, Level::Warning, what).fix(format!("{} --http", connect(file, known)));
    }
    if !known.is_running {
        let what = format!("its entry leads to `{url}`, where no gateway runs");
        return finding(file, Level::Warning, what).fix(format!("gatefold serve{}", known.options));
    }
    finding(file, Level::Ok, "Gatefold is connected, over HTTP")
}
