//! The MCP clients on this machine: whether they have Gatefold, whether as this program, and
//! whether they have nothing else.
//!
//! Recognizes entries in the same way as `connect` and `import`, so that the three agree.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::kinds::{KindSection as _, Need};
use gatefold::config::{ClientServer, Config, ConfigError, Inputs, ServerConfig};
use gatefold_clients::{Client, ConfigFile, Scope};

use super::{Finding, Level, Section};
use crate::found::{is_https, port};
use crate::{
    FoundFile, KeptServer, RequiredVariables, ServedSources, ServerOverlap, SourceReach, programs,
    shell,
};

/// What is known of the gateway that clients' entries should lead to.
pub(super) struct GatewayFacts<'a> {
    pub(super) config: &'a Config,
    pub(super) inputs: &'a Inputs,
    /// The options that chose it, so that other commands use the same one.
    pub(super) options: String,
    /// This program.
    pub(super) program: Option<&'a Path>,
    /// Whether a gateway listens on the configured address.
    pub(super) is_running: bool,
    /// Which sources were reached.
    pub(super) reach: &'a SourceReach,
    pub(super) environment: &'a Environment,
}

impl GatewayFacts<'_> {
    fn is_gatefold(&self, server: &ClientServer) -> bool {
        crate::is_gatefold(server, self.config.server.listen)
    }

    /// What Gatefold would lack if this client started it.
    fn unmet(&self, client: Client) -> RequiredVariables {
        match self.inputs.clone().located(self.environment) {
            Ok(inputs) if !client.refers_to_variables() => {
                crate::required_variables(&inputs, self.environment)
            }
            _ => RequiredVariables::default(),
        }
    }
}

pub(super) fn look(known: &GatewayFacts<'_>) -> Vec<Finding> {
    let Ok(machine) = crate::machine(known.environment) else {
        return Vec::new();
    };
    let files = crate::find(&machine, &Client::ALL, known.environment);
    let connected: Vec<_> = files.iter().filter(|file| is_connected(file, known)).collect();
    let is_connected = |client| connected.iter().any(|found| found.file.client == client);
    let look = |found: &FoundFile| client(found, is_connected(found.file.client), known);
    let mut findings: Vec<_> = files.iter().flat_map(look).collect();
    if findings.is_empty() {
        findings.push(Finding::ok(Section::Clients, "no MCP client on this machine has servers"));
    }
    findings
}

fn is_connected(found: &FoundFile, known: &GatewayFacts<'_>) -> bool {
    found.servers.as_ref().is_ok_and(|servers| servers.iter().any(|one| known.is_gatefold(one)))
}

/// The findings about one file of a client. Gatefold may be in another file of the same client.
fn client(found: &FoundFile, is_connected: bool, known: &GatewayFacts<'_>) -> Vec<Finding> {
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
    // Only a client that starts Gatefold hands variables on; a gateway that runs already has its
    // own.
    let is_started = |one: &ClientServer| matches!(one.connection, Ok(McpConnection::Stdio { .. }));
    let starts = servers.iter().any(|one| known.is_gatefold(one) && is_started(one));
    let unmet = if starts { known.unmet(file.client) } else { RequiredVariables::default() };
    let served = ServedSources {
        config: known.config,
        unmet: &unmet,
        reach: known.reach,
        environment: known.environment,
    };
    // Reading the file just worked, so a failure now is not worth a finding.
    let overlap = crate::overlap(file, &served).unwrap_or_default();
    if !overlap.names.is_empty() {
        let names = listed(&overlap.names);
        let what = format!("it still starts servers that Gatefold serves too: {names}");
        // `connect` edits the file that has the entry.
        let fix = if servers.iter().any(|one| known.is_gatefold(one)) {
            connect(file, known)
        } else {
            "remove them from this file: Gatefold's entry is in another file of this client"
                .to_owned()
        };
        findings.push(finding(file, Level::Warning, what).fix(fix));
    }
    findings.extend(left_in(file, &overlap, known));
    findings
}

/// Servers that stay in a client's file although Gatefold should have them.
fn left_in(file: &ConfigFile, overlap: &ServerOverlap, known: &GatewayFacts<'_>) -> Vec<Finding> {
    let again = connect(file, known);
    let note = |kept: &KeptServer| {
        let cure = kept.reason.cure()?;
        let what = format!("`{}` stays in its file: {}", kept.name, kept.reason);
        Some(finding(file, Level::Note, what).fix(format!("{cure}, then: {again}")))
    };
    overlap.kept.iter().filter_map(note).collect()
}

fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn finding(file: &ConfigFile, level: Level, what: impl std::fmt::Display) -> Finding {
    Finding::new(Section::Clients, level, format!("{}: {what}", file.client))
        .at(file.path.display())
}

