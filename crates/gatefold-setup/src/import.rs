//! What an import would do: which servers become sources, under which names, and which do not.

mod identity;
mod keep;
mod naming;
mod questions;

use std::path::{Path, PathBuf};

use gatefold_clients::{Client, Scope};
use gatefold_config::{is_name, references};
use gatefold_secrecy::has_secret;

pub(super) use self::identity::connection_as_written;
pub use self::keep::{FailedImport, ImportFault, keep};
pub(super) use self::naming::secrets_in;

use self::identity::KnownSources;
use self::naming::SecretNames;
use self::questions::QuestionNames;
use super::SetupError;
use super::found::{FoundFile, is_gatefold, listen_in};
use super::secrecy::{self, FoundSecret, SecretStyle};
use gatefold::config::kinds::mcp::McpConnection;
use gatefold::config::{ClientServer, Fault, folder_of};
use gatefold::{Environment, config};

/// What an import would write, and what it leaves out.
#[derive(Debug, Default)]
pub struct ImportPlan {
    pub sources: Vec<PlannedSource>,
    pub skipped: Vec<SkippedServer>,
    /// Secrets that are stored outside the configuration. Their names are unique.
    pub secrets: Vec<FoundSecret>,
    /// What to set `secrets.file` to if there are secrets, unless the configuration already has it.
    pub secrets_file: Option<PathBuf>,
}

/// A server that becomes a source.
#[derive(Debug)]
pub struct PlannedSource {
    /// The source's name in `gatefold.toml`.
    pub key: String,
    pub client: Client,
    pub scope: Scope,
    /// As its client has it, but with references instead of secrets.
    pub server: ClientServer,
    /// Names of the secrets that it refers to.
    pub secrets: Vec<String>,
}

/// A server that does not become a source.
#[derive(Debug)]
pub struct SkippedServer {
    pub client: Client,
    pub scope: Scope,
    pub server: ClientServer,
    pub reason: SkipReason,
}

/// Why a server does not become a source.
#[derive(Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The configuration already has it under this name.
    AlreadyThere(String),
    /// The source of this name refers to something that is not set here, so it may be this server.
    MayBeThere(String),
    /// Another client has it too, and it becomes the source of this name.
    SameAs(String),
    /// It is Gatefold.
    Gatefold,
    /// Gatefold cannot use it.
    Unusable(Box<Fault>),
    /// It belongs to a project, and projects' servers were not asked for.
    Project,
}

/// The `gatefold.toml` that an import writes by default: the user's own.
pub fn user_config_file(environment: &Environment) -> Result<PathBuf, SetupError> {
    config::user_config_file(environment).ok_or(SetupError::NoHome)
}

/// Decides what happens to every server found. `existing` is the text of the configuration that the
/// sources will be added to.
pub fn plan(
    found: &[FoundFile],
    existing: Option<&str>,
    style: SecretStyle,
    environment: &Environment,
) -> ImportPlan {
    let listen = listen_in(existing);
    let existing = existing.unwrap_or_default();
    let mut known = KnownSources::of(existing, environment);
    let mut names = SecretNames::new(style, environment, existing);
    let mut questions = QuestionNames::new(existing, found);
    for server in found.iter().flat_map(|file| file.servers.iter().flatten()) {
        names.note(server);
    }
    let mut plan = ImportPlan::default();
    // The user's own servers come first: a server that a project has too is imported as the user's.
    let of_scope = |scope| found.iter().filter(move |file| file.file.scope == scope);
    for file in of_scope(Scope::User).chain(of_scope(Scope::Project)) {
        let (client, scope) = (file.file.client, file.file.scope);
        for server in file.servers.iter().flatten() {
            let mut server = server.clone();
            settle_folder(&mut server, scope, environment);
            let reason = if is_gatefold(&server, listen) {
                Some(SkipReason::Gatefold)
            } else if let Some(fault) = unusable(&server, scope) {
                Some(SkipReason::Unusable(Box::new(fault)))
            } else {
                known.same(&server)
            };
            if let Some(reason) = reason {
                plan.skipped.push(SkippedServer { client, scope, server, reason });
            } else {
                questions.settle(&mut server);
                plan.sources.push(planned(client, scope, server, &mut known, &mut names));
            }
        }
    }
    plan.secrets = names.into_secrets();
    plan
}

