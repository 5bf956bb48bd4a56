//! What an import would do: which servers become sources, under which names, and which do not.

use std::collections::HashSet;
use std::path::PathBuf;

use gatefold_clients::{Client, Scope};
use gatefold_core::{Domain, Secret};

use super::found::{FoundFile, is_gatefold};
use super::secrecy::{self, FoundSecret};
use super::{SecretStyle, SetupError};
use crate::config::{ClientServer, Connection, Fault};
use crate::{Environment, config};

/// What is to be written, and what is not.
#[derive(Debug, Default)]
pub struct Plan {
    pub sources: Vec<Planned>,
    pub skipped: Vec<Skipped>,
    /// What has to be kept elsewhere. Names are unique.
    pub secrets: Vec<FoundSecret>,
}

/// A server that becomes a source.
#[derive(Debug)]
pub struct Planned {
    /// The source's name in `gatefold.toml`.
    pub key: String,
    pub client: Client,
    pub scope: Scope,
    /// As its client has it, but for the secrets, which are references.
    pub server: ClientServer,
    /// Names of the secrets that it refers to.
    pub secrets: Vec<String>,
}

/// A server that stays where it is.
#[derive(Debug)]
pub struct Skipped {
    pub client: Client,
    pub server: ClientServer,
    pub why: Why,
}

/// Why a server does not become a source.
#[derive(Debug, PartialEq, Eq)]
pub enum Why {
    /// The configuration has it, under this name.
    AlreadyThere(String),
    /// Another client has it too, and it becomes this source.
    SameAs(String),
    /// It is Gatefold.
    Gatefold,
    /// Gatefold cannot use it.
    Unusable(Box<Fault>),
}

/// The `gatefold.toml` that an import writes unless it is told otherwise: the user's own.
pub fn user_config_file(environment: &Environment) -> Result<PathBuf, SetupError> {
    config::user_config_file(environment).ok_or(SetupError::NoHome)
}

/// Decides what becomes of every server found. `existing` is the text of the configuration that
/// the sources are to join.
pub fn plan(
    found: &[FoundFile],
    existing: Option<&str>,
    style: SecretStyle,
    environment: &Environment,
) -> Plan {
    let mut taken = Taken::of(existing);
    let mut plan = Plan::default();
    for file in found {
        for server in file.servers.iter().flatten() {
            let client = file.file.client;
            let mut server = server.clone();
            if file.file.scope == Scope::Project {
                start_in_project(&mut server.connection, environment);
            }
            let why = match &server.connection {
                _ if is_gatefold(&server) => Some(Why::Gatefold),
                Connection::Unusable(fault) => Some(Why::Unusable(fault.clone())),
                connection => match unusable(&server) {
                    Some(fault) => Some(Why::Unusable(Box::new(fault))),
                    None => taken.same(connection),
                },
            };
            match why {
                Some(why) => plan.skipped.push(Skipped { client, server, why }),
                None => plan.add(client, file.file.scope, server, &mut taken, style),
            }
        }
    }
    plan
}

impl Plan {
    fn add(
        &mut self,
        client: Client,
        scope: Scope,
        mut server: ClientServer,
        taken: &mut Taken,
        style: SecretStyle,
    ) {
        let key = taken.free_key(&server.name, client);
        let with_secrets = identity(&server.connection);
        // Nobody needs the secret there, so that there is nothing to refer to.
        server.description.take_if(|text| secrecy::has_secret(text));
        let mut used = Vec::new();
        secrecy::take_out(&mut server.connection, &key, |name, value| {
            let name = self.keep(name, value, &key);
            let reference = style.reference(&name);
            used.push(name);
            reference
        });
        // The configuration's own text has a reference where the client's had the secret.
        if let Some(known) = taken.same(&server.connection) {
            self.retain(|_| true);
            self.skipped.push(Skipped { client, server, why: known });
            return;
        }
        taken.added.push((key.clone(), with_secrets));
        self.sources.push(Planned { key, client, scope, server, secrets: used });
    }

    /// Keeps a secret under a name that no other secret has.
    fn keep(&mut self, name: String, value: &str, key: &str) -> String {
        let longer = format!("{}_{name}", Domain::from_key(key).as_str().to_uppercase());
        let numbered = (2..).map(|n| format!("{longer}_{n}"));
        let mut names = [name, longer.clone()].into_iter().chain(numbered);
        let is_free = |name: &String| {
            let known = self.secrets.iter().find(|secret| secret.name == *name);
            known.is_none_or(|secret| secret.value.expose() == value)
        };
        let name = names.find(is_free).expect("there are more numbers than secrets");
        if !self.secrets.iter().any(|secret| secret.name == name) {
            let value = Secret::new(value.to_owned());
            self.secrets.push(FoundSecret { name: name.clone(), value });
        }
        name
    }

    /// Leaves out every source that is not wanted, and the secrets that nothing else refers to.
    pub fn retain(&mut self, is_wanted: impl Fn(&Planned) -> bool) {
        self.sources.retain(is_wanted);
        let sources = &self.sources;
        self.secrets.retain(|secret| sources.iter().any(|one| one.secrets.contains(&secret.name)));
    }
}

