//! The MCP clients on this machine: whether Gatefold is in them, as this program, and alone.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gatefold_clients::{Client, ConfigFile, Format, Machine, Os, Variables, config_files};

use super::configuration::same;
use super::{Finding, Level, Section};
use crate::Environment;
use crate::config::{Config, Connection, Inputs, SourceConfig, load};

const ENTRY: &str = "gatefold";

pub(super) fn look(
    config: &Config,
    program: Option<&Path>,
    environment: &Environment,
) -> Vec<Finding> {
    let Some(home) = environment.home() else {
        return Vec::new();
    };
    let machine = Machine {
        os: if cfg!(target_os = "macos") { Os::MacOs } else { Os::Linux },
        home,
        project: environment.directory().to_owned(),
        variables: Variables::read(|name| environment.get(name).map(Into::into)),
    };
    let files = Client::ALL.into_iter().flat_map(|client| config_files(&machine, client));
    let mut findings = Vec::new();
    // The user's file and the project's are one in the home folder itself.
    let mut seen = HashSet::new();
    for file in files.filter(|file| file.path.is_file()) {
        if !seen.insert(file.path.clone()) {
            continue;
        }
        match servers_of(&file, environment) {
            Ok(servers) => findings.extend(client(&file, &servers, config, program, environment)),
            Err(fault) => findings.push(fault),
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok(Section::Clients, "no MCP client keeps servers on this machine"));
    }
    findings
}

/// The servers of one client's file; a finding where it cannot be read.
///
/// Reads JSON at the places that the configuration knows. TOML, YAML and deeper places are
/// skipped for now.
fn servers_of(file: &ConfigFile, environment: &Environment) -> Result<Vec<SourceConfig>, Finding> {
    if file.format != Format::Json || file.servers.len() > 2 {
        return Ok(Vec::new());
    }
    let inputs = Inputs { config: None, mcp_configs: vec![file.path.clone()] };
    let error = match load(&inputs, environment) {
        Ok(config) => return Ok(config.sources),
        Err(error) => error,
    };
    let fault = |what: String| {
        Finding::new(Section::Clients, Level::Fault, format!("{}: {what}", file.client))
    };
    match error.faults().first() {
        // Without any server, there is nothing to say about it.
        Some(first) if first.message == "names no MCP servers" => Ok(Vec::new()),
        Some(first) => {
            let place = format!("{}:{}:{}", file.path.display(), first.line, first.column);
            let what = format!("its configuration is broken: {}", first.message);
            Err(fault(what).at(place).fix(&first.hint))
        }
        None => {
            let what = "its configuration cannot be read".to_owned();
            Err(fault(what)
                .at(file.path.display())
                .fix(format!("chmod u+r {}", file.path.display())))
        }
    }
}

fn client(
    file: &ConfigFile,
    servers: &[SourceConfig],
    config: &Config,
    program: Option<&Path>,
    environment: &Environment,
) -> Vec<Finding> {
    let found = |level, what: String| {
        Finding::new(Section::Clients, level, format!("{}: {what}", file.client))
            .at(file.path.display())
    };
    let connect = format!("gatefold connect {}", file.client.id());
    let port = config.server.listen.port();
    let (ours, others): (Vec<_>, Vec<_>) = servers.iter().partition(|one| is_ours(one, port));
    let mut findings = Vec::new();
    for entry in &ours {
        let judged = entry_fault(entry, program, environment);
        findings.push(match judged {
            Some((level, what)) => found(level, what).fix(&connect),
            None => found(Level::Ok, "Gatefold is connected".to_owned()),
        });
    }
    if ours.is_empty() && !servers.is_empty() {
        let what = "Gatefold is not in its configuration".to_owned();
        findings.push(found(Level::Note, what).fix(&connect));
    }
    let offered = |one: &&&SourceConfig| {
        config.sources.iter().any(|source| same(&source.connection, &one.connection))
    };
    let held: Vec<_> = others.iter().filter(offered).map(|one| one.origin.key.as_str()).collect();
    if !held.is_empty() && !ours.is_empty() {
        let names = held.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let what = format!("it still holds servers that Gatefold offers as well: {names}");
        findings.push(found(Level::Warning, what).fix(format!("{connect} --take-over")));
    }
    findings
}

/// An entry that starts Gatefold or leads to its port.
fn is_ours(server: &SourceConfig, port: u16) -> bool {
    match &server.connection {
        // Gatefold has small servers of its own, which are no gateway.
        Connection::Stdio { command, args, .. } => {
            Path::new(command).file_stem().is_some_and(|stem| stem == ENTRY)
                && (server.origin.key == ENTRY || args.iter().any(|arg| arg == "stdio"))
        }
        Connection::Http { url, .. } => url.parse::<http::Uri>().is_ok_and(|uri| {
            let is_local = matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"));
            is_local && uri.port_u16() == Some(port) && uri.path() == "/mcp"
        }),
        Connection::Disabled | Connection::Unusable(_) => server.origin.key == ENTRY,
    }
}

/// What is wrong with an entry that starts Gatefold.
fn entry_fault(
    entry: &SourceConfig,
    program: Option<&Path>,
    environment: &Environment,
) -> Option<(Level, String)> {
    let (command, args) = match &entry.connection {
        Connection::Stdio { command, args, .. } => (command, args),
        Connection::Disabled => {
            return Some((Level::Note, "its entry for Gatefold is disabled".to_owned()));
        }
        Connection::Unusable(why) => return Some((Level::Fault, why.on_one_line())),
        Connection::Http { .. } => return None,
    };
    let path = environment.get("PATH").unwrap_or_default();
    let Ok(found) = which::which_in(command, Some(path), environment.directory()) else {
        let what = format!("its entry starts `{command}`, which is not there");
        return Some((Level::Fault, what));
    };
    let config = args.iter().position(|arg| arg == "--config").and_then(|at| args.get(at + 1));
    let file = config.map(|path| environment.directory().join(path));
    if let Some(file) = file.filter(|file| !file.is_file()) {
        let what = format!("its entry names `{}`, which does not exist", file.display());
        return Some((Level::Fault, what));
    }
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    if program.is_some_and(|program| real(program) != real(&found)) {
        let what = format!("its entry starts another Gatefold: `{}`", found.display());
        return Some((Level::Warning, what));
    }
    None
}