fn planned(
    client: Client,
    scope: Scope,
    mut server: ClientServer,
    known: &mut KnownSources<'_>,
    names: &mut SecretNames<'_>,
) -> PlannedSource {
    let key = known.add(&server, client);
    // A description with a secret is dropped: no program reads it, so a reference would be useless.
    server.description.take_if(|text| has_secret(text));
    let mut secrets = Vec::new();
    let mut keep = |name: String, value: &str| {
        let name = names.keep(name, value, &key);
        let reference = names.style().reference(&name);
        secrets.push(name);
        reference
    };
    if let Ok(connection) = &mut server.connection {
        secrecy::take_out(connection, &key, &mut keep);
    }
    if let Some(secret) = server.sign_in.as_mut().and_then(|own| own.secret.as_mut()) {
        secrecy::take_out_client_secret(secret, &key, &mut keep);
    }
    PlannedSource { key, client, scope, server, secrets }
}

impl ImportPlan {
    /// Keeps the wanted sources and the secrets that they refer to.
    pub fn retain(&mut self, is_wanted: impl Fn(&PlannedSource) -> bool) {
        self.sources.retain(is_wanted);
        self.drop_unused_secrets();
    }

    /// Skips the servers of projects, except those that are asked for by name.
    pub fn leave_projects(&mut self, is_named: impl Fn(&PlannedSource) -> bool) {
        let (wanted, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.sources)
            .into_iter()
            .partition(|one| one.scope == Scope::User || is_named(one));
        self.sources = wanted;
        self.skipped.extend(left.into_iter().map(|one| {
            let PlannedSource { client, scope, server, .. } = one;
            SkippedServer { client, scope, server, reason: SkipReason::Project }
        }));
        self.drop_unused_secrets();
    }

    fn drop_unused_secrets(&mut self) {
        let sources = &self.sources;
        self.secrets.retain(|secret| sources.iter().any(|one| one.secrets.contains(&secret.name)));
    }
}

/// Why a server cannot be imported.
fn unusable(server: &ClientServer, scope: Scope) -> Option<Fault> {
    let fault = |message: &str, hint: String| Fault {
        file: server.origin.file.clone(),
        line: server.origin.line,
        column: 1,
        key: server.name.clone(),
        message: message.to_owned(),
        hint,
    };
    match &server.connection {
        Err(fault) => return Some((**fault).clone()),
        Ok(McpConnection::Stdio { command, .. }) if secrecy::has_secret_command(command) => {
            let hint = "name the program alone there, and put the rest into `args` and `env`";
            return Some(fault("has a secret in `command`", hint.to_owned()));
        }
        _ => {}
    }
    if server.needs_project && scope == Scope::User {
        let hint = "write out a folder, or move the server to a project's file";
        let message = "refers to `${workspaceFolder}`, and no project is open here";
        return Some(fault(message, hint.to_owned()));
    }
    server.env_file_fault()
}

/// Makes the working folder independent of where Gatefold starts. A project's server starts in the
/// project.
fn settle_folder(server: &mut ClientServer, scope: Scope, environment: &Environment) {
    let Ok(McpConnection::Stdio { cwd, .. }) = &mut server.connection else {
        return;
    };
    let file = environment.directory().join(&server.origin.file);
    let base = match scope {
        Scope::Project => environment.directory(),
        Scope::User => folder_of(&file),
    };
    *cwd = match cwd.take().as_deref().and_then(Path::to_str) {
        Some(text) if text.starts_with("${") => Some(text.into()),
        Some(text) => Some(environment.resolve(text, base).components().collect()),
        None => (scope == Scope::Project).then(|| base.to_owned()),
    };
}

/// The variables without a default that a text in Gatefold's notation refers to, in order.
pub fn variables_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // Read line by line, so that a reference left open on one line does not swallow the next.
    for name in text.lines().flat_map(references).filter(|inner| is_name(inner)) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
