//! Where each client keeps its list of servers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Client;

/// What determines where a client's files are.
#[derive(Debug, Clone)]
pub struct Machine {
    pub os: Os,
    /// The user's home folder.
    pub home: PathBuf,
    /// The project's folder, absolute and without symbolic links where possible.
    pub project: PathBuf,
    pub variables: Variables,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Os {
    Linux,
    MacOs,
    Windows,
}

/// The variables that move a client's files. An empty one counts as unset.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// `XDG_CONFIG_HOME`; a relative path is not valid there and is ignored.
    pub xdg_config_home: Option<PathBuf>,
    /// `APPDATA`.
    pub app_data: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude_config_dir: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
}

impl Variables {
    /// The variables as `look_up` knows them, usually the environment of the process.
    pub fn read(look_up: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| look_up(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Self {
            xdg_config_home: path("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute()),
            app_data: path("APPDATA"),
            claude_config_dir: path("CLAUDE_CONFIG_DIR"),
            codex_home: path("CODEX_HOME"),
        }
    }
}

/// Whom a file's servers are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// The user, in every project.
    User,
    /// One project.
    Project,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// With comments and trailing commas.
    Json,
    Toml,
    Yaml,
}

/// One place where a client looks for servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    pub client: Client,
    pub scope: Scope,
    pub path: PathBuf,
    pub format: Format,
    /// The members that lead to the table of servers, outermost first.
    pub servers: Vec<String>,
}

/// All places where `client` looks for servers, whether they exist or not.
///
/// A new entry goes into the first of its scope. The others are older or rarer places that the
/// client also reads. A file may be listed twice, with different members.
pub fn config_files(machine: &Machine, client: Client) -> Vec<ConfigFile> {
    let at = |scope, path: PathBuf, format, servers: &[&str]| {
        let servers = servers.iter().map(|&member| member.to_owned()).collect();
        ConfigFile { client, scope, path, format, servers }
    };
    let user = |path, servers: &[&str]| at(Scope::User, path, Format::Json, servers);
    let project = |path: &[&str], servers: &[&str]| {
        at(Scope::Project, below(&machine.project, path), Format::Json, servers)
    };
    let home = |path: &[&str]| below(&machine.home, path);
    let in_mcp = |scope, path| at(scope, path, Format::Json, &["mcp"]);
    match client {
        Client::ClaudeCode => {
            let folder = machine.variables.claude_config_dir.as_ref().unwrap_or(&machine.home);
            let path = folder.join(".claude.json");
            let here = machine.project.to_string_lossy();
            vec![
                user(path.clone(), &["mcpServers"]),
                project(&[".mcp.json"], &["mcpServers"]),
                at(Scope::Project, path, Format::Json, &["projects", &here, "mcpServers"]),
            ]
        }
        Client::ClaudeDesktop => {
            let folder = application_folder(machine).join("Claude");
            vec![user(folder.join("claude_desktop_config.json"), &["mcpServers"])]
        }
        Client::Cursor => vec![
            user(home(&[".cursor", "mcp.json"]), &["mcpServers"]),
            project(&[".cursor", "mcp.json"], &["mcpServers"]),
        ],
        Client::VsCode => {
            let folder = below(&application_folder(machine), &["Code", "User"]);
            vec![
                user(folder.join("mcp.json"), &["servers"]),
                user(folder.join("settings.json"), &["mcp", "servers"]),
                project(&[".vscode", "mcp.json"], &["servers"]),
                project(&[".vscode", "settings.json"], &["mcp", "servers"]),
            ]
        }
        Client::Windsurf => vec![
            user(home(&[".codeium", "windsurf", "mcp_config.json"]), &["mcpServers"]),
            user(home(&[".codeium", "mcp_config.json"]), &["mcpServers"]),
        ],
        Client::Codex => {
            let folder = machine.variables.codex_home.clone();
            let path = folder.unwrap_or_else(|| home(&[".codex"])).join("config.toml");
            let shared = below(&machine.project, &[".codex", "config.toml"]);
            vec![
                at(Scope::User, path, Format::Toml, &["mcp_servers"]),
                at(Scope::Project, shared, Format::Toml, &["mcp_servers"]),
            ]
        }
        Client::Zed => vec![
            user(zed_folder(machine).join("settings.json"), &["context_servers"]),
            project(&[".zed", "settings.json"], &["context_servers"]),
        ],
        Client::GeminiCli => vec![
            user(home(&[".gemini", "settings.json"]), &["mcpServers"]),
            project(&[".gemini", "settings.json"], &["mcpServers"]),
        ],
        Client::Goose => vec![at(Scope::User, goose_file(machine), Format::Yaml, &["extensions"])],
        Client::LmStudio => vec![
            user(home(&[".lmstudio", "mcp.json"]), &["mcpServers"]),
            user(home(&[".cache", "lm-studio", "mcp.json"]), &["mcpServers"]),
        ],
        Client::Opencode => opencode_files(machine).map(|(scope, path)| in_mcp(scope, path)).into(),
        Client::Crush => crush_files(machine).map(|(scope, path)| in_mcp(scope, path)).into(),
        Client::Continue => {
            continue_files(machine, |scope, path, format| at(scope, path, format, &["mcpServers"]))
        }
    }
}

