//! The files in `tests/files`, and what may be done to them.

use std::path::PathBuf;

use gatefold_clients::{Client, ConfigFile, Entry, Format, Launch, Scope};
use serde_json::Value;

/// A client's file, its text, and the members that lead to its servers.
pub(crate) struct Fixture {
    pub name: &'static str,
    pub file: ConfigFile,
    pub text: String,
}

/// Every file with the members that lead to its servers.
const FILES: [(&str, &[&str]); 26] = [
    ("claude-code/claude.json", &["mcpServers"]),
    ("claude-code/claude.json", &["projects", "/home/ada/code/engine", "mcpServers"]),
    ("claude-code/claude.json", &["projects", "/home/ada/code/empty", "mcpServers"]),
    ("claude-code/claude.json", &["projects", "/home/ada/code/other", "mcpServers"]),
    ("claude-code/mcp.json", &["mcpServers"]),
    ("claude-code/one-line.json", &["mcpServers"]),
    ("claude-code/disabled.json", &["mcpServers"]),
    ("claude-code/disabled.json", &["projects", "/home/ada/code/engine", "mcpServers"]),
    ("claude-desktop/claude_desktop_config.json", &["mcpServers"]),
    ("claude-desktop/windows.json", &["mcpServers"]),
    ("cursor/mcp.json", &["mcpServers"]),
    ("cursor/comments.json", &["mcpServers"]),
    ("vs-code/mcp.json", &["servers"]),
    ("vs-code/settings.json", &["mcp", "servers"]),
    ("vs-code/bom.json", &["servers"]),
    ("windsurf/mcp_config.json", &["mcpServers"]),
    ("windsurf/odd.json", &["mcpServers"]),
    ("codex/config.toml", &["mcp_servers"]),
    ("codex/inline.toml", &["mcp_servers"]),
    ("codex/dotted.toml", &["mcp_servers"]),
    ("zed/settings.json", &["context_servers"]),
    ("zed/old.json", &["context_servers"]),
    ("gemini-cli/settings.json", &["mcpServers"]),
    ("gemini-cli/project.json", &["mcpServers"]),
    ("goose/config.yaml", &["extensions"]),
    ("goose/odd.yaml", &["extensions"]),
];

const MORE_FILES: [(&str, &[&str]); 7] = [
    ("lm-studio/mcp.json", &["mcpServers"]),
    ("lm-studio/flat.json", &["mcpServers"]),
    ("opencode/opencode.json", &["mcp"]),
    ("crush/crush.json", &["mcp"]),
    ("continue/config.yaml", &["mcpServers"]),
    ("continue/flush.yaml", &["mcpServers"]),
    ("continue/block.json", &["mcpServers"]),
];

pub(crate) fn all() -> Vec<Fixture> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let files = FILES.iter().chain(&MORE_FILES);
    let read = files.map(|&(name, servers)| {
        let (client, _) = name.split_once('/').unwrap();
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let mut file = file(Client::parse(client).unwrap(), servers);
        if path.extension().is_some_and(|it| it == "json") {
            file.format = Format::Json;
        }
        Fixture { name, file, text }
    });
    read.collect()
}

pub(crate) fn file(client: Client, servers: &[&str]) -> ConfigFile {
    let (format, path) = match client {
        Client::Codex => (Format::Toml, "config.toml"),
        Client::Goose | Client::Continue => (Format::Yaml, "config.yaml"),
        _ => (Format::Json, "settings.json"),
    };
    ConfigFile {
        client,
        scope: Scope::User,
        path: path.into(),
        format,
        servers: servers.iter().map(|&member| member.to_owned()).collect(),
    }
}

/// Where a client of the fixtures keeps its servers, for a file that does not exist.
pub(crate) fn usual(client: Client) -> ConfigFile {
    let known = FILES.iter().chain(&MORE_FILES);
    let (_, servers) = known.clone().find(|(name, _)| name.starts_with(client.id())).unwrap();
    file(client, servers)
}

