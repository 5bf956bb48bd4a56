//! The configuration files of MCP clients, as clients write them.
//!
//! `mcpServers` is what Claude, Cursor, Windsurf and most others write, `servers` VS Code,
//! `context_servers` Zed, `mcp_servers` Codex, `extensions` Goose, `mcp` opencode and Crush; Continue
//! has a list. A server that Gatefold cannot use is kept with the reason, so that it does not block
//! the others. Members that are not taken over are named.

mod inputs;
mod launch;
mod lists;
mod members;
mod sign_in;
mod switches;

use std::path::Path;
use std::time::Duration;

use gatefold_catalog::GroupRules;
use gatefold_config::{
    ClientNotation, Dialect, Document, Fault, Faults, Field, References, is_name, parse_toml,
};
use gatefold_core::Domain;
use gatefold_located::{Node, SyntaxFault, TextFormat, Value, parse_json, parse_yaml};
use gatefold_policy::Effect;

pub use inputs::InputVariables;
pub use launch::folder_of;
pub use sign_in::ClientSignIn;

use self::inputs::FileInput;
use self::lists::ServerList;
use self::members::{Members, Timeout, Unread};

use super::common_keys::{EntryEffect, SourceLimits};
use super::kinds::mcp::{McpConnection, McpKind};
use super::sources::{DraftDomain, SourceDraft};
use super::{ConfigError, Origin, SourceSection, UnusableSection, file_text};
use crate::Environment;

/// One server of a client's file.
#[derive(Debug, Clone)]
pub struct ClientServer {
    pub name: String,
    /// The file and line that configure it.
    pub origin: Origin,
    pub is_enabled: bool,
    /// How it is reached, or why Gatefold cannot.
    pub connection: Result<McpConnection, Box<Fault>>,
    /// The client of a provider with which the server's users sign in.
    pub sign_in: Option<ClientSignIn>,
    pub description: Option<String>,
    /// Patterns for the names of its tools.
    pub effects: Vec<(Effect, String)>,
    /// How long the client lets it take to start.
    pub connect_deadline: Option<Duration>,
    /// How long the client waits for a call.
    pub call_deadline: Option<Duration>,
    /// Settings without an equivalent here that the server may need.
    pub left_behind: Vec<&'static str>,
    /// Further settings, whose meaning is not known here.
    pub unknown: Vec<String>,
    /// Settings about what the client itself does with the server, which the server does not need.
    clients_own: Vec<String>,
    /// What was read otherwise than it is written, or may be meant otherwise.
    pub notes: Vec<String>,
    /// A file of variables that the client reads for it.
    pub env_file: Option<String>,
    /// Whether it refers to the folder of the open project.
    pub needs_project: bool,
    /// Variables that replace the client's questions to its user.
    pub asked: Vec<String>,
}

impl ClientServer {
    /// Settings that are not in the source.
    pub fn not_taken_over(&self) -> impl Iterator<Item = &str> {
        let further = self.unknown.iter().chain(&self.clients_own).map(String::as_str);
        self.left_behind.iter().copied().chain(further)
    }

    /// Why the server cannot be imported without the file of variables that its client reads for
    /// it, if there is one.
    pub fn env_file_fault(&self) -> Option<Fault> {
        let env_file = self.env_file.as_ref()?;
        Some(Fault {
            file: self.origin.file.clone(),
            line: self.origin.line,
            column: 1,
            key: self.name.clone(),
            message: format!("takes its variables from `{env_file}`, which Gatefold does not read"),
            hint: "write what the file sets into the server's `env`".to_owned(),
        })
    }
}

/// The name of the project's folder in references.
const PROJECT: &str = "workspaceFolder";

/// Values that only an editor knows: references without a part after a colon, and those with one.
const EDITORS_OWN: &[&str] = &[
    "workspaceFolderBasename",
    "pathSeparator",
    "/",
    "file",
    "fileBasename",
    "fileBasenameNoExtension",
    "fileExtname",
    "fileDirname",
    "fileDirnameBasename",
    "fileWorkspaceFolder",
    "relativeFile",
    "relativeFileDirname",
    "lineNumber",
    "columnNumber",
    "selectedText",
    "execPath",
    "defaultBuildTask",
];
const EDITORS_KINDS: &[&str] =
    &["command:", "config:", "extensionInstallFolder:", "workspaceFolder:"];

/// Reads the servers of a client's file at `place` (the path of members, outermost first).
/// References to variables stay references, in Gatefold's notation. There are none if the file has
/// nothing at `place`. `${workspaceFolder}` means the environment's directory. `inputs` has the
/// variables that files before this one need.
pub fn servers_as_written(
    path: &Path,
    place: &[String],
    environment: &Environment,
    inputs: &mut InputVariables,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_at(path, Some(place), environment, References::AsWritten, inputs)
}

