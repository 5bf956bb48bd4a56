//! Where the files lie on each system.

use std::ffi::OsString;
use std::fmt::Write as _;

use gatefold_clients::{Client, Machine, Os, Scope, Variables, config_files};

fn listed(machine: &Machine) -> String {
    let mut out = String::new();
    for client in Client::ALL {
        for file in config_files(machine, client) {
            let path = file.path.display().to_string().replace('\\', "/");
            let servers = file.servers.join(" > ");
            writeln!(out, "{} {:?} {path} {servers}", client.id(), file.scope).unwrap();
        }
    }
    out
}

fn machine(os: Os, variables: Variables) -> Machine {
    Machine { os, home: "/home/ada".into(), project: "/code/engine".into(), variables }
}

#[test]
fn every_client_has_its_places_on_linux() {
    insta::assert_snapshot!(listed(&machine(Os::Linux, Variables::default())), @r"
    claude-code User /home/ada/.claude.json mcpServers
    claude-code Project /code/engine/.mcp.json mcpServers
    claude-code Project /home/ada/.claude.json projects > /code/engine > mcpServers
    claude-desktop User /home/ada/.config/Claude/claude_desktop_config.json mcpServers
    cursor User /home/ada/.cursor/mcp.json mcpServers
    cursor Project /code/engine/.cursor/mcp.json mcpServers
    vs-code User /home/ada/.config/Code/User/mcp.json servers
    vs-code User /home/ada/.config/Code/User/settings.json mcp > servers
    vs-code Project /code/engine/.vscode/mcp.json servers
    vs-code Project /code/engine/.vscode/settings.json mcp > servers
    windsurf User /home/ada/.codeium/windsurf/mcp_config.json mcpServers
    windsurf User /home/ada/.codeium/mcp_config.json mcpServers
    codex User /home/ada/.codex/config.toml mcp_servers
    codex Project /code/engine/.codex/config.toml mcp_servers
    zed User /home/ada/.config/zed/settings.json context_servers
    zed Project /code/engine/.zed/settings.json context_servers
    gemini-cli User /home/ada/.gemini/settings.json mcpServers
    gemini-cli Project /code/engine/.gemini/settings.json mcpServers
    goose User /home/ada/.config/goose/config.yaml extensions
    lm-studio User /home/ada/.lmstudio/mcp.json mcpServers
    lm-studio User /home/ada/.cache/lm-studio/mcp.json mcpServers
    opencode User /home/ada/.config/opencode/opencode.json mcp
    opencode User /home/ada/.config/opencode/opencode.jsonc mcp
    opencode Project /code/engine/opencode.json mcp
    opencode Project /code/engine/opencode.jsonc mcp
    crush User /home/ada/.config/crush/crush.json mcp
    crush Project /code/engine/.crush.json mcp
    crush Project /code/engine/crush.json mcp
    continue User /home/ada/.continue/mcpServers/mcp.json mcpServers
    continue User /home/ada/.continue/config.yaml mcpServers
    continue Project /code/engine/.continue/mcpServers/mcp.json mcpServers
    ");
}

#[test]
fn some_clients_lie_elsewhere_on_each_system() {
    let here = listed(&machine(Os::Linux, Variables::default()));
    let moved = |os| {
        let there = listed(&machine(os, Variables::default()));
        let differs = |line: &&str| !here.contains(line);
        there.lines().filter(differs).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(moved(Os::MacOs), @r"
    claude-desktop User /home/ada/Library/Application Support/Claude/claude_desktop_config.json mcpServers
    vs-code User /home/ada/Library/Application Support/Code/User/mcp.json servers
    vs-code User /home/ada/Library/Application Support/Code/User/settings.json mcp > servers
    ");
    insta::assert_snapshot!(moved(Os::Windows), @r"
    claude-desktop User /home/ada/AppData/Roaming/Claude/claude_desktop_config.json mcpServers
    vs-code User /home/ada/AppData/Roaming/Code/User/mcp.json servers
    vs-code User /home/ada/AppData/Roaming/Code/User/settings.json mcp > servers
    zed User /home/ada/AppData/Roaming/Zed/settings.json context_servers
    goose User /home/ada/AppData/Roaming/Block/goose/config/config.yaml extensions
    crush User /home/ada/AppData/Local/crush/crush.json mcp
    ");
}

#[test]
fn variables_move_files_unless_they_are_empty() {
    let set = |name: &str| match name {
        "XDG_CONFIG_HOME" => Some("/xdg".into()),
        "CLAUDE_CONFIG_DIR" => Some("/claude".into()),
        "CODEX_HOME" => Some(OsString::new()),
        _ => None,
    };
    let listed = listed(&machine(Os::Linux, Variables::read(set)));
    for line in [
        "claude-code User /claude/.claude.json mcpServers",
        "claude-code Project /claude/.claude.json projects > /code/engine > mcpServers",
        "claude-desktop User /xdg/Claude/claude_desktop_config.json mcpServers",
        "codex User /home/ada/.codex/config.toml mcp_servers",
        "goose User /xdg/goose/config.yaml extensions",
    ] {
        assert!(listed.contains(line), "{line}\n{listed}");
    }
}

#[test]
fn a_relative_xdg_folder_is_ignored() {
    let variables = Variables::read(|name| (name == "XDG_CONFIG_HOME").then(|| "here".into()));
    assert_eq!(variables.xdg_config_home, None);
}

#[test]
fn every_client_has_a_place_for_the_user() {
    for os in [Os::Linux, Os::MacOs, Os::Windows] {
        for client in Client::ALL {
            let files = config_files(&machine(os, Variables::default()), client);
            assert_eq!(files[0].scope, Scope::User, "{client}");
        }
    }
}
