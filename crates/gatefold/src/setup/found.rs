//! Which clients are there, and which servers each of them has.

use std::path::Path;

use gatefold_clients::{Client, ConfigFile, Machine, Os, Variables, config_files};

use super::SetupError;
use crate::Environment;
use crate::config::{ClientServer, ConfigError, Connection, servers_as_written};

/// A client's file that exists, and the servers in it.
#[derive(Debug)]
pub struct FoundFile {
    pub file: ConfigFile,
    pub servers: Result<Vec<ClientServer>, ConfigError>,
}

/// What decides where clients keep their files, for this process's user and working directory.
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

/// Reads the files of these clients, in the clients' order. Places with no server at all are left
/// out, files that cannot be read are not.
pub fn find(machine: &Machine, clients: &[Client], environment: &Environment) -> Vec<FoundFile> {
    let mut there: Vec<ConfigFile> = Vec::new();
    for file in clients.iter().flat_map(|client| config_files(machine, *client)) {
        // In the user's home, a project's file and the user's own may be the same.
        let is_new = !there.iter().any(|f| f.path == file.path && f.servers == file.servers);
        if is_new && file.path.exists() {
            there.push(file);
        }
    }
    let read =
        there.into_iter().map(|file| FoundFile { servers: servers_of(&file, environment), file });
    read.filter(|found| !matches!(&found.servers, Ok(servers) if servers.is_empty())).collect()
}

/// The servers of one file, with references to variables left as references.
pub fn servers_of(
    file: &ConfigFile,
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_as_written(&file.path, &file.servers, environment)
}

/// Whether an entry starts this program, wherever it lies, or asks for its address.
pub fn is_gatefold(server: &ClientServer) -> bool {
    match &server.connection {
        Connection::Stdio { command, args, .. } => {
            let program = Path::new(command).file_stem();
            program.is_some_and(|program| program == "gatefold")
                && args.iter().any(|a| a == "stdio")
        }
        Connection::Http { .. } => server.name == "gatefold",
        Connection::Disabled | Connection::Unusable(_) => false,
    }
}