/// Like [`servers_as_written`], wherever the file has its servers.
pub fn all_servers_as_written(
    path: &Path,
    environment: &Environment,
    inputs: &mut InputVariables,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_at(path, None, environment, References::AsWritten, inputs)
}

/// Like [`servers_as_written`], with references replaced by the values of variables.
pub fn servers_put_in(
    path: &Path,
    place: &[String],
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    let inputs = &mut InputVariables::default();
    servers_at(path, Some(place), environment, References::PutIn, inputs)
}

fn servers_at(
    path: &Path,
    place: Option<&[String]>,
    environment: &Environment,
    references: References,
    inputs: &mut InputVariables,
) -> Result<Vec<ClientServer>, ConfigError> {
    let mut faults = Vec::new();
    let text = file_text::read(path, environment, &mut faults)?.unwrap_or_default();
    let document = Document::new(path, &text, environment, Dialect::Client);
    let mut document = document.with_references(references);
    // An empty file is one that the client has not filled yet.
    let root = if text.trim().is_empty() { None } else { parsed(&document, path, &text) };
    let list = root.as_ref().and_then(|root| match place {
        Some(place) => ServerList::at(root, place),
        None => ServerList::find(root),
    });
    let servers = list.map(|list| list.read(&mut document, environment, inputs));
    faults.extend(document.take_faults());
    if faults.is_empty() {
        Ok(servers.unwrap_or_default())
    } else {
        Err(ConfigError::Invalid(Faults(faults)))
    }
}

/// Parses a client's file; its name determines the format.
fn parsed(document: &Document<'_>, path: &Path, text: &str) -> Option<Node> {
    let one = |fault: SyntaxFault| vec![fault];
    let format = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => TextFormat::Toml,
        Some("yaml" | "yml") => TextFormat::Yaml,
        _ => TextFormat::Json,
    };
    if let Some(fault) = misnamed(format, text) {
        return document.parsed(Err(vec![fault]));
    }
    document.parsed(match format {
        TextFormat::Toml => parse_toml(text),
        TextFormat::Yaml => parse_yaml(text).map_err(one),
        TextFormat::Json => parse_json(text).map_err(one),
    })
}

/// A text in another format than its file's name says. JSON is YAML too.
fn misnamed(format: TextFormat, text: &str) -> Option<SyntaxFault> {
    let found = TextFormat::of(text).filter(|found| *found != format)?;
    let hint = match (format, found) {
        (TextFormat::Yaml, TextFormat::Json) => return None,
        (_, TextFormat::Toml) if text.lines().any(|line| line.trim().starts_with("[sources")) => {
            "pass a `gatefold.toml` as `--config FILE`"
        }
        (_, TextFormat::Toml) => "give the file a name that ends in `.toml`",
        (_, TextFormat::Yaml) => "give the file a name that ends in `.yaml`",
        (_, TextFormat::Json) => "give the file a name that ends in `.json`",
    };
    let message = format!("this is {}, not {}", found.name(), format.name());
    Some(SyntaxFault { offset: 0, message, hint })
}

/// Reads every server of a file as a source. A file without servers is a fault.
pub(super) fn read(
    document: &mut Document<'_>,
    text: &str,
    environment: &Environment,
    limits: SourceLimits,
    inputs: &mut InputVariables,
) -> Vec<SourceDraft> {
    let Some(root) = parsed(document, document.path(), text) else {
        return Vec::new();
    };
    let Some(list) = ServerList::find(&root) else {
        let hint = "give a file with `mcpServers`, `servers` or `context_servers`";
        document.fault(&root.span, "", "names no MCP servers", hint);
        return Vec::new();
    };
    let servers = list.read(document, environment, inputs);
    servers.into_iter().map(|server| draft(server, limits)).collect()
}

fn draft(mut server: ClientServer, mut limits: SourceLimits) -> SourceDraft {
    // Without its variables a server may start and do something else.
    if let Some(fault) = server.env_file_fault().filter(|_| server.connection.is_ok()) {
        server.connection = Err(Box::new(fault));
    }
    if let Some(deadline) = server.connect_deadline {
        limits.connect_deadline = deadline;
    }
    let not_taken = server.not_taken_over();
    let not_taken: Vec<_> = not_taken.map(|key| format!("`{key}` is not taken over")).collect();
    SourceDraft {
        domain: DraftDomain::Made(Domain::from_key(&server.name)),
        section: match server.connection {
            _ if !server.is_enabled => SourceSection::Disabled,
            Ok(connection) => connection.with_sign_in(server.sign_in.map(ClientSignIn::settings)),
            Err(fault) => {
                let kind = McpKind::NAME;
                SourceSection::Unusable(Box::new(UnusableSection { kind, fault: *fault }))
            }
        },
        description: server.description,
        aliases: Vec::new(),
        groups: GroupRules::default(),
        visible_to: Vec::new(),
        effects: server
            .effects
            .into_iter()
            .map(|(effect, pattern)| EntryEffect::new(effect, pattern))
            .collect(),
        limits,
        call_deadline: server.call_deadline,
        notes: server.notes.into_iter().chain(not_taken).collect(),
        origin: server.origin,
    }
}

