//! Which servers a client has switched off outside their entries.
//!
//! Some switches are in no file and so not considered: what VS Code, Cursor and Claude Desktop
//! switch off in their windows, switches for one session, an administrator's bans, and Gemini CLI's
//! `mcp-server-enablement.json`. A server of a `.mcp.json` that nobody has approved yet does not
//! count as switched off.

use std::path::{Path, PathBuf};

use gatefold_located::{Node, Value, parse_json};

use crate::{Environment, files};

/// The largest file that is searched for switches, in bytes.
const FILE_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

/// Claude Code's list for its own servers, in the entry of a project.
const CLAUDE_OWN: &str = "disabledMcpServers";

/// Claude Code's list for the servers of a `.mcp.json`, in the entry of a project and in settings.
const CLAUDE_SHARED: &str = "disabledMcpjsonServers";

#[derive(Default)]
pub(super) struct Switches {
    off: Vec<String>,
    /// Gemini CLI's lists, which ignore case.
    excluded: Vec<String>,
    /// Empty means all.
    allowed: Vec<String>,
}

impl Switches {
    /// The switches for the servers at `place` of the file with this root.
    pub(super) fn of(
        path: &Path,
        environment: &Environment,
        root: &Node,
        place: &[String],
    ) -> Self {
        let mut switches = Self::default();
        let path = environment.directory().join(path);
        match place {
            [projects, project, _] if projects == "projects" => {
                switches.off = claude_entry(root, project, &[CLAUDE_OWN]);
            }
            [_] if path.file_name().is_some_and(|name| name == ".mcp.json") => {
                switches.off = of_shared(&path, environment);
            }
            [servers] if servers == "mcpServers" => {
                switches.off =
                    claude_entry(root, &project_of(environment.directory()), &[CLAUDE_OWN]);
                let gemini = root.get("mcp");
                let list = |key| gemini.map(|node| texts(node, key)).unwrap_or_default();
                switches.excluded = list("excluded");
                switches.allowed = list("allowed");
            }
            _ => {}
        }
        switches
    }

    pub(super) fn is_off(&self, name: &str) -> bool {
        let folded = |list: &[String]| {
            list.iter().any(|one| one.trim().to_lowercase() == name.trim().to_lowercase())
        };
        self.off.iter().any(|one| one == name)
            || folded(&self.excluded)
            || !self.allowed.is_empty() && !folded(&self.allowed)
    }
}

/// The servers of a `.mcp.json` that are off, according to Claude Code's own file and all of its
/// settings.
fn of_shared(path: &Path, environment: &Environment) -> Vec<String> {
    let folder = path.parent().unwrap_or(path);
    let settings = ["settings.json", "settings.local.json"];
    let settings = settings.map(|name| folder.join(".claude").join(name));
    let moved = environment.get_filled("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let home = environment.home();
    let users = moved.clone().or_else(|| home.as_ref().map(|home| home.join(".claude")));
    let users = users.map(|folder| folder.join("settings.json"));
    let of_settings = settings.iter().chain(&users).filter_map(|path| parsed(path));
    let mut off: Vec<_> = of_settings.flat_map(|root| texts(&root, CLAUDE_SHARED)).collect();
    let own = moved.or(home).and_then(|folder| parsed(&folder.join(".claude.json")));
    if let Some(root) = own {
        off.extend(claude_entry(&root, &project_of(folder), &[CLAUDE_OWN, CLAUDE_SHARED]));
    }
    off
}

/// A project's path as Claude Code writes it: without symbolic links.
fn project_of(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.to_string_lossy().into_owned()
}

fn claude_entry(root: &Node, project: &str, lists: &[&str]) -> Vec<String> {
    let entry = root.get("projects").and_then(|projects| projects.get(project));
    lists.iter().flat_map(|list| entry.map(|node| texts(node, list)).unwrap_or_default()).collect()
}

fn texts(node: &Node, key: &str) -> Vec<String> {
    let Some(Value::List(items)) = node.get(key).map(|node| &node.value) else {
        return Vec::new();
    };
    let text = |item: &Node| match &item.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    items.iter().filter_map(text).collect()
}

/// An optional file. One that cannot be read switches nothing off.
fn parsed(path: &Path) -> Option<Node> {
    let text = files::read_text(path, FILE_LIMIT_BYTES).ok()?;
    parse_json(&text).ok()
}
