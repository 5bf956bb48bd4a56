//! The configurations of MCP clients, as they are.
//!
//! `mcpServers` is what Claude, Cursor, Windsurf and most others write, `servers` VS Code,
//! `context_servers` Zed, `mcp_servers` Codex, `extensions` Goose. A server that Gatefold cannot
//! use is kept with the reason, so that one of them never stands in the way of the others.
//! Members unknown here are the client's own business.

mod launch;

use std::path::Path;
use std::time::Duration;

use gatefold_catalog::GroupRules;
use gatefold_core::Domain;
use gatefold_policy::Effect;

use super::error::Faults;
use super::expand::Dialect;
use super::reader::{Field, Reader, Table, Values};
use super::sections::{self, SourceLimits};
use super::sources::{DraftDomain, SourceDraft};
use super::toml_file::SyntaxFault;
use super::tree::{Node, Value};
use super::{ConfigError, Connection, Origin, json_file, load, toml_file, yaml_file};
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

/// One server as a client's file has it.
#[derive(Debug, Clone)]
pub struct ClientServer {
    pub name: String,
    /// The file and line that configure it.
    pub origin: Origin,
    pub is_enabled: bool,
    /// How it is reached: [`Connection::Unusable`] when Gatefold cannot.
    pub connection: Connection,
    pub description: Option<String>,
    /// Patterns over the names of its tools.
    pub effects: Vec<(Effect, String)>,
    /// How long the client gives it to start.
    pub connect_deadline: Option<Duration>,
    /// Settings that Gatefold has nothing for, and that the server may need.
    pub left_behind: Vec<&'static str>,
}

/// Settings of clients that say how a server is reached and that cannot be taken over.
const LEFT_BEHIND: &[&str] =
    &["envFile", "env_file", "headersHelper", "oauth", "auth", "authProviderType", "sandbox"];

/// Reads the servers of a client's file, at `place` (the members to go through, outermost first).
/// References to variables stay references, in Gatefold's notation. No server when the file has
/// nothing there; a directory that `${workspaceFolder}` means is the environment's.
pub fn servers_as_written(
    path: &Path,
    place: &[String],
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_at(path, place, environment, Values::AsWritten)
}

/// As [`servers_as_written`], with the values of variables in the place of the references.
pub fn servers_put_in(
    path: &Path,
    place: &[String],
    environment: &Environment,
) -> Result<Vec<ClientServer>, ConfigError> {
    servers_at(path, place, environment, Values::PutIn)
}

fn servers_at(
    path: &Path,
    place: &[String],
    environment: &Environment,
    values: Values,
) -> Result<Vec<ClientServer>, ConfigError> {
    let mut faults = Vec::new();
    let text = load::read(path, environment, &mut faults)?.unwrap_or_default();
    let reader = Reader::new(path, &text, environment, Dialect::Client).with_values(values);
    // An empty file is one that a client has not filled yet.
    let root = if text.trim().is_empty() { None } else { parsed(&reader, &text) };
    let node = root.as_ref().and_then(|root| {
        place.iter().try_fold(root, |node, key| node.get(key)).filter(|node| !node.is_null())
    });
    let servers = node.map(|node| servers(&reader, place.join("."), node));
    faults.extend(reader.take_faults());
    if faults.is_empty() {
        Ok(servers.unwrap_or_default())
    } else {
        Err(ConfigError::Invalid(Faults(faults)))
    }
}

/// Parses a client's file, whose name tells its format.
fn parsed(reader: &Reader<'_>, text: &str) -> Option<Node> {
    let one = |fault: SyntaxFault| vec![fault];
    match reader.path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => load::parsed(reader, toml_file::parse(text)),
        Some("yaml" | "yml") => load::parsed(reader, yaml_file::parse(text).map_err(one)),
        _ => load::parsed(reader, json_file::parse(text).map_err(one)),
    }
}

/// Reads every server of a file as a source. A file without any is noted as wrong.
pub(super) fn read<'a>(
    reader: &'a Reader<'a>,
    text: &str,
    limits: SourceLimits,
) -> Vec<SourceDraft> {
    let Some(root) = parsed(reader, text) else {
        return Vec::new();
    };
    let found = PLACES.iter().find_map(|path| {
        path.iter().try_fold(&root, |node, key| node.get(key)).map(|node| (path.join("."), node))
    });
    let Some((key, node)) = found else {
        let hint = "give a file with `mcpServers`, `servers` or `context_servers`";
        reader.fault(&root.span, "", "names no MCP servers", hint);
        return Vec::new();
    };
    servers(reader, key, node).into_iter().map(|server| draft(server, limits)).collect()
}

fn servers(reader: &Reader<'_>, key: String, node: &Node) -> Vec<ClientServer> {
    let table = reader.field(key, node.span.clone(), node).table();
    let fields = table.iter().flat_map(Table::fields);
    let read: Vec<_> = fields.collect();
    // What is wrong with the table itself stays a fault of the file.
    let faults = reader.take_faults();
    let servers = read.into_iter().map(|(name, field)| server(name, &field)).collect();
    reader.put_back(faults);
    servers
}

fn draft(server: ClientServer, mut limits: SourceLimits) -> SourceDraft {
    if let Some(deadline) = server.connect_deadline {
        limits.connect_deadline = deadline;
    }
    SourceDraft {
        domain: DraftDomain::Made(Domain::from_key(&server.name)),
        connection: if server.is_enabled { server.connection } else { Connection::Disabled },
        description: server.description,
        groups: GroupRules::default(),
        effects: server.effects,
        limits,
        origin: server.origin,
    }
}

fn server(name: &str, field: &Field<'_>) -> ClientServer {
    let origin =
        Origin { file: field.reader.path.to_owned(), line: field.line(), key: name.to_owned() };
    let mut server = ClientServer {
        name: name.to_owned(),
        origin,
        is_enabled: true,
        connection: Connection::Disabled,
        description: None,
        effects: Vec::new(),
        connect_deadline: None,
        left_behind: Vec::new(),
    };
    let connection = field.table().and_then(|mut table| {
        server.is_enabled = !is_disabled(&mut table);
        server.effects = effects(&mut table);
        server.connect_deadline = start_limit(&mut table);
        server.description = table.field("description").and_then(|field| plain_text(&field));
        let left_behind = LEFT_BEHIND.iter().filter(|key| table.field(key).is_some());
        server.left_behind = left_behind.copied().collect();
        launch::connection(field, table)
    });
    // The first alone: a person mends one after the other, and a table has one line for it.
    let fault = field.reader.take_faults().into_iter().next();
    server.connection = match fault {
        Some(fault) => Connection::Unusable(Box::new(fault)),
        None => connection.expect("what is not read leaves a fault"),
    };
    server
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
        // Where a list is how a client says "all of them", an empty one is no list.
        let names = table.field_of_any(&keys).filter(|field| !field.is_empty_list());
        let names = names.map(|field| sections::texts(&field)).unwrap_or_default();
        effects.extend(names.into_iter().map(|name| (effect, name)));
    }
    effects
}

/// Codex' limit for the start of a server. Other clients' `timeout` is one for calls.
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

/// A text for people; anything else there is not worth a fault.
fn plain_text(field: &Field<'_>) -> Option<String> {
    match field.value() {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}
