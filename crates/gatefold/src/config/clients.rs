//! The configurations of MCP clients, as they are.
//!
//! `mcpServers` is what Claude, Cursor, Windsurf and most others write, `servers` VS Code,
//! `context_servers` Zed. A server that Gatefold cannot use is kept as a source that says why,
//! so that one of them never stands in the way of the others. Members unknown here are the
//! client's own business.

use gatefold_catalog::GroupRules;
use gatefold_core::Domain;
use gatefold_policy::Effect;

use super::error::Fault;
use super::reader::{Field, Reader, Table};
use super::sections::{self, SourceLimits};
use super::sources::{DraftDomain, SourceDraft};
use super::tree::{Node, Value};
use super::{Connection, Origin, connection};

/// Where clients keep their servers, outermost member first.
const PLACES: &[&[&str]] =
    &[&["mcpServers"], &["servers"], &["context_servers"], &["mcp", "servers"]];

/// Reads every server of a file. A file without any is noted as wrong.
pub(super) fn read<'a>(
    reader: &'a Reader<'a>,
    root: &'a Node,
    limits: SourceLimits,
) -> Vec<SourceDraft> {
    let found = PLACES.iter().find_map(|path| {
        path.iter().try_fold(root, |node, key| node.get(key)).map(|node| (path.join("."), node))
    });
    let Some((key, servers)) = found else {
        let hint = "give a file with `mcpServers`, `servers` or `context_servers`";
        reader.fault(&root.span, "", "names no MCP servers", hint);
        return Vec::new();
    };
    let Some(servers) = reader.field(key, servers.span.clone(), servers).table() else {
        return Vec::new();
    };
    servers.fields().map(|(name, field)| server(name, &field, limits)).collect()
}

fn server(name: &str, field: &Field<'_>, limits: SourceLimits) -> SourceDraft {
    let mut effects = Vec::new();
    let connection = field.table().map(|mut table| {
        for (keys, effect) in [
            (["includeTools", "enabledTools"], Effect::Allow),
            (["excludeTools", "disabledTools"], Effect::Deny),
        ] {
            let names = table.field_of_any(&keys).map(|field| sections::texts(&field));
            effects.extend(names.into_iter().flatten().map(|name| (effect, name)));
        }
        if is_disabled(&mut table) { Connection::Disabled } else { connection(field, table) }
    });
    let faults = field.reader.take_faults();
    let connection = match connection {
        Some(connection) if faults.is_empty() => connection,
        _ => Connection::Unusable(reason(&faults)),
    };
    SourceDraft {
        origin: Origin {
            file: field.reader.path.to_owned(),
            line: field.line(),
            key: name.to_owned(),
        },
        domain: DraftDomain::Made(Domain::from_key(name)),
        connection,
        description: None,
        groups: GroupRules::default(),
        effects,
        limits,
    }
}

/// The first fault alone: a person mends one after the other, and a table has one line for it.
fn reason(faults: &[Fault]) -> String {
    let Some(fault) = faults.first() else {
        return "it cannot be read".to_owned();
    };
    let Fault { file, line, column, key, message, hint } = fault;
    format!("`{key}` {message}; {hint} ({}:{line}:{column})", file.display())
}

fn is_disabled(table: &mut Table<'_>) -> bool {
    let mut says = |key, expected| {
        let field = table.field(key);
        field.is_some_and(|field| matches!(field.value(), Value::Flag(flag) if *flag == expected))
    };
    says("disabled", true) || says("enabled", false)
}

fn connection(server: &Field<'_>, mut table: Table<'_>) -> Connection {
    let none = Connection::Disabled;
    let transport = table.field_of_any(&["type", "transport"]);
    let said = transport.as_ref().and_then(|field| match field.value() {
        Value::Text(text) => Some(text.to_lowercase().replace(['-', '_'], "")),
        _ => None,
    });
    let command = table.field("command");
    let url = table.field_of_any(&["httpUrl", "serverUrl", "url"]);
    match (said.as_deref(), command, url) {
        (Some("sse"), _, _) => {
            let hint = "use the server's streamable HTTP address with `\"type\": \"http\"`";
            server.key_fault("speaks HTTP+SSE, which Gatefold does not support yet", hint);
            none
        }
        (Some("ws" | "websocket"), _, _) => {
            server.key_fault("speaks over a WebSocket, which MCP does not define", "use HTTP");
            none
        }
        (Some("http" | "streamablehttp" | "remote"), _, Some(url)) | (_, None, Some(url)) => {
            let headers = table.field("headers").map(|field| connection::headers(&field));
            let headers = headers.unwrap_or_default();
            connection::url(&url).map_or(none, |url| Connection::Http { url, headers })
        }
        (_, Some(command), _) => stdio(&command, table).unwrap_or(none),
        (_, None, None) => {
            server.key_fault(
                "has neither `command` nor `url`",
                "name the program or the address; a server that an editor's extension starts \
                 has to be written out here",
            );
            none
        }
    }
}

/// A program: a string with `args` beside it, a list that holds both, or Zed's object.
fn stdio(command: &Field<'_>, table: Table<'_>) -> Option<Connection> {
    let mut table = match command.value() {
        Value::Table(_) => command.table()?,
        _ => table,
    };
    let (program, args) = match command.value() {
        Value::Table(_) => {
            let Some(program) = table.field_of_any(&["path", "command"]) else {
                command.fault("has no `path`", "name the program to start");
                return None;
            };
            (connection::command(&program)?, None)
        }
        Value::List(_) => {
            let mut words = connection::arguments(command).into_iter();
            let Some(program) = words.next() else {
                command.fault("is empty", "name the program to start");
                return None;
            };
            (program, Some(words.collect()))
        }
        _ => (connection::command(command)?, None),
    };
    let args = args.or_else(|| table.field("args").map(|field| connection::arguments(&field)));
    let env = table.field("env").filter(|field| !matches!(field.value(), Value::Null));
    Some(Connection::Stdio {
        command: program,
        args: args.unwrap_or_default(),
        env: env.map(|field| connection::variables(&field)).unwrap_or_default(),
        inherit_env: Vec::new(),
        cwd: table.field("cwd").and_then(|field| sections::path(&field)),
    })
}