fn continue_files(
    machine: &Machine,
    file: impl Fn(Scope, PathBuf, Format) -> ConfigFile,
) -> Vec<ConfigFile> {
    let own = |folder: &Path| below(folder, &[".continue", "mcpServers", "mcp.json"]);
    let config = below(&machine.home, &[".continue", "config.yaml"]);
    vec![
        file(Scope::User, own(&machine.home), Format::Json),
        file(Scope::User, config, Format::Yaml),
        file(Scope::Project, own(&machine.project), Format::Json),
    ]
}

/// Further places where a client looks for servers, which are read and never edited: Continue's
/// folders, in which each file is one of its own, and the format that its `config.yaml` replaced.
/// `list` gives the files in a folder.
pub fn read_only_files(
    machine: &Machine,
    client: Client,
    list: impl Fn(&Path) -> Vec<PathBuf>,
) -> Vec<ConfigFile> {
    if client != Client::Continue {
        return Vec::new();
    }
    let at = |scope, path, format, servers: &[&str]| ConfigFile {
        client,
        scope,
        path,
        format,
        servers: servers.iter().map(|&member| member.to_owned()).collect(),
    };
    let mut files = Vec::new();
    for (scope, folder) in [(Scope::User, &machine.home), (Scope::Project, &machine.project)] {
        let mut paths = list(&below(folder, &[".continue", "mcpServers"]));
        paths.sort();
        files.extend(paths.into_iter().filter_map(|path| {
            let format = match path.extension()?.to_str()? {
                "json" => Format::Json,
                "yaml" | "yml" => Format::Yaml,
                _ => return None,
            };
            Some(at(scope, path, format, &["mcpServers"]))
        }));
    }
    let old = below(&machine.home, &[".continue", "config.json"]);
    let servers = ["experimental", "modelContextProtocolServers"];
    // Continue ignores it beside a `config.yaml`, which is then the one that counts.
    files.push(at(Scope::User, old, Format::Json, &servers));
    files
}

/// Where desktop programs built on Electron keep their data, including Claude Desktop and VS Code.
fn application_folder(machine: &Machine) -> PathBuf {
    match machine.os {
        Os::Linux => xdg_folder(machine),
        Os::MacOs => below(&machine.home, &["Library", "Application Support"]),
        Os::Windows => roaming_folder(machine),
    }
}

/// By Zed's page on configuration: the XDG folder on Linux, `~/.config` on macOS whatever the
/// variable says.
fn zed_folder(machine: &Machine) -> PathBuf {
    match machine.os {
        Os::Linux => xdg_folder(machine).join("zed"),
        Os::MacOs => below(&machine.home, &[".config", "zed"]),
        Os::Windows => roaming_folder(machine).join("Zed"),
    }
}

/// By Goose's page on its configuration files: `~/.config` on macOS too.
fn goose_file(machine: &Machine) -> PathBuf {
    let folder = match machine.os {
        Os::Linux | Os::MacOs => xdg_folder(machine).join("goose"),
        Os::Windows => below(&roaming_folder(machine), &["Block", "goose", "config"]),
    };
    folder.join("config.yaml")
}

/// By opencode's page on configuration.
fn opencode_files(machine: &Machine) -> [(Scope, PathBuf); 4] {
    let folder = xdg_folder(machine).join("opencode");
    [
        (Scope::User, folder.join("opencode.json")),
        (Scope::User, folder.join("opencode.jsonc")),
        (Scope::Project, machine.project.join("opencode.json")),
        (Scope::Project, machine.project.join("opencode.jsonc")),
    ]
}

/// By Crush's page on configuration.
fn crush_files(machine: &Machine) -> [(Scope, PathBuf); 3] {
    let folder = match machine.os {
        Os::Linux | Os::MacOs => xdg_folder(machine).join("crush"),
        Os::Windows => below(&machine.home, &["AppData", "Local", "crush"]),
    };
    [
        (Scope::User, folder.join("crush.json")),
        (Scope::Project, machine.project.join(".crush.json")),
        (Scope::Project, machine.project.join("crush.json")),
    ]
}

fn xdg_folder(machine: &Machine) -> PathBuf {
    let set = machine.variables.xdg_config_home.clone();
    set.unwrap_or_else(|| machine.home.join(".config"))
}

fn roaming_folder(machine: &Machine) -> PathBuf {
    let set = machine.variables.app_data.clone();
    set.unwrap_or_else(|| below(&machine.home, &["AppData", "Roaming"]))
}

fn below(folder: &Path, names: &[&str]) -> PathBuf {
    names.iter().fold(folder.to_owned(), |path, name| path.join(name))
}
