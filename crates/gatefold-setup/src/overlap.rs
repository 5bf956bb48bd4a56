//! Which servers of a client Gatefold offers as well, so that the client need not start them
//! itself.

use std::path::Path;

use gatefold::Environment;
use gatefold::config::kinds::{KindSection, Need, ServerNeed};
use gatefold::config::{ClientServer, Config, ConfigError, SourceConfig, servers_put_in};
use gatefold_clients::{ConfigFile, Scope};
use gatefold_core::{Digest, Domain};

use super::{RequiredVariables, found};
use crate::programs;

/// The servers of a client's file that are sources of the configuration as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerOverlap {
    /// Gatefold reaches the same server as the same user and with the same settings. These can go.
    pub names: Vec<String>,
    /// The same server, but Gatefold cannot start it: the program is not there.
    pub missing_program: Vec<String>,
    /// The same server, but Gatefold needs variables for it that this client does not hand on.
    pub needs_variables: Vec<String>,
    /// The same server, but Gatefold has no credentials for it and has never reached it: the client
    /// may have signed in to it by itself.
    pub never_reached: Vec<String>,
    /// A source has the same name, but is off, cannot be used or reaches something else.
    pub unlike_source: Vec<String>,
}

/// Finds the servers that a client no longer needs because Gatefold has them. Both sides are
/// compared with the values of their variables. A source that is off or cannot be used matches
/// nothing.
///
/// `unmet` is what Gatefold would lack when this client starts it, `reached` the sources whose tools
/// are known.
pub fn overlap(
    file: &ConfigFile,
    config: &Config,
    unmet: &RequiredVariables,
    reached: &[Domain],
    environment: &Environment,
) -> Result<ServerOverlap, ConfigError> {
    let mut overlap = ServerOverlap::default();
    if !file.path.exists() {
        return Ok(overlap);
    }
    let servers = servers_put_in(&file.path, &file.servers, environment)?;
    // A server that is switched off stays: without its entry Gatefold would start what somebody
    // switched off.
    for server in servers.into_iter().filter(|server| server.is_enabled) {
        let wanted = reach(&server, own_folder(file, environment));
        let is_same = |source: &&SourceConfig| {
            wanted.is_some() && source.section.usable().map(KindSection::reach) == wanted
        };
        let is_namesake = |source: &SourceConfig| source.origin.key == server.name;
        match config.sources.iter().find(is_same) {
            Some(source) if !can_start(source, environment) => {
                overlap.missing_program.push(server.name);
            }
            Some(source) if unmet.sources.contains(&source.origin.key) => {
                overlap.needs_variables.push(server.name);
            }
            Some(source) if has_no_credentials(source) && !reached.contains(&source.domain) => {
                overlap.never_reached.push(server.name);
            }
            Some(_) => overlap.names.push(server.name),
            None if config.sources.iter().any(is_namesake) => {
                overlap.unlike_source.push(server.name);
            }
            None => {}
        }
    }
    Ok(overlap)
}

/// Whether requests to a server carry nothing that could sign anybody in.
fn has_no_credentials(source: &SourceConfig) -> bool {
    source.section.need().and_then(Need::server).is_some_and(|ServerNeed { url, headers }| {
        headers.is_empty() && !url.contains(['?', '@']) && !is_loopback(url)
    })
}

fn is_loopback(url: &str) -> bool {
    url.parse().is_ok_and(|url| found::is_loopback(&url))
}

/// Where a client starts the servers of a file that says nothing about it, as far as that is known.
fn own_folder<'e>(file: &ConfigFile, environment: &'e Environment) -> Option<&'e Path> {
    (file.scope == Scope::Project).then(|| environment.directory())
}

/// What a client's server reaches, in the way a source's section says it.
fn reach(server: &ClientServer, folder: Option<&Path>) -> Option<Digest> {
    server.connection.as_ref().ok().map(|connection| connection.reach_from(folder))
}

fn can_start(source: &SourceConfig, environment: &Environment) -> bool {
    let program = source.section.need().and_then(Need::program);
    program.is_none_or(|program| programs::found(&program, environment).is_some())
}
