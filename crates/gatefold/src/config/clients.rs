//! The configuration files of MCP clients, as clients write them.
//!
//! `mcpServers` is what Claude, Cursor, Windsurf and most others write, `servers` VS Code,
//! `context_servers` Zed, `mcp_servers` Codex, `extensions` Goose. A server that Gatefold cannot
//! use is kept with the reason, so that it does not block the others. Unknown members are the
//! client's own business.

mod launch;
mod sign_in;
mod switches;

use std::path::Path;
use std::time::Duration;

use gatefold_catalog::GroupRules;
use gatefold_config::{
    Dialect, Document, Fault, Faults, Field, Node, References, SyntaxFault, Table, Text,
    TextFormat, Value, parse_json, parse_toml, parse_yaml, variable_of_input,
};
use gatefold_core::Domain;
use gatefold_policy::Effect;

pub use launch::folder_of;
pub use sign_in::ClientSignIn;

use self::switches::Switches;

use super::common_keys::{EntrySelection, SourceLimits};
use super::kinds::mcp::{McpConnection, McpKind};
use super::sources::{DraftDomain, SourceDraft};
use super::{ConfigError, Origin, SourceSection, UnusableSection, file_text};
use crate::Environment;

/// Where clients keep their servers, outermost member first.
const PLACES: &[&[&str]] = &[
    &["mcpServers"],
    &["servers"],
    &["context_servers"],
    &["mcp", "servers"],
    &["mcp_servers"],
    &["extensions"],
];

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
    /// Settings without an equivalent here that the server may need.
    pub left_behind: Vec<&'static str>,
    /// Further settings, whose meaning is not known here.
    pub unknown: Vec<String>,
    /// A file of variables that the client reads for it.
    pub env_file: Option<String>,
    /// Whether it refers to the folder of the open project.
    pub needs_project: bool,
    /// Variables that replace the client's questions to its user.
    pub asked: Vec<String>,
}

