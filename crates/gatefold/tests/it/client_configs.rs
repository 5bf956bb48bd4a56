//! Configuration files of MCP clients, as clients write them.

use gatefold::config::SourceConfig;
use gatefold::config::kinds::{Need, ProgramNeed, ServerNeed};

use crate::scratch::json;

/// One line per source: its domain, then how it is reached. Only this test prints secrets.
fn line(source: &SourceConfig) -> String {
    let domain = &source.domain;
    let pairs = |pairs: &[(String, gatefold_core::Secret)]| {
        let shown = pairs.iter().map(|(name, value)| format!(" {name}={}", value.expose()));
        shown.collect::<Vec<_>>().concat()
    };
    if let Some(why) = source.section.fault() {
        return format!("{domain}: unusable: {}", why.on_one_line());
    }
    match source.section.need() {
        Some(Need::Program(ProgramNeed { command, args, env, cwd })) => {
            let cwd = cwd.map(|cwd| format!(" in {}", cwd.display())).unwrap_or_default();
            format!("{domain}: {command} {args:?}{}{cwd}", pairs(env))
        }
        Some(Need::Server(ServerNeed { url, headers, .. })) => {
            format!("{domain}: {url}{}", pairs(headers))
        }
        None => format!("{domain}: disabled"),
    }
}

