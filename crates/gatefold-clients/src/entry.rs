//! The entry that goes into a client's file, in the form that the client documents.

use crate::text::quoted;
use crate::{Client, ConfigFile, EditError, Format};

/// The longest name of an entry, in bytes.
const NAME_BYTES: usize = 64;

/// A server as a client should know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub launch: Launch,
}

/// How a client reaches a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launch {
    /// The client starts the server and speaks over its standard streams.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables of the client's own environment that the server needs. They are left out where
        /// the client cannot refer to variables, see [`Client::refers_to_variables`].
        variables: Vec<String>,
    },
    /// The server listens and speaks Streamable HTTP.
    Http { url: String },
}

/// A value of an entry, independent of the file's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Flag(bool),
    Number(u32),
    List(Vec<String>),
    Table(Vec<(String, Value)>),
}

/// How a format writes a value on one line.
pub(crate) struct Notation {
    pub key: fn(&str) -> String,
    pub colon: &'static str,
    pub comma: &'static str,
    /// Inside braces.
    pub pad: &'static str,
}

impl Notation {
    pub(crate) fn pair(&self, key: &str, value: &Value) -> String {
        format!("{}{}{}", (self.key)(key), self.colon, self.line(value))
    }

    pub(crate) fn line(&self, value: &Value) -> String {
        let joined = |items: Vec<String>| items.join(self.comma);
        match value {
            Value::Text(text) => quoted(text),
            Value::Flag(flag) => flag.to_string(),
            Value::Number(number) => number.to_string(),
            Value::List(items) => {
                format!("[{}]", joined(items.iter().map(|it| quoted(it)).collect()))
            }
            Value::Table(members) if members.is_empty() => "{}".to_owned(),
            Value::Table(members) => {
                let members = members.iter().map(|(key, value)| self.pair(key, value)).collect();
                format!("{{{pad}{}{pad}}}", joined(members), pad = self.pad)
            }
        }
    }
}

impl Entry {
    /// Whether every client accepts this as the name of a server.
    pub fn is_name(name: &str) -> bool {
        let legal = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
        !name.is_empty() && name.len() <= NAME_BYTES && name.bytes().all(legal)
    }
}

impl Client {
    /// Whether an entry can pass on variables of the client's own environment without storing their
    /// values in the file. The other clients pass on only literal values.
    pub fn refers_to_variables(self) -> bool {
        self == Self::Codex || reference(self, "").is_some()
    }
}

/// The entry in the form that the client documents.
pub(crate) fn shape(file: &ConfigFile, entry: &Entry) -> Result<Value, EditError> {
    let client = file.client;
    let name = &entry.name;
    if !Entry::is_name(name) {
        return Err(EditError::BadName(name.clone()));
    }
    let members = match (&entry.launch, client) {
        (Launch::Stdio { command, args, .. }, Client::Goose) => {
            goose(name, "stdio", [("cmd", text(command)), ("args", Value::List(args.clone()))])
        }
        (Launch::Http { url }, Client::Goose) => {
            goose(name, "streamable_http", [("uri", text(url))])
        }
        (Launch::Stdio { command, args, variables }, Client::Opencode) => {
            let words = std::iter::once(command).chain(args).cloned().collect();
            let mut members = opencode("local", ("command", Value::List(words)));
            members.extend(handed_on(client, variables));
            members
        }
        (Launch::Http { url }, Client::Opencode) => opencode("remote", ("url", text(url))),
        (Launch::Stdio { command, args, variables }, _) => {
            let mut members = stdio(client, command, args);
            members.extend(handed_on(client, variables));
            members
        }
        (Launch::Http { .. }, Client::ClaudeDesktop) => return Err(EditError::NoHttp(client)),
        (Launch::Http { url }, Client::Continue) if file.format == Format::Yaml => {
            vec![("type", text("streamable-http")), ("url", text(url))]
        }
        (Launch::Http { url }, _) => http(client, url),
    };
    Ok(Value::Table(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

type Members = Vec<(&'static str, Value)>;

/// `command` and `args`, as everywhere. Claude Code, VS Code and Crush name the transport too: the
/// pages on MCP servers of each list `type` with `stdio`, `http` and `sse`.
fn stdio(client: Client, command: &str, args: &[String]) -> Members {
    let mut members = Members::new();
    if matches!(client, Client::ClaudeCode | Client::VsCode | Client::Crush) {
        members.push(("type", text("stdio")));
    }
    members.push(("command", text(command)));
    members.push(("args", Value::List(args.to_vec())));
    members
}

/// The variables in the client's own notation. Codex's page on its configuration has a list of
/// names; the others use references in `env`.
fn handed_on(client: Client, variables: &[String]) -> Option<(&'static str, Value)> {
    if variables.is_empty() {
        return None;
    }
    if client == Client::Codex {
        return Some(("env_vars", Value::List(variables.to_vec())));
    }
    let env = variables.iter().map(|name| Some((name.clone(), text(&reference(client, name)?))));
    let key = if client == Client::Opencode { "environment" } else { "env" };
    Some((key, Value::Table(env.collect::<Option<_>>()?)))
}

/// How the client's file refers to a variable, by the pages on MCP servers of Claude Code, Cursor,
/// VS Code, Windsurf, Gemini CLI, opencode and Crush. The other clients document no such reference.
fn reference(client: Client, name: &str) -> Option<String> {
    Some(match client {
        Client::ClaudeCode => format!("${{{name}}}"),
        Client::Cursor | Client::VsCode | Client::Windsurf => format!("${{env:{name}}}"),
        Client::GeminiCli | Client::Crush => format!("${name}"),
        Client::Opencode => format!("{{env:{name}}}"),
        _ => return None,
    })
}

/// Continue writes `streamable-http` in YAML; in JSON it reads what Claude Code writes (its page on
/// MCP). `url` means Streamable HTTP in all clients but two: Gemini CLI takes `url` for the older SSE and
/// `httpUrl` for this, by its page on MCP servers; Windsurf's page on Cascade and MCP writes
/// `serverUrl`.
fn http(client: Client, url: &str) -> Members {
    match client {
        Client::ClaudeCode | Client::VsCode | Client::Crush | Client::Continue => {
            vec![("type", text("http")), ("url", text(url))]
        }
        Client::GeminiCli => vec![("httpUrl", text(url))],
        Client::Windsurf => vec![("serverUrl", text(url))],
        _ => vec![("url", text(url))],
    }
}

/// opencode has a program and its arguments in one list (the page on MCP servers).
fn opencode(kind: &str, launch: (&'static str, Value)) -> Members {
    vec![("type", text(kind)), launch, ("enabled", Value::Flag(true))]
}

/// Goose calls servers extensions. Each must say that it is enabled, its name, and how long a call
/// may take, in seconds (the page on its configuration files).
fn goose<const N: usize>(name: &str, kind: &str, launch: [(&'static str, Value); N]) -> Members {
    const TIMEOUT_S: u32 = 300;
    let mut members = vec![
        ("enabled", Value::Flag(true)),
        ("type", text(kind)),
        ("name", text(name)),
        ("description", text("MCP servers behind Gatefold")),
    ];
    members.extend(launch);
    members.push(("timeout", Value::Number(TIMEOUT_S)));
    members
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}
