//! How a client reaches a server: a program or an address, in each client's notation.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use gatefold_config::{Field, LimitedItems, Pairs, Table, Text};
use gatefold_core::Secret;
use gatefold_located::Value;

use crate::Environment;
use crate::config::kinds::mcp::{self, Argument, McpConnection, ProgramName, VariableName};

/// What Continue says about requests.
pub(super) const REQUEST_OPTIONS: &str = "requestOptions";

/// What Continue's old format has around how a server is reached.
pub(super) fn transport<'a>(table: &mut Table<'a>) -> Option<Table<'a>> {
    let field = table.peek("transport")?;
    if !matches!(field.value(), Value::Table(_)) {
        return None;
    }
    table.field("transport")?.table()
}

/// Reads how a server is reached. `None` if a fault was noted.
pub(super) fn connection(
    server: &Field<'_>,
    table: &mut Table<'_>,
    environment: &Environment,
) -> Option<McpConnection> {
    let transport = table.field_of_any(&["type", "transport"]);
    let said = transport.as_ref().and_then(|field| match field.value() {
        Value::Text(text) => Some(text.to_lowercase().replace(['-', '_'], "")),
        _ => None,
    });
    let command = table.field_of_any(&["command", "cmd"]);
    let url = table.field_of_any(&["httpUrl", "serverUrl", "url", "uri"]);
    match (said.as_deref(), command, url) {
        (Some("sse"), _, _) => old_transport(server),
        (None, None, Some(url)) if is_old_address(&url) => old_transport(server),
        (Some("ws" | "websocket"), _, _) => {
            server.key_fault("speaks over a WebSocket, which MCP does not define", "use HTTP");
            None
        }
        (Some("builtin" | "platform" | "frontend" | "inlinepython"), None, None) => {
            let hint = "leave it where it is: only that client can run it";
            server.key_fault("is a part of the client", hint);
            None
        }
        (Some("http" | "streamablehttp" | "remote"), _, Some(url)) | (_, None, Some(url)) => {
            let url = mcp::address(&url)?;
            Some(McpConnection::Http { url, headers: headers(table) })
        }
        (_, Some(command), _) => stdio(&command, table, environment),
        (_, None, None) => {
            server.key_fault(
                "has neither `command` nor `url`",
                "name the program or the address; a server that an editor's extension starts \
                 has to be written out here",
            );
            None
        }
    }
}

fn old_transport(server: &Field<'_>) -> Option<McpConnection> {
    let hint = "use the server's streamable HTTP address with `\"type\": \"http\"`";
    server.key_fault("speaks HTTP+SSE, which Gatefold does not support yet", hint);
    None
}

/// Where servers of the old transport usually listen. Some clients accept such an address without a
/// `type`.
fn is_old_address(url: &Field<'_>) -> bool {
    matches!(url.value(), Value::Text(url) if url.split(['?', '#']).next().unwrap_or(url).ends_with("/sse"))
}

fn headers(table: &mut Table<'_>) -> Vec<(String, Secret)> {
    let plain = table.field_of_any(&["headers", "http_headers"]);
    let plain = plain.filter(|field| !matches!(field.value(), Value::Null));
    let mut headers =
        plain.map_or_else(Vec::new, |field| mcp::headers(field.read().unwrap_or_default()));
    headers.extend(headers_of_options(table));
    let named = table.field("env_http_headers").and_then(|field| field.table());
    for (name, field) in named.iter().flat_map(Table::fields) {
        headers.extend(reference(&field, "").map(|value| (name.to_owned(), value)));
    }
    let bearer = table.field("bearer_token_env_var");
    let bearer = bearer.and_then(|field| reference(&field, "Bearer "));
    headers.extend(bearer.map(|value| ("Authorization".to_owned(), value)));
    headers
}

/// Continue's headers, one level deeper.
fn headers_of_options(table: &mut Table<'_>) -> Vec<(String, Secret)> {
    let options = table.field(REQUEST_OPTIONS).and_then(|field| field.table());
    let headers = options.and_then(|mut options| options.field("headers"));
    let headers = headers.filter(|field| !matches!(field.value(), Value::Null));
    mcp::headers(headers.and_then(|field| field.read()).unwrap_or_default())
}

/// A reference to the variable that a field names, after some other text.
fn reference(field: &Field<'_>, before: &str) -> Option<Secret> {
    let Value::Text(name) = field.value() else {
        return None;
    };
    field.expanded(&format!("{before}${{{name}}}")).map(|value| Secret::new(value.text))
}