fn lines(text: &str) -> String {
    let config = json(text).unwrap();
    config.sources.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn claude_desktop_and_claude_code() {
    insta::assert_snapshot!(lines(r#"{
      "globalShortcut": "",
      "mcpServers": {
        "filesystem": {"command": "npx", "args": ["-y", "server-filesystem", "/home/ann/My Files"]},
        "api": {"type": "http", "url": "${BASE:-https://api.example}/mcp",
                "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "old": {"type": "sse", "url": "https://old.example/sse"},
        "Brave Search": {"type": "stdio", "command": "brave", "args": [], "env": {"KEY": "${TOKEN}"}}
      }
    }"#), @r#"
    filesystem: npx ["-y", "server-filesystem", "/home/ann/My Files"]
    api: https://api.example/mcp Authorization=Bearer s3cret
    old: unusable: `mcpServers.old` speaks HTTP+SSE, which Gatefold does not support yet; use the server's streamable HTTP address with `"type": "http"` (mcp.json:7:16)
    brave_search: brave [] KEY=s3cret
    "#);
}

#[test]
fn cursor_and_windsurf_with_comments_and_trailing_commas() {
    insta::assert_snapshot!(lines(r#"{
      // project servers
      "mcpServers": {
        "linear": {"serverUrl": "https://mcp.linear.example/mcp", "disabled": false},
        "cursor": {"url": "https://c.example/mcp", "headers": {"X-Key": "${env:TOKEN}"}, },
        "off": {"command": "x", "disabled": true, "disabledTools": ["a"]},
        "home": {"command": "${userHome}/bin/x", "env": {"N": 5, "B": true}, "alwaysAllow": []}, /* end */
      },
    }"#), @r#"
    linear: https://mcp.linear.example/mcp
    cursor: https://c.example/mcp X-Key=s3cret
    off: disabled
    home: /home/ann/bin/x [] N=5 B=true
    "#);
}

#[test]
fn vs_code_with_inputs() {
    insta::assert_snapshot!(lines(r#"{
      "inputs": [{"type": "promptString", "id": "token", "password": true}],
      "servers": {
        "github": {"type": "http", "url": "https://gh.example/mcp/",
                   "headers": {"Authorization": "Bearer ${input:token}"}},
        "db": {"type": "stdio", "command": "uvx", "args": ["db", "${input:db-url}"]},
        "local": {"command": "node", "args": ["x.js"], "cwd": "/srv", "envFile": ".env"}
      }
    }"#), @r#"
    github: https://gh.example/mcp/ Authorization=Bearer s3cret
    db: unusable: `servers.db.args[1]` needs the variable `DB_URL`, which is not set; set `DB_URL`, or give a default: `${DB_URL:-...}` (mcp.json:6:66)
    local: unusable: `local` takes its variables from `.env`, which Gatefold does not read; write what the file sets into the server's `env` (mcp.json:7:1)
    "#);
    assert_eq!(lines(r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#), "a: x []");
}

#[test]
fn zed_with_command_objects() {
    insta::assert_snapshot!(lines(r#"{
      "theme": "One Dark",
      "context_servers": {
        "pg": {"source": "custom", "command": {"path": "pg-mcp", "args": ["--ro"], "env": {"A": "b"}}, "settings": {}},
        "flat": {"source": "custom", "command": "x", "args": ["y"], "env": null},
        "extension": {"source": "extension", "settings": {}},
        "off": {"enabled": false, "command": {"path": "x"}}
      }
    }"#), @r#"
    pg: pg-mcp ["--ro"] A=b
    flat: x ["y"]
    extension: unusable: `context_servers.extension` has neither `command` nor `url`; name the program or the address; a server that an editor's extension starts has to be written out here (mcp.json:6:22)
    off: disabled
    "#);
}

#[test]
fn gemini_and_others() {
    insta::assert_snapshot!(lines(r#"{
      "mcpServers": {
        "http": {"httpUrl": "http://localhost:3000/mcp", "timeout": 5000, "trust": true},
        "list": {"type": "local", "command": ["bun", "x", "server"]},
        "stream": {"transport": "streamable-http", "url": "https://s.example"},
        "both": {"type": "stdio", "command": "x", "url": "http://unused.example"}
      }
    }"#), @r#"
    http: http://localhost:3000/mcp
    list: bun ["x", "server"]
    stream: https://s.example
    both: x []
    "#);
}

#[test]
fn a_server_that_cannot_be_used_says_why_and_leaves_the_others_alone() {
    insta::assert_snapshot!(lines(r#"{
      "mcpServers": {
        "good": {"command": "x"},
        "number": 5,
        "command": {"command": 5},
        "variable": {"command": "x", "env": {"A": "${MISSING}"}},
        "url": {"url": "host.example"},
        "header": {"url": "http://h", "headers": {"A": "${BREAK}"}},
        "socket": {"type": "ws", "url": "ws://h"},
        "empty": {"command": []},
        "nothing": {}
      }
    }"#), @r#"
    good: x []
    number: unusable: `mcpServers.number` is a number, not an object; put its members in braces: {...} (mcp.json:4:19)
    command: unusable: `mcpServers.command.command` is a number, not a string; put it in quotes (mcp.json:5:32)
    variable: unusable: `mcpServers.variable.env.A` needs the variable `MISSING`, which is not set; set `MISSING`, or give a default: `${MISSING:-...}` (mcp.json:6:51)
    url: unusable: `mcpServers.url.url` has no `http` scheme; write the whole address, such as "https://host.example/mcp" (mcp.json:7:24)
    header: unusable: `mcpServers.header.headers.A` has a value that no header may have; check it, and the variables in it, for line breaks and other control characters (mcp.json:8:56)
    socket: unusable: `mcpServers.socket` speaks over a WebSocket, which MCP does not define; use HTTP (mcp.json:9:19)
    empty: unusable: `mcpServers.empty.command` is empty; name the program to start (mcp.json:10:30)
    nothing: unusable: `mcpServers.nothing` has neither `command` nor `url`; name the program or the address; a server that an editor's extension starts has to be written out here (mcp.json:11:20)
    "#);
}

#[test]
fn lists_of_tools_become_rules() {
    let config = json(
        r#"{"mcpServers": {"a": {"command": "x", "includeTools": ["get_*"], "excludeTools": ["get_b"]}}}"#,
    );
    let text = format!("{:?}", config.unwrap().policy);
    assert!(
        text.contains("sources.a.allow:tool:get_*") && text.contains("sources.a.deny:tool:get_b"),
        "{text}"
    );
}