impl ClientServer {
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

/// Settings of clients about reaching a server that cannot be imported.
const LEFT_BEHIND: &[&str] = &["headersHelper", "authProviderType", "sandbox"];

/// Settings about how the client itself treats a server: how it is labelled, how long the client
/// waits for it, and which of its calls need no question. They change nothing about the server.
const CLIENTS_OWN: &[&str] = &[
    "name",
    "display_name",
    "bundled",
    "source",
    "gallery",
    "timeout",
    "tool_timeout_sec",
    "trust",
    "alwaysAllow",
    "autoApprove",
];

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
/// nothing at `place`. `${workspaceFolder}` means the environment's directory.
pub fn servers_as_written(
    path: &Path,
    place: &[String],
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_at(path, place, environment, References::AsWritten)
}

/// Like [`servers_as_written`], with references replaced by the values of variables.
pub fn servers_put_in(
    path: &Path,
    place: &[String],
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_at(path, place, environment, References::PutIn)
}

fn servers_at(
    path: &Path,
    place: &[String],
    environment: &Environment,
    references: References,
) -> Result<Vec<ClientServer>, ConfigError> {
    let mut faults = Vec::new();
    let text = file_text::read(path, environment, &mut faults)?.unwrap_or_default();
    let document = Document::new(path, &text, environment, Dialect::Client);
    let mut document = document.with_references(references);
    // An empty file is one that the client has not filled yet.
    let root = if text.trim().is_empty() { None } else { parsed(&document, path, &text) };
    let around = root
        .as_ref()
        .zip(place.split_last())
        .and_then(|(root, (_, outer))| outer.iter().try_fold(root, |node, key| node.get(key)));
    document.set_inputs(around.map(inputs).unwrap_or_default());
    let node = root.as_ref().and_then(|root| {
        place.iter().try_fold(root, |node, key| node.get(key)).filter(|node| !node.is_null())
    });
    let servers = root
        .as_ref()
        .zip(node)
        .map(|(root, node)| servers(&document, environment, root, place, node));
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
) -> Vec<SourceDraft> {
    let Some(root) = parsed(document, document.path(), text) else {
        return Vec::new();
    };
    let found = PLACES.iter().find_map(|path| {
        let (_, outer) = path.split_last()?;
        let around = outer.iter().try_fold(&root, |node, key| node.get(key))?;
        let node = path.iter().try_fold(&root, |node, key| node.get(key))?;
        Some((path, around, node))
    });
    let Some((path, around, node)) = found else {
        let hint = "give a file with `mcpServers`, `servers` or `context_servers`";
        document.fault(&root.span, "", "names no MCP servers", hint);
        return Vec::new();
    };
    document.set_inputs(inputs(around));
    let place: Vec<_> = path.iter().map(|&member| member.to_owned()).collect();
    let servers = servers(document, environment, &root, &place, node);
    servers.into_iter().map(|server| draft(server, limits)).collect()
}

/// The default answers to a client's own questions, by the question's id: VS Code's `inputs`. A
/// hidden (password) answer has no default.
fn inputs(around: &Node) -> Vec<(String, String)> {
    let Some(Value::List(inputs)) = around.get("inputs").map(|node| &node.value) else {
        return Vec::new();
    };
    let text = |input: &Node, key: &str| match input.get(key).map(|node| &node.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let is_hidden = |input: &Node| {
        input.get("password").is_some_and(|node| matches!(node.value, Value::Flag(true)))
    };
    let shown = inputs.iter().filter(|input| !is_hidden(input));
    shown.filter_map(|input| Some((text(input, "id")?, text(input, "default")?))).collect()
}

fn servers(
    document: &Document<'_>,
    environment: &Environment,
    root: &Node,
    place: &[String],
    node: &Node,
) -> Vec<ClientServer> {
    let table = document.field(place.join("."), node).table();
    let fields = table.iter().flat_map(Table::fields);
    let read: Vec<_> = fields.collect();
    // Faults of the table itself stay faults of the file.
    let faults = document.take_faults();
    let switches = Switches::of(document.path(), environment, root, place);
    let servers = read.into_iter().map(|(name, field)| server(name, &field, environment));
    let mut servers: Vec<_> = servers.collect();
    for server in &mut servers {
        server.is_enabled &= !switches.is_off(&server.name);
    }
    document.put_back(faults);
    servers
}

fn draft(mut server: ClientServer, mut limits: SourceLimits) -> SourceDraft {
    // Without its variables a server may start and do something else.
    if let Some(fault) = server.env_file_fault().filter(|_| server.connection.is_ok()) {
        server.connection = Err(Box::new(fault));
    }
    if let Some(deadline) = server.connect_deadline {
        limits.connect_deadline = deadline;
    }
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
            .map(|(effect, pattern)| (effect, EntrySelection::Pattern(pattern)))
            .collect(),
        limits,
        call_deadline: None,
        origin: server.origin,
    }
}

fn server(name: &str, field: &Field<'_>, environment: &Environment) -> ClientServer {
    let document = field.document();
    let mut refers = Vec::new();
    references(field.value(), &mut refers);
    let (mut members, mut unknown) = (Members::default(), Vec::new());
    let connection = field.table().and_then(|mut table| {
        if let Some(own) = refers.iter().find(|one| is_editors_own(one)) {
            field.key_fault(
                format!("refers to `${{{own}}}`, which only the client knows"),
                "write its value instead",
            );
            return None;
        }
        members = Members::read(&mut table);
        let connection = launch::connection(field, &mut table, environment);
        unknown = unread(&table);
        connection
    });
    // Only the first: people fix one after the other, and a table has one line for it.
    let fault = document.take_faults().into_iter().next();
    let connection = match fault {
        Some(fault) => Err(Box::new(fault)),
        None => Ok(connection.expect("what is not read leaves a fault")),
    };
    // A header signs in already, and a program does so by itself.
    if connection.as_ref().is_ok_and(|own| !own.may_sign_in()) && members.sign_in.take().is_some() {
        members.left_behind.push("oauth");
    }
    let questions = refers.iter().filter_map(|one| one.strip_prefix("input:"));
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
        left_behind: members.left_behind,
        unknown,
        env_file: members.env_file,
        needs_project: refers.contains(&PROJECT),
        asked: questions.map(variable_of_input).collect(),
    }
}