/// Why a server that its client can use cannot be taken over.
fn unusable(server: &ClientServer) -> Option<Fault> {
    let fault = |message: &str, hint: &str| Fault {
        file: server.origin.file.clone(),
        line: server.origin.line,
        column: 1,
        key: server.name.clone(),
        message: message.to_owned(),
        hint: hint.to_owned(),
    };
    match &server.connection {
        Connection::Stdio { command, .. } if secrecy::has_secret_command(command) => Some(fault(
            "has a secret in `command`",
            "name the program alone there, and put the rest into `args` and `env`",
        )),
        _ => None,
    }
}

/// A project's file means paths from the project's directory.
fn start_in_project(connection: &mut Connection, environment: &Environment) {
    if let Connection::Stdio { cwd: cwd @ None, .. } = connection {
        *cwd = Some(environment.directory().to_owned());
    }
}

/// What is in the configuration already, and what has been added to it.
struct Taken {
    existing: Vec<(String, Identity)>,
    added: Vec<(String, Identity)>,
}

/// What makes two servers one: all that says what is reached, and as whom.
type Identity = Vec<String>;

impl Taken {
    fn of(existing: Option<&str>) -> Self {
        let sources = existing.map(written_sources).unwrap_or_default();
        let known = |(key, connection): (String, Connection)| (key, identity(&connection));
        Self { existing: sources.into_iter().map(known).collect(), added: Vec::new() }
    }

    fn same(&self, connection: &Connection) -> Option<Why> {
        let identity = identity(connection);
        let find = |list: &[(String, Identity)]| {
            list.iter().find(|(_, other)| *other == identity).map(|(key, _)| key.clone())
        };
        find(&self.existing).map(Why::AlreadyThere).or_else(|| find(&self.added).map(Why::SameAs))
    }

    /// The server's own name if it gives a domain that no source has, else with the client's.
    fn free_key(&self, name: &str, client: Client) -> String {
        let domains: HashSet<_> =
            self.existing.iter().chain(&self.added).map(|(key, _)| Domain::from_key(key)).collect();
        let with_client = format!("{name}-{}", client.id());
        let numbered = (2..).map(|n| format!("{with_client}-{n}"));
        let mut keys = [name.to_owned(), with_client.clone()].into_iter().chain(numbered);
        let key = keys.find(|key| !domains.contains(&Domain::from_key(key)));
        // A name so long that what tells it apart is cut off takes its number as a domain.
        key.filter(|key| key.len() <= Domain::MAX_LENGTH).unwrap_or_else(|| {
            let domain = Domain::from_key(name);
            let mut free = (1..).map(|n| if n == 1 { domain.clone() } else { domain.numbered(n) });
            let free = free.find(|domain| !domains.contains(domain));
            free.expect("there are more numbers than sources").as_str().to_owned()
        })
    }
}

/// The sources of a configuration's text, their references left as they are. What cannot be read
/// is the same as nothing.
fn written_sources(text: &str) -> Vec<(String, Connection)> {
    let root = toml::from_str::<toml::Table>(text).unwrap_or_default();
    let sources = root.get("sources").and_then(toml::Value::as_table).cloned();
    let sources = sources.unwrap_or_default().into_iter();
    sources.map(|(key, source)| (key, written_connection(&source))).collect()
}

fn written_connection(source: &toml::Value) -> Connection {
    let text = |key: &str| source.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let pairs = |key: &str| {
        let table = source.get(key).and_then(toml::Value::as_table);
        let pair = |(name, value): (&String, &toml::Value)| {
            Some((name.clone(), Secret::new(value.as_str()?)))
        };
        table.into_iter().flatten().filter_map(pair).collect()
    };
    let args = source.get("args").and_then(toml::Value::as_array).into_iter().flatten();
    match (text("command"), text("url")) {
        (Some(command), _) => Connection::Stdio {
            command,
            args: args.filter_map(|arg| Some(arg.as_str()?.to_owned())).collect(),
            env: pairs("env"),
            inherit_env: Vec::new(),
            cwd: text("cwd").map(PathBuf::from),
        },
        (None, Some(url)) => Connection::Http { url, headers: pairs("headers") },
        (None, None) => Connection::Disabled,
    }
}

/// The variables without a default that a text in Gatefold's notation refers to, in order.
pub fn variables_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        let name = reference[2..].split('}').next().unwrap_or_default();
        let is_plain = !before.ends_with('$') && !name.contains(':');
        if is_plain && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        rest = &reference[2..];
    }
    names
}

fn identity(connection: &Connection) -> Identity {
    let pairs = |pairs: &[(String, Secret)]| {
        let mut pairs: Vec<_> =
            pairs.iter().map(|(name, value)| format!("{name}={}", value.expose())).collect();
        pairs.sort();
        pairs
    };
    match connection {
        Connection::Stdio { command, args, env, cwd, .. } => {
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string()).unwrap_or_default();
            let head = [command.clone(), args.len().to_string()];
            head.into_iter().chain(args.iter().cloned()).chain([cwd]).chain(pairs(env)).collect()
        }
        Connection::Http { url, headers } => {
            std::iter::once(url.clone()).chain(pairs(headers)).collect()
        }
        Connection::Disabled => Vec::new(),
        Connection::Unusable(why) => vec![why.on_one_line()],
    }
}
