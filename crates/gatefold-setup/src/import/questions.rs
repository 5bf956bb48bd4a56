//! The variables that replace clients' questions, beside those of the configuration.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use gatefold::config::ClientServer;
use gatefold::config::kinds::mcp::McpConnection;
use gatefold_core::Secret;

use crate::{FoundFile, variables_in};

/// The variables of questions, in one import.
///
/// What the configuration refers to already may be the answer to a question of another file, so a new
/// server does not get it.
pub(super) struct QuestionNames {
    /// What the configuration refers to.
    existing: HashSet<String>,
    /// What it refers to, and what the clients' files ask for.
    taken: HashSet<String>,
    /// New names, by file and old name.
    renamed: HashMap<(PathBuf, String), String>,
}

impl QuestionNames {
    pub(super) fn new(existing: &str, found: &[FoundFile]) -> Self {
        let existing: HashSet<_> = variables_in(existing).into_iter().collect();
        let servers = found.iter().flat_map(|file| file.servers.iter().flatten());
        let asked = servers.flat_map(|server| server.asked.iter().cloned());
        let taken = existing.iter().cloned().chain(asked).collect();
        Self { existing, taken, renamed: HashMap::new() }
    }

    /// Gives the questions of a new server variables that the configuration does not have.
    pub(super) fn settle(&mut self, server: &mut ClientServer) {
        for asked in &mut server.asked {
            if !self.existing.contains(asked) {
                continue;
            }
            let taken = &mut self.taken;
            let key = (server.origin.file.clone(), asked.clone());
            let name = self.renamed.entry(key).or_insert_with(|| {
                let mut names = (2..).map(|number| format!("{asked}_{number}"));
                let free = names.find(|name| taken.insert(name.clone()));
                free.expect("there are more numbers than questions")
            });
            if let Ok(connection) = &mut server.connection {
                rename(connection, asked, name);
            }
            asked.clone_from(name);
        }
    }
}

fn rename(connection: &mut McpConnection, old: &str, new: &str) {
    let renamed = |text: &str| {
        let text = text.replace(&format!("${{{old}}}"), &format!("${{{new}}}"));
        text.replace(&format!("${{{old}:-"), &format!("${{{new}:-"))
    };
    let pairs = |pairs: &mut Vec<(String, Secret)>| {
        for (_, value) in pairs {
            *value = Secret::new(renamed(value.expose()));
        }
    };
    match connection {
        McpConnection::Stdio { command, args, env, cwd, .. } => {
            *command = renamed(command);
            for arg in args {
                *arg = renamed(arg);
            }
            pairs(env);
            if let Some(text) = cwd.as_deref().and_then(|cwd| cwd.to_str()).map(renamed) {
                *cwd = Some(text.into());
            }
        }
        McpConnection::Http { url, headers } => {
            *url = renamed(url);
            pairs(headers);
        }
    }
}
