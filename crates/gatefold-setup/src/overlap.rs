//! Which of a client's servers Gatefold serves as well, so that the client need not start them
//! itself, and why the others stay.

mod reach;
mod reason;

use std::path::Path;

use gatefold::Environment;
use gatefold::config::kinds::{KindSection, Need};
use gatefold::config::{
    ClientServer, Config, ConfigError, SourceConfig, SourceSection, servers_put_in,
};
use gatefold_clients::{ConfigFile, Scope};

pub use self::reach::{SourceReach, source_reach};
pub use self::reason::KeepReason;

use super::{RequiredVariables, is_gatefold};
use crate::programs;

/// The servers of a client's file, without Gatefold itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerOverlap {
    /// Gatefold reached the same server as it is configured now: every key is the same, and so is
    /// the user. These can be removed.
    pub names: Vec<String>,
    /// All others, in file order.
    pub kept: Vec<KeptServer>,
}

/// A server that stays in its client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptServer {
    pub name: String,
    pub reason: KeepReason,
}

/// What a client's servers are compared with.
#[derive(Debug, Clone, Copy)]
pub struct ServedSources<'a> {
    pub config: &'a Config,
    /// What Gatefold would lack if this client started it.
    pub unmet: &'a RequiredVariables,
    pub reach: &'a SourceReach,
    pub environment: &'a Environment,
}

/// Finds the servers that a client no longer needs because Gatefold has them. Both sides are
/// compared with their variables resolved. A source that is off or cannot be used matches nothing.
pub fn overlap(
    file: &ConfigFile,
    served: &ServedSources<'_>,
) -> Result<ServerOverlap, ConfigError> {
    let mut overlap = ServerOverlap::default();
    if !file.path.exists() {
        return Ok(overlap);
    }
    let servers = servers_put_in(&file.path, &file.servers, served.environment)?;
    let listen = served.config.server.listen;
    for server in servers.into_iter().filter(|server| !is_gatefold(server, listen)) {
        match served.reason_to_keep(&server, file) {
            Some(reason) => overlap.kept.push(KeptServer { name: server.name, reason }),
            None => overlap.names.push(server.name),
        }
    }
    Ok(overlap)
}

impl ServedSources<'_> {
    fn reason_to_keep(&self, server: &ClientServer, file: &ConfigFile) -> Option<KeepReason> {
        // Without the client's entry, Gatefold would start what somebody switched off.
        if !server.is_enabled {
            return Some(KeepReason::SwitchedOff);
        }
        let wanted = match &server.connection {
            Ok(connection) => connection.reach_from(own_folder(file, self.environment)),
            Err(fault) => return Some(KeepReason::Unusable(fault.message.clone())),
        };
        if let Some(path) = &server.env_file {
            return Some(KeepReason::EnvFile(path.clone()));
        }
        // The reference was replaced by the folder of this moment; the client has a different one
        // in each project.
        if server.needs_project && file.scope == Scope::User {
            return Some(KeepReason::ProjectFolder);
        }
        let sources = &self.config.sources;
        let is_same = |source: &&SourceConfig| {
            source.section.usable().map(KindSection::reach) == Some(wanted)
        };
        // Several sources may reach the same server: one that stands for it in everything is enough,
        // and otherwise the one of its name says best what is missing.
        let is_namesake = |source: &&SourceConfig| source.origin.key == server.name;
        let mut same: Vec<_> = sources.iter().filter(is_same).collect();
        same.sort_by_key(|source| !is_namesake(source));
        let reasons = same
            .iter()
            .map(|source| self.difference(server, source).or_else(|| self.obstacle(source)));
        let reasons: Vec<_> = reasons.collect();
        if let Some(first) = reasons.first() {
            return if reasons.contains(&None) { None } else { first.clone() };
        }
        let namesake = sources.iter().find(is_namesake);
        Some(namesake.map_or(KeepReason::NotServed, |source| match source.section {
            SourceSection::Disabled => KeepReason::SourceOff,
            SourceSection::Unusable(_) => KeepReason::SourceUnusable,
            SourceSection::Usable(_) => KeepReason::Different,
        }))
    }

    /// How a server and the source that reaches it differ.
    fn difference(&self, server: &ClientServer, source: &SourceConfig) -> Option<KeepReason> {
        let known = server.left_behind.iter().map(|&key| key.to_owned());
        let mut keys: Vec<_> = known.chain(server.unknown.iter().cloned()).collect();
        if server.sign_in.as_ref().is_some_and(|own| !own.is_of(source)) {
            keys.push("oauth".to_owned());
        }
        if !keys.is_empty() {
            return Some(KeepReason::OtherKeys(keys));
        }
        (!self.config.limits_as(source, server)).then_some(KeepReason::OtherTools)
    }

    /// Why Gatefold may not be able to serve a source.
    fn obstacle(&self, source: &SourceConfig) -> Option<KeepReason> {
        if !can_start(source, self.environment) {
            Some(KeepReason::MissingProgram)
        } else if self.unmet.sources.contains(&source.origin.key) {
            Some(KeepReason::NeedsVariables)
        } else {
            self.reach.obstacle(&source.domain)
        }
    }
}

/// Where a client starts the servers of a file that does not say, if that is known.
fn own_folder<'e>(file: &ConfigFile, environment: &'e Environment) -> Option<&'e Path> {
    (file.scope == Scope::Project).then(|| environment.directory())
}

fn can_start(source: &SourceConfig, environment: &Environment) -> bool {
    let program = source.section.need().and_then(Need::program);
    program.is_none_or(|program| programs::found(&program, environment).is_some())
}