/// The command that corrects Gatefold's entry in this file and takes out the servers that Gatefold
/// offers.
fn connect(file: &ConfigFile, known: &GatewayFacts<'_>) -> String {
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

/// The finding about an entry for Gatefold.
fn judged(file: &ConfigFile, entry: &ClientServer, known: &GatewayFacts<'_>) -> Finding {
    if !entry.is_enabled {
        let what = "its entry for Gatefold is disabled";
        let fix = format!("enable `{}` in {}", entry.name, file.client);
        return finding(file, Level::Note, what).fix(fix);
    }
    match &entry.connection {
        Ok(connection @ McpConnection::Stdio { command, args, .. }) => {
            let need = connection.need().and_then(Need::program);
            let found = need.and_then(|need| programs::found(&need, known.environment));
            program(file, command, args, found, known)
        }
        Ok(McpConnection::Http { url, .. }) => address(file, url, known),
        // One of our entries is usable, or it would not have been recognized.
        Err(_) => finding(file, Level::Note, "its entry for Gatefold cannot be used")
            .fix(connect(file, known)),
    }
}

/// Judges an entry that starts a program.
fn program(
    file: &ConfigFile,
    command: &str,
    args: &[String],
    found: Option<PathBuf>,
    known: &GatewayFacts<'_>,
) -> Finding {
    let environment = known.environment;
    if command.contains("${") {
        return finding(file, Level::Ok, "Gatefold is connected");
    }
    let Some(found) = found else {
        let what = format!("its entry starts `{command}`, which does not exist");
        return finding(file, Level::Fault, what).fix(connect(file, known));
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

/// Judges an entry with an address, whose gateway has to run already.
fn address(file: &ConfigFile, url: &str, known: &GatewayFacts<'_>) -> Finding {
    let server = &known.config.server;
    let again = || format!("{} --http", connect(file, known));
    if !leads_to(url, server) {
        let listen = server.listen;
        let what = format!("its entry leads to `{url}`, but `listen` in `[server]` is `{listen}`");
        return finding(file, Level::Warning, what).fix(again());
    }
    let is_secured = url.parse().is_ok_and(|url| is_https(&url));
    if is_secured != server.tls.is_some() {
        let spoken = if is_secured { "HTTP: `server.tls` is not set" } else { "HTTPS" };
        let what = format!("its entry leads to `{url}`, but Gatefold speaks {spoken}");
        return finding(file, Level::Warning, what).fix(again());
    }
    if !known.is_running {
        let what = format!("its entry leads to `{url}`, where no gateway is running");
        return finding(file, Level::Warning, what).fix(format!("gatefold serve{}", known.options));
    }
    finding(file, Level::Ok, "Gatefold is connected, over HTTP")
}

/// Whether a URL's address is one that a gateway listens on, or a name that it answers to.
fn leads_to(url: &str, server: &ServerConfig) -> bool {
    let listen = server.listen;
    let uri = url.parse::<http::Uri>().unwrap_or_default();
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let is_name = |allowed: &String| {
        let allowed = allowed.parse::<http::uri::Authority>();
        allowed.is_ok_and(|allowed| allowed.host().eq_ignore_ascii_case(host))
    };
    let is_there = if let Ok(address) = host.parse::<IpAddr>() {
        address == listen.ip()
    } else {
        let public = server.public_url.as_ref().and_then(|url| url.url().host_str());
        host.eq_ignore_ascii_case("localhost") && listen.ip().is_loopback()
            || is_https(&uri) && (public == Some(host) || server.allowed_hosts.iter().any(is_name))
    };
    port(&uri) == Some(listen.port()) && (is_there || listen.ip().is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_leads_to_an_address_that_is_listened_on() {
        for (url, listen, expected) in [
            ("http://127.0.0.1:8420/mcp", "127.0.0.1:8420", true),
            ("http://localhost:8420/mcp", "127.0.0.1:8420", true),
            ("http://[::1]:8420/mcp", "[::1]:8420", true),
            ("http://localhost/mcp", "127.0.0.1:80", true),
            ("http://127.0.0.1:8421/mcp", "127.0.0.1:8420", false),
            ("http://192.0.2.7:8420/mcp", "192.0.2.7:8420", true),
            ("http://127.0.0.1:8420/mcp", "192.0.2.7:8420", false),
            ("http://127.0.0.1:8420/mcp", "0.0.0.0:8420", true),
            ("http://192.0.2.7:8420/mcp", "0.0.0.0:8420", true),
            ("https://tools.example:8420/mcp", "192.0.2.7:8420", true),
            ("https://tools.example/mcp", "192.0.2.7:443", true),
            ("https://tools.example/mcp", "192.0.2.7:8420", false),
            ("https://another.example:8420/mcp", "192.0.2.7:8420", false),
        ] {
            let listen = listen.parse().unwrap();
            let allowed_hosts = vec!["tools.example".to_owned()];
            let server = ServerConfig { listen, allowed_hosts, ..ServerConfig::default() };
            assert_eq!(leads_to(url, &server), expected, "{url} {listen}");
        }
    }
}
