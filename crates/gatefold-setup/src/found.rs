//! Finds the clients on this machine and the servers that each of them has.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use gatefold::Environment;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{
    ClientServer, ConfigError, DEFAULT_LISTEN, InputVariables, listen_address, servers_as_written,
};
use gatefold_clients::{Client, ConfigFile, Machine, Os, Variables, config_files, read_only_files};

use super::SetupError;
use super::lines::starts_gatefold;

/// The ports of addresses that name none (RFC 9110, sections 4.2.1 and 4.2.2).
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// How many files of one folder are looked at.
const FOLDER_FILES: usize = 1000;

/// A client's file that exists, and the servers in it.
#[derive(Debug)]
pub struct FoundFile {
    pub file: ConfigFile,
    pub servers: Result<Vec<ClientServer>, ConfigError>,
}

/// What determines where clients keep their files, for this process's user and working directory.
pub fn machine(environment: &Environment) -> Result<Machine, SetupError> {
    let os = if cfg!(target_os = "macos") {
        Os::MacOs
    } else if cfg!(windows) {
        Os::Windows
    } else {
        Os::Linux
    };
    let directory = environment.directory();
    Ok(Machine {
        os,
        home: environment.home().ok_or(SetupError::NoHome)?,
        project: directory.canonicalize().unwrap_or_else(|_| directory.to_owned()),
        variables: Variables::read(|name| environment.get(name).map(Into::into)),
    })
}

/// The files of these clients that exist, in the clients' order, each once.
pub fn existing(machine: &Machine, clients: &[Client]) -> Vec<ConfigFile> {
    let mut there: Vec<ConfigFile> = Vec::new();
    let files = clients.iter().flat_map(|client| {
        let read_only = read_only_files(machine, *client, files_in);
        config_files(machine, *client).into_iter().chain(read_only)
    });
    for file in files {
        // In the user's home, a project's file and the user's own may be the same.
        let is_new = !there.iter().any(|f| f.path == file.path && f.servers == file.servers);
        if is_new && file.path.exists() {
            there.push(file);
        }
    }
    there
}

/// The files in a folder, none if it cannot be read.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(FOLDER_FILES);
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// Reads the files of these clients, in the clients' order. Leaves out files without a server, but
/// keeps those that cannot be read, so that a caller can say why.
pub fn find(machine: &Machine, clients: &[Client], environment: &Environment) -> Vec<FoundFile> {
    let mut inputs = InputVariables::default();
    let mut servers =
        |file: &ConfigFile| servers_as_written(&file.path, &file.servers, environment, &mut inputs);
    let read = existing(machine, clients)
        .into_iter()
        .map(|file| FoundFile { servers: servers(&file), file });
    read.filter(|found| !matches!(&found.servers, Ok(servers) if servers.is_empty())).collect()
}

/// The servers of one file, with references to variables left as references.
pub fn servers_of(
    file: &ConfigFile,
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    let inputs = &mut InputVariables::default();
    servers_as_written(&file.path, &file.servers, environment, inputs)
}

/// Whether an entry leads to Gatefold: it starts the program, wherever that is installed and
/// whatever launches it, or its URL is the address that Gatefold listens on, or an equivalent one
/// on this machine. With HTTPS it has the name of a certificate, so then the entry's own name and
/// the port decide.
pub fn is_gatefold(server: &ClientServer, listen: SocketAddr) -> bool {
    match &server.connection {
        Ok(McpConnection::Stdio { command, args, .. }) => starts_gatefold(command, args),
        Ok(McpConnection::Http { url, .. }) => {
            let Ok(url) = url.parse::<http::Uri>() else { return false };
            let Some(port) = port(&url) else { return false };
            let (is_port, is_secured) = (port == listen.port(), is_https(&url));
            let is_named = server.name == "gatefold" && url.path() == "/mcp";
            let is_address = address(&url).is_some_and(|address| address == listen.ip());
            is_port && (is_address || is_secured && is_named)
                || is_loopback(&url) && (is_port || is_named)
        }
        Err(_) => false,
    }
}

/// The address that a configuration's text tells Gatefold to listen on.
pub fn listen_in(text: Option<&str>) -> SocketAddr {
    let root = text.and_then(|text| toml::from_str::<toml::Table>(text).ok()).unwrap_or_default();
    let listen = root.get("server").and_then(|server| server.get("listen"));
    let listen = listen.and_then(toml::Value::as_str).and_then(listen_address);
    listen.unwrap_or(DEFAULT_LISTEN)
}

pub(super) fn is_https(url: &http::Uri) -> bool {
    url.scheme_str() == Some("https")
}

/// The port of an address of HTTP or HTTPS.
pub(super) fn port(url: &http::Uri) -> Option<u16> {
    let usual = match url.scheme_str()? {
        "http" => HTTP_PORT,
        "https" => HTTPS_PORT,
        _ => return None,
    };
    Some(url.port_u16().unwrap_or(usual))
}

pub(super) fn is_loopback(url: &http::Uri) -> bool {
    url.host().is_some_and(|host| host.eq_ignore_ascii_case("localhost"))
        || address(url).is_some_and(|address| address.is_loopback())
}

fn address(url: &http::Uri) -> Option<IpAddr> {
    url.host()?.trim_matches(['[', ']']).parse().ok()
}
