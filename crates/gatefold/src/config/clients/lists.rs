//! Where a client's file has its servers, and how it writes them.

use std::ffi::OsStr;
use std::path::Path;

use gatefold_config::{ClientNotation, Document, Field, Table};
use gatefold_located::{Node, Value};

use super::inputs::InputVariables;
use super::members::Timeout;
use super::switches::Switches;
use super::{ClientServer, references, server};
use crate::Environment;

/// Where clients keep their servers, outermost member first.
const PLACES: &[&[&str]] = &[
    &["mcpServers"],
    &["servers"],
    &["context_servers"],
    &["mcp", "servers"],
    &["mcp_servers"],
    &["extensions"],
    &["mcp"],
    // Continue before its `config.yaml`.
    &["experimental", "modelContextProtocolServers"],
];

/// Where a file has its servers.
pub(super) struct ServerList<'r> {
    root: &'r Node,
    /// What the servers stand in, with all that is beside them.
    around: &'r Node,
    place: Vec<String>,
    servers: &'r Node,
}

impl<'r> ServerList<'r> {
    /// The servers at a path of members.
    pub(super) fn at(root: &'r Node, place: &[String]) -> Option<Self> {
        let (last, outer) = place.split_last()?;
        let around = outer.iter().try_fold(root, |node, key| node.get(key))?;
        let servers = around.get(last).filter(|node| !node.is_null())?;
        Some(Self { root, around, place: place.to_vec(), servers })
    }

    /// The servers of a file that may be any client's.
    pub(super) fn find(root: &'r Node) -> Option<Self> {
        let place = |path: &[&str]| path.iter().map(|&member| member.to_owned()).collect();
        PLACES.iter().find_map(|path| {
            let place: Vec<_> = place(path);
            let found = path.iter().try_fold(root, |node, key| node.get(key))?;
            // Gemini CLI has other settings there.
            let is_wanted =
                *path != ["mcp"] || entries_of(found).any(|(_, entry)| is_server(entry));
            if !is_wanted {
                return None;
            }
            // A member without a value is a fault of the file, which reading it finds.
            let (_, outer) = path.split_last()?;
            let around = outer.iter().try_fold(root, |node, key| node.get(key))?;
            Some(Self { root, around, place, servers: found })
        })
    }

    pub(super) fn read(
        &self,
        document: &mut Document<'_>,
        environment: &Environment,
        inputs: &mut InputVariables,
    ) -> Vec<ClientServer> {
        document.set_client_notation(self.notation(document.path()));
        let mut refers = Vec::new();
        references(&self.servers.value, &mut refers);
        let inputs = inputs.of_file(document.path(), self.around, &refers);
        document.set_inputs(inputs.iter().map(|input| input.variable.clone()).collect());
        let document = &*document;
        let key = self.place.join(".");
        let table;
        let named: Vec<_> = if let Value::List(_) = &self.servers.value {
            let items = document.field(key, self.servers).items().unwrap_or_default();
            items.into_iter().map(|item| (name_in(&item), item)).collect()
        } else {
            table = document.field(key, self.servers).table();
            let fields = table.iter().flat_map(Table::fields);
            fields.map(|(name, field)| (name.to_owned(), field)).collect()
        };
        // Faults of the table itself stay faults of the file.
        let faults = document.take_faults();
        let switches = Switches::of(document.path(), environment, self.root, &self.place);
        let timeout = self.timeout(document);
        let servers =
            named.iter().map(|(name, field)| server(name, field, environment, &inputs, timeout));
        let mut servers: Vec<_> = servers.collect();
        for server in &mut servers {
            server.is_enabled &= !switches.is_off(&server.name);
        }
        document.put_back(faults);
        servers
    }

    /// What `timeout` means in the file, by the clients' pages on MCP servers.
    fn timeout(&self, document: &Document<'_>) -> Timeout {
        let file = document.path().file_name().and_then(OsStr::to_str).unwrap_or_default();
        let place: Vec<_> = self.place.iter().map(String::as_str).collect();
        match place.as_slice() {
            ["extensions"] => Timeout::CallSeconds,
            ["mcp"] if document.client_notation() == ClientNotation::Opencode => {
                Timeout::StartMillis
            }
            _ if file == "cline_mcp_settings.json" => Timeout::CallSeconds,
            _ if folder_name(document.path()) == Some(".gemini") => Timeout::CallMillis,
            _ => Timeout::Unclear,
        }
    }

    /// How the file refers to variables. Some clients are known by the file's name, others by what
    /// only they write.
    fn notation(&self, path: &Path) -> ClientNotation {
        let folder = folder_name(path);
        let file = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        let is_copilots = file.is_some_and(|name| name.contains("copilot"));
        let has =
            |is_it: fn(&Node) -> bool| entries_of(self.servers).any(|(_, entry)| is_it(entry));
        if self.place == ["mcp"] {
            return if has(is_opencodes) {
                ClientNotation::Opencode
            } else {
                ClientNotation::Shell
            };
        }
        let is_dollars = matches!(folder, Some(".gemini" | ".copilot")) || is_copilots;
        // Copilot CLI alone lists the tools of a server under this name.
        if is_dollars || has(|entry| list_at(entry, "tools").is_some()) {
            return ClientNotation::Dollars;
        }
        ClientNotation::Braces
    }
}

fn folder_name(path: &Path) -> Option<&str> {
    path.parent()?.file_name()?.to_str()
}

/// The entries of a table of servers.
fn entries_of(servers: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let entries = match &servers.value {
        Value::Table(entries) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|entry| (entry.key.as_str(), &entry.node))
}

fn is_server(entry: &Node) -> bool {
    ["type", "command", "url"].iter().any(|key| entry.get(key).is_some())
}

/// Whether only opencode would write an entry so.
fn is_opencodes(entry: &Node) -> bool {
    let kind = entry.get("type").map(|node| &node.value);
    matches!(kind, Some(Value::Text(kind)) if kind == "local" || kind == "remote")
        || list_at(entry, "command").is_some()
}

fn list_at<'n>(entry: &'n Node, key: &str) -> Option<&'n [Node]> {
    match entry.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => Some(items),
        _ => None,
    }
}

/// The name that an item of a list gives itself, as in Continue's files, or its place.
fn name_in(item: &Field<'_>) -> String {
    let name = match item.value() {
        Value::Table(entries) => entries.iter().rfind(|entry| entry.key == "name"),
        _ => None,
    };
    match name.map(|entry| &entry.node.value) {
        Some(Value::Text(name)) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => item.key().to_owned(),
    }
}