/// What a client's file says about a server besides how to reach it.
#[derive(Default)]
struct Members {
    is_disabled: bool,
    effects: Vec<(Effect, String)>,
    connect_deadline: Option<Duration>,
    description: Option<String>,
    sign_in: Option<ClientSignIn>,
    left_behind: Vec<&'static str>,
    env_file: Option<String>,
}

impl Members {
    fn read(table: &mut Table<'_>) -> Self {
        let left_behind = LEFT_BEHIND.iter().filter(|key| table.field(key).is_some());
        let mut left_behind: Vec<_> = left_behind.copied().collect();
        let (sign_in, of_sign_in) = sign_in::read(table);
        left_behind.extend(of_sign_in);
        let mut text =
            |keys: &[&'static str]| table.field_of_any(keys).and_then(|field| plain_text(&field));
        let (description, env_file) = (text(&["description"]), text(&["envFile", "env_file"]));
        Self {
            is_disabled: is_disabled(table),
            effects: effects(table),
            connect_deadline: start_limit(table),
            description,
            sign_in,
            left_behind,
            env_file,
        }
    }
}

/// The members that were not read, except the client's own and empty ones.
fn unread(table: &Table<'_>) -> Vec<String> {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Table(entries) => entries.is_empty(),
        Value::Number(_) | Value::Flag(_) | Value::Date => false,
    };
    let unread = table
        .unread()
        .filter(|(key, field)| !CLIENTS_OWN.contains(key) && !says_nothing(field.value()));
    unread.map(|(key, _)| key.to_owned()).collect()
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

fn is_disabled(table: &mut Table<'_>) -> bool {
    let mut says = |key, expected| {
        let field = table.field(key);
        field.is_some_and(|field| matches!(field.value(), Value::Flag(flag) if *flag == expected))
    };
    says("disabled", true) || says("enabled", false)
}

fn effects(table: &mut Table<'_>) -> Vec<(Effect, String)> {
    let mut effects = Vec::new();
    for (keys, effect) in [
        (["includeTools", "enabledTools", "enabled_tools", "available_tools"], Effect::Allow),
        (["excludeTools", "disabledTools", "disabled_tools", "disabled_tools"], Effect::Deny),
    ] {
        // Where a client's list means "all of them" when it is empty, an empty list restricts
        // nothing.
        let names = table.field_of_any(&keys).filter(|field| !field.is_empty_list());
        let names = names.and_then(|field| field.read::<Vec<Text>>()).unwrap_or_default();
        // Clients have no lists of prompts and resources.
        effects.extend(names.into_iter().map(|name| (effect, format!("tool:{}", name.0))));
    }
    effects
}

/// Codex's limit for the start of a server. Other clients' `timeout` limits calls.
fn start_limit(table: &mut Table<'_>) -> Option<Duration> {
    const LONGEST_S: f64 = 3600.0;
    let number = |field: Field<'_>| match field.value() {
        Value::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    let seconds = table.field("startup_timeout_sec").and_then(number);
    let millis = table.field("startup_timeout_ms").and_then(number);
    let seconds = seconds.or(millis.map(|millis| millis / 1000.0))?;
    (seconds > 0.0 && seconds <= LONGEST_S).then(|| Duration::from_secs_f64(seconds))
}

/// A text for people; a value of another type is not worth a fault.
fn plain_text(field: &Field<'_>) -> Option<String> {
    match field.value() {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}