fn server(
    name: &str,
    field: &Field<'_>,
    environment: &Environment,
    inputs: &[FileInput],
    timeout: Timeout,
) -> ClientServer {
    let document = field.document();
    let mut refers = Vec::new();
    references(field.value(), &mut refers);
    let (mut members, mut unread) = (Members::default(), Unread::default());
    let connection = field.table().and_then(|mut table| {
        if let Some(own) = refers.iter().find(|one| is_editors_own(one)) {
            field.key_fault(
                format!("refers to `${{{own}}}`, which only the client knows"),
                "write its value instead",
            );
            return None;
        }
        members = Members::read(&mut table, timeout);
        let mut transport = launch::transport(&mut table);
        let reached = transport.as_mut().unwrap_or(&mut table);
        let connection = launch::connection(field, reached, environment);
        unread = Unread::of(&table, name);
        unread.add(transport.as_ref().map(|transport| Unread::of(transport, name)));
        connection
    });
    // Only the first: people fix one after the other, and a table has one line for it.
    let fault = document.take_faults().into_iter().next();
    let mut connection = match fault {
        Some(fault) => Err(Box::new(fault)),
        None => Ok(connection.expect("what is not read leaves a fault")),
    };
    // A header signs in already, and a program does so by itself.
    if connection.as_ref().is_ok_and(|own| !own.may_sign_in()) && members.sign_in.take().is_some() {
        members.left_behind.push("oauth");
    }
    let asks = |input: &&FileInput| refers.iter().any(|one| input.is_asked_by(one));
    let asked: Vec<_> = inputs.iter().filter(asks).collect();
    let mut notes: Vec<_> = asked.iter().filter_map(|input| input.note()).collect();
    if !unread.shown.is_empty() {
        let keys: Vec<_> = unread.shown.iter().map(|key| format!("`{key}`")).collect();
        notes.push(format!("only for the client's display: {}", keys.join(", ")));
    }
    if connection.as_mut().is_ok_and(launch::take_off_windows_shell) {
        notes.push("it is written for Windows: `cmd /c` was left out".to_owned());
    }
    if document.client_notation() == ClientNotation::Braces && has_bare_reference(field.value()) {
        let note = "a value that is `$` and a name is passed on as it is; write `${NAME}` if the variable \
                    is meant";
        notes.push(note.to_owned());
    }
    ClientServer {
        name: name.to_owned(),
        origin: Origin {
            file: document.path().to_owned(),
            line: field.line(),
            key: name.to_owned(),
        },
        is_enabled: !members.is_disabled,
        connection,
        sign_in: members.sign_in,
        description: members.description,
        effects: members.effects,
        connect_deadline: members.connect_deadline,
        call_deadline: members.call_deadline,
        left_behind: members.left_behind,
        unknown: unread.unknown,
        clients_own: unread.clients_own,
        notes,
        env_file: members.env_file,
        needs_project: refers.contains(&PROJECT),
        asked: asked.into_iter().map(|input| input.variable.variable.clone()).collect(),
    }
}

/// Whether a text is `$NAME` and no more, maybe after a scheme such as `Bearer`. Names of variables
/// are in capitals.
fn has_bare_reference(value: &Value) -> bool {
    let is_bare = |text: &str| {
        let word = text.rsplit(' ').next().unwrap_or(text);
        let name = word.strip_prefix('$').unwrap_or_default();
        is_name(name) && !name.contains(|c: char| c.is_ascii_lowercase())
    };
    match value {
        Value::Text(text) => is_bare(text),
        Value::List(items) => items.iter().any(|item| has_bare_reference(&item.value)),
        Value::Table(entries) => entries.iter().any(|entry| has_bare_reference(&entry.node.value)),
        Value::Number(_) | Value::Flag(_) | Value::Date | Value::Null => false,
    }
}

/// The references in a value's texts, without defaults.
fn references<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Text(text) => {
            let inner = gatefold_config::references(text);
            found.extend(inner.map(|inner| inner.split(":-").next().unwrap_or(inner)));
        }
        Value::List(items) => {
            for item in items {
                references(&item.value, found);
            }
        }
        Value::Table(entries) => {
            for entry in entries {
                references(&entry.node.value, found);
            }
        }
        Value::Number(_) | Value::Flag(_) | Value::Date | Value::Null => {}
    }
}

fn is_editors_own(reference: &str) -> bool {
    EDITORS_OWN.contains(&reference) || EDITORS_KINDS.iter().any(|kind| reference.starts_with(kind))
}