/// A program: a string with `args` beside it, a list that holds both, or Zed's object.
fn stdio<'a>(
    command: &Field<'a>,
    table: &mut Table<'a>,
    environment: &Environment,
) -> Option<McpConnection> {
    let mut inner = match command.value() {
        Value::Table(_) => Some(command.table()?),
        _ => None,
    };
    let table = inner.as_mut().unwrap_or(table);
    let (program, args) = match command.value() {
        Value::Table(_) => {
            let Some(program) = table.field_of_any(&["path", "command"]) else {
                command.fault("has no `path`", "name the program to start");
                return None;
            };
            (program.read::<ProgramName>()?.0, None)
        }
        Value::List(_) => {
            let mut words = arguments(command).into_iter();
            let Some(program) = words.next() else {
                command.fault("is empty", "name the program to start");
                return None;
            };
            (program, Some(words.collect()))
        }
        _ => (command.read::<ProgramName>()?.0, None),
    };
    let args = args.or_else(|| table.field("args").map(|field| arguments(&field)));
    let inherited = table.field("env_vars").filter(|field| !field.is_empty_list());
    Some(McpConnection::Stdio {
        command: program,
        args: args.unwrap_or_default(),
        env: variables(table),
        inherit_env: inherited.map(|field| texts(&field)).unwrap_or_default(),
        cwd: table.field("cwd").and_then(|field| folder(&field, environment)),
    })
}

/// Takes `cmd /c` off a command for Windows, which starts scripts by it; nothing else has the program.
/// Whether there was one.
pub(super) fn take_off_windows_shell(connection: &mut McpConnection) -> bool {
    let McpConnection::Stdio { command, args, .. } = connection else { return false };
    let shell = command.rsplit(['/', '\\']).next().unwrap_or(command).to_lowercase();
    let runs = args.iter().position(|arg| arg.eq_ignore_ascii_case("/c"));
    let is_only_switches =
        |at: &usize| args[..*at].iter().all(|arg| arg.len() == 2 && arg.starts_with('/'));
    let runs = runs.filter(is_only_switches).filter(|at| args.len() > at + 1);
    let (false, "cmd" | "cmd.exe", Some(at)) = (cfg!(windows), shell.as_str(), runs) else {
        return false;
    };
    // One argument may hold a whole line, which only that shell takes apart.
    let line: Vec<_> = match &args[at + 1..] {
        [line] => line.split_whitespace().map(str::to_owned).collect(),
        words => words.to_vec(),
    };
    let Some((program, rest)) = line.split_first().filter(|_| !line.concat().contains('"')) else {
        return false;
    };
    program.clone_into(command);
    *args = rest.to_vec();
    true
}

fn arguments(field: &Field<'_>) -> Vec<String> {
    let arguments: LimitedItems<Vec<Argument>> = field.read().unwrap_or_default();
    arguments.0.into_iter().map(|argument| argument.0).collect()
}

fn texts(field: &Field<'_>) -> Vec<String> {
    let texts: Vec<Text> = field.read().unwrap_or_default();
    texts.into_iter().map(|text| text.0).collect()
}

/// Folders in a project where clients keep their files.
const CLIENT_FOLDERS: &[&str] = &[".vscode", ".cursor", ".zed", ".gemini", ".codex", ".continue"];

/// The folder to start in. A relative one stays relative while references do; otherwise it is below
/// the project, or the home, that the client's file belongs to.
fn folder(field: &Field<'_>, environment: &Environment) -> Option<PathBuf> {
    let Text(text) = field.read()?;
    if field.is_as_written() {
        return Some(text.into());
    }
    let file = environment.directory().join(field.document().path());
    Some(environment.resolve(&text, folder_of(&file)))
}

/// The project, or the home, that a client's file belongs to.
pub fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().unwrap_or(file);
    let is_clients = folder
        .file_name()
        .and_then(OsStr::to_str)
        .is_some_and(|name| CLIENT_FOLDERS.contains(&name));
    folder.parent().filter(|_| is_clients).unwrap_or(folder)
}

/// The variables in the file, and those that Goose keeps elsewhere and only names.
fn variables(table: &mut Table<'_>) -> Vec<(String, Secret)> {
    let written = table.field_of_any(&["env", "envs", "environment"]);
    let written = written.filter(|field| !matches!(field.value(), Value::Null));
    let mut variables = match written {
        Some(field) => {
            let pairs: LimitedItems<Pairs<VariableName, Argument>> =
                field.read().unwrap_or_default();
            mcp::variables(pairs.0)
        }
        None => Vec::new(),
    };
    let kept = table.field("env_keys").and_then(|field| match field.value() {
        Value::List(_) => field.items(),
        _ => None,
    });
    for field in kept.iter().flatten() {
        if let (Value::Text(name), Some(value)) = (field.value(), reference(field, "")) {
            variables.push((name.clone(), value));
        }
    }
    variables
}