pub(crate) fn stdio() -> Entry {
    let args = ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"];
    let args = args.map(str::to_owned).to_vec();
    let command = "/usr/local/bin/gatefold".to_owned();
    Entry {
        name: "gatefold".to_owned(),
        launch: Launch::Stdio { command, args, variables: Vec::new() },
    }
}

pub(crate) fn http() -> Entry {
    let url = "http://127.0.0.1:8137/mcp".to_owned();
    Entry { name: "gatefold".to_owned(), launch: Launch::Http { url } }
}

/// An entry that needs variables of the client's environment.
pub(crate) fn with_variables() -> Entry {
    let command = "gatefold".to_owned();
    let variables = ["API_KEY", "B_TOKEN"].map(str::to_owned).to_vec();
    let launch = Launch::Stdio { command, args: vec!["stdio".to_owned()], variables };
    Entry { name: "gatefold".to_owned(), launch }
}

pub(crate) fn entries(client: Client) -> Vec<Entry> {
    let all = vec![stdio(), with_variables(), http()];
    let takes = |entry: &Entry| {
        client != Client::ClaudeDesktop || !matches!(entry.launch, Launch::Http { .. })
    };
    all.into_iter().filter(takes).collect()
}

/// The content of a text, read where possible by other parsers than the ones that the crate edits
/// with.
pub(crate) fn value(format: Format, text: &str) -> Value {
    let text = text.trim_start_matches('\u{feff}');
    let blank = || Value::Object(serde_json::Map::new());
    if text.trim().is_empty() {
        return blank();
    }
    let read = match format {
        Format::Json => serde_json::from_str(&bare_json(text)),
        Format::Toml => Ok(toml::from_str(text).unwrap()),
        Format::Yaml => Ok(serde_saphyr::from_str(text).unwrap()),
    };
    // YAML that consists of comments.
    read.map(|value: Value| if value.is_null() { blank() } else { by_name(value) }).unwrap()
}

/// The value with Continue's list of servers as a table of them.
fn by_name(mut value: Value) -> Value {
    if let Some(servers) = value.get_mut("mcpServers").filter(|servers| servers.is_array()) {
        let items = servers.as_array().unwrap().iter();
        let named = items.map(|item| (item["name"].as_str().unwrap().to_owned(), item.clone()));
        *servers = named.collect();
    }
    value
}

/// The value with its servers as the client writes them.
pub(crate) fn as_listed(file: &ConfigFile, mut value: Value) -> Value {
    if file.client == Client::Continue
        && let Some(Value::Object(servers)) = value.get_mut("mcpServers")
    {
        let items = std::mem::take(servers).into_iter().map(|(_, server)| server);
        value["mcpServers"] = items.collect();
    }
    value
}

/// JSON without comments and trailing commas.
fn bare_json(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '"' {
            let mut escaped = false;
            let closes = |(_, letter): &(usize, char)| {
                let is_end = *letter == '"' && !escaped;
                escaped = *letter == '\\' && !escaped;
                is_end
            };
            rest[1..].char_indices().find(closes).unwrap().0 + 2
        } else if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").unwrap() + 2..];
            continue;
        } else {
            if letter == '}' || letter == ']' {
                let kept = out.trim_end();
                out.truncate(kept.strip_suffix(',').unwrap_or(kept).len());
            }
            letter.len_utf8()
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// The servers in a value.
pub(crate) fn servers(value: &Value, file: &ConfigFile) -> serde_json::Map<String, Value> {
    let found = file.servers.iter().try_fold(value, |value, member| value.get(member));
    found.and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The value without these servers, and without tables on the way that become empty.
pub(crate) fn without(value: &Value, path: &[String], names: &[String]) -> Value {
    let mut value = value.clone();
    let Some(members) = value.as_object_mut() else { return value };
    match path.split_first() {
        None => members.retain(|name, _| !names.contains(name)),
        Some((key, path)) => {
            if let Some(inner) = members.get_mut(key) {
                *inner = without(inner, path, names);
                let is_empty = inner.as_object().is_some_and(serde_json::Map::is_empty);
                if is_empty || inner.is_null() {
                    members.shift_remove(key);
                }
            }
        }
    }
    value
}
