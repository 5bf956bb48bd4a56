//! Configuration files of MCP clients, as clients write them.

use std::time::Duration;

use gatefold::config::kinds::{Need, ProgramNeed, ServerNeed};
use gatefold::config::{Inputs, SourceConfig};

use crate::scratch::{Scratch, json};

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

/// The notes of each source, a line each.
fn notes(text: &str) -> String {
    let config = json(text).unwrap();
    let notes = config.sources.iter().flat_map(|source| {
        source.notes.iter().map(move |note| format!("{}: {note}", source.origin.key))
    });
    notes.collect::<Vec<_>>().join("\n")
}

#[test]
fn opencode_and_crush() {
    insta::assert_snapshot!(lines(r#"{
      // one list, and references of its own
      "mcp": {
        "files": {"type": "local", "command": ["npx", "-y", "files"], "enabled": true, "environment": {"LOG": "{env:TOKEN}/log", "SH": "${TOKEN}"}},
        "tickets": {"type": "remote", "url": "https://t.example/mcp", "headers": {"Authorization": "Bearer {env:TOKEN}"}, "oauth": false},
        "notes": {"type": "remote", "url": "https://n.example/mcp", "headers": {"X-Key": "{file:~/.secrets/notes}"}},
        "off": {"type": "remote", "url": "https://n.example/mcp", "enabled": false},
      }
    }"#), @r#"
    files: npx ["-y", "files"] LOG=s3cret/log SH=${TOKEN}
    tickets: https://t.example/mcp Authorization=Bearer s3cret
    notes: unusable: `mcp.notes.headers.X-Key` takes its value from the file `~/.secrets/notes`, which is not read here; write `${NAME}`, and set the variable `NAME` to what the file holds (mcp.json:6:90)
    off: disabled
    "#);
    insta::assert_snapshot!(lines(r#"{"mcp": {
        "tickets": {"type": "http", "url": "https://t.example/mcp", "timeout": 120, "headers": {"Authorization": "Bearer $TOKEN"}},
        "files": {"type": "stdio", "command": "npx", "args": ["files"], "env": {"PASSWORD": "pa$word"}},
        "shell": {"type": "stdio", "command": "npx", "env": {"KEY": "$(pass show key)"}}
    }}"#), @r#"
    tickets: https://t.example/mcp Authorization=Bearer s3cret
    files: npx ["files"] PASSWORD=pa$word
    shell: unusable: `mcp.shell.env.KEY` takes its value from a command, `$(...)`, which is not run here; write `${NAME}`, and set the variable `NAME` to what the command prints (mcp.json:4:69)
    "#);
}

#[test]
fn a_list_of_servers_with_their_names_in_them() {
    insta::assert_snapshot!(lines(r#"{
      "name": "Ours",
      "mcpServers": [
        {"name": "Time of day", "command": "uvx", "args": ["mcp-server-time"]},
        {"name": "Tickets", "type": "streamable-http", "url": "https://t.example/mcp",
         "requestOptions": {"headers": {"Authorization": "Bearer ${{ secrets.TOKEN }}"}, "verifySsl": false}},
        {"uses": "someone/bundle"}
      ]
    }"#), @r#"
    time_of_day: uvx ["mcp-server-time"]
    tickets: https://t.example/mcp Authorization=Bearer s3cret
    mcpservers_2: unusable: `mcpServers[2]` has neither `command` nor `url`; name the program or the address; a server that an editor's extension starts has to be written out here (mcp.json:7:9)
    "#);
}

#[test]
fn a_list_of_tools_is_what_may_be_called() {
    for (tools, expected) in [
        (r#"["read", "env"]"#, vec!["allow:tool:read", "allow:tool:env"]),
        (r#"["*"]"#, vec![]),
        (r#""*""#, vec![]),
        ("[]", vec!["deny:tool:*"]),
    ] {
        let text = format!(r#"{{"mcpServers": {{"a": {{"command": "x", "tools": {tools}}}}}}}"#);
        let config = json(&text).unwrap();
        let rules: Vec<_> = config.policy.rules().iter().map(|rule| rule.id.to_string()).collect();
        let expected: Vec<_> = expected.iter().map(|rule| format!("sources.a.{rule}")).collect();
        assert_eq!(rules, expected, "{tools}");
        assert_eq!(config.sources[0].notes, [""; 0], "{tools}");
    }
}

#[test]
fn what_is_not_taken_over_is_named() {
    assert_eq!(
        notes(
            r#"{"mcpServers": {
            "a": {"command": "x", "environment": {"A": "b"}, "sandbox": {"x": 1}, "retries": 3,
                  "timeout": 5, "gallery": "https://g.example", "version": "1.0.0"},
            "b": {"command": "x", "env": {"A": "b"}, "environment": {"C": "d"}, "tools": {"t": {"ask": true}}},
            "c": {"url": "https://c.example/mcp", "requestOptions": {"verifySsl": false}},
            "d": {"command": "x", "env": {"A": "$TOKEN", "PASSWORD": "pa$word"}}
        }}"#
        ),
        "a: only for the client's display: `gallery`, `version`\n\
         a: `sandbox` is not taken over\n\
         a: `retries` is not taken over\n\
         a: `timeout` is not taken over\n\
         b: `environment` is not taken over\n\
         b: `tools` is not taken over\n\
         c: `requestOptions.verifySsl` is not taken over\n\
         d: a value that is `$` and a name is passed on as it is; write `${NAME}` if the variable is meant"
    );
}

/// The limits of a call and of the start that `timeout` and the like become, in milliseconds, and the notes.
#[track_caller]
fn check_limits(path: &str, entry: &str, call: Option<u64>, start: Option<u64>, notes: &[&str]) {
    let scratch = Scratch::new();
    let inputs = Inputs { mcp_configs: vec![path.into()], ..Inputs::default() };
    let config = scratch.write(path, entry).load(&inputs).unwrap();
    let source = &config.sources[0];
    let millis = |limit: Duration| u64::try_from(limit.as_millis()).unwrap();
    assert_eq!(source.call_deadline.map(millis), call, "{path}: {entry}");
    let usual =
        json(r#"{"mcpServers": {"a": {"command": "x"}}}"#).unwrap().sources[0].connect_deadline;
    let expected = start.map_or(usual, Duration::from_millis);
    assert_eq!(source.connect_deadline, expected, "{path}: {entry}");
    assert_eq!(source.notes, notes, "{path}: {entry}");
}

#[test]
fn a_clients_limit_is_taken_over_where_its_unit_is_known() {
    let entry = |rest: &str| format!(r#"{{"mcpServers": {{"a": {{"command": "x", {rest}}}}}}}"#);
    let named = ["`timeout` is not taken over"];
    check_limits("mcp.json", &entry(r#""timeout": 5000"#), None, None, &named);
    let gemini = ".gemini/settings.json";
    check_limits(gemini, &entry(r#""timeout": 5000"#), Some(5000), None, &[]);
    check_limits(gemini, &entry(r#""timeout": 1e9"#), None, None, &named);
    let cline = "cline_mcp_settings.json";
    check_limits(cline, &entry(r#""timeout": 120"#), Some(120_000), None, &[]);
    let continues = r#""connectionTimeout": 7000"#;
    check_limits("mcp.json", &entry(continues), None, Some(7000), &[]);
    let opencode = r#"{"mcp": {"a": {"type": "local", "command": ["x"], "timeout": 3000}}}"#;
    check_limits("opencode.json", opencode, None, Some(3000), &[]);
    let crush = r#"{"mcp": {"a": {"type": "stdio", "command": "x", "timeout": 120}}}"#;
    check_limits("crush.json", crush, None, None, &named);
}

#[test]
fn each_question_has_a_variable_of_its_own() {
    let text = r#"{
      "inputs": [
        {"id": "api-key", "type": "promptString", "password": true},
        {"id": "api_key", "type": "promptString", "password": true},
        {"id": "path", "type": "promptString"},
        {"id": "键", "type": "promptString", "default": "f"},
        {"id": "empty", "type": "promptString", "default": ""},
        {"id": "region", "type": "pickString", "options": ["eu", "us"], "default": "eu"}
      ],
      "servers": {
        "a": {"command": "x", "args": ["${input:api-key}"]},
        "b": {"command": "x", "args": ["${input:api_key}"]},
        "c": {"command": "x", "args": ["${input:path}"]},
        "d": {"command": "x", "args": ["${input:键}", "${input:empty}", "${input:region}"]},
        "e": {"command": "x", "args": ["${input:nobody-asks}"]}
      }
    }"#;
    let lines = lines(text);
    for expected in [
        "`API_KEY`, which is not set",
        "`API_KEY_2`, which is not set",
        "`INPUT_PATH`, which is not set",
        r#"d: x ["f", "", "eu"]"#,
        "`NOBODY_ASKS`, which is not set",
    ] {
        assert!(lines.contains(expected), "{expected}\n{lines}");
    }
    let note = "e: no entry of `inputs` declares `nobody-asks`; set the variable `NOBODY_ASKS`";
    assert_eq!(notes(text), note);
}

#[test]
fn the_shell_of_windows_is_taken_off() {
    let text = r#"{"mcpServers": {
        "a": {"command": "cmd", "args": ["/c", "npx", "-y", "some-server", "C:\\notes"]},
        "b": {"command": "C:\\Windows\\System32\\CMD.EXE", "args": ["/d", "/C", "npx -y some-server"]},
        "c": {"command": "cmd", "args": ["/c"]},
        "d": {"command": "cmd", "args": ["x", "/c", "y"]}
    }}"#;
    let line = "it is written for Windows: `cmd /c` was left out";
    assert_eq!(notes(text), format!("a: {line}\nb: {line}"));
    insta::assert_snapshot!(lines(text), @r#"
    a: npx ["-y", "some-server", "C:\\notes"]
    b: npx ["-y", "some-server"]
    c: cmd ["/c"]
    d: cmd ["x", "/c", "y"]
    "#);
}

#[test]
fn a_name_that_cannot_be_a_domain_is_told_with_what_it_became() {
    let text = r#"{"mcpServers": {"文件": {"command": "x"}, "📁": {"command": "x"}, "Файлы": {"command": "x"},
        "team.files/shared": {"command": "x"}, "team files shared": {"command": "x"}}}"#;
    let config = json(text).unwrap();
    let domains: Vec<_> = config.sources.iter().map(|source| source.domain.as_str()).collect();
    let cyrillic = "u424_u430_u439_u43b_u44b";
    assert_eq!(
        domains,
        ["u6587_u4ef6", "u1f4c1", cyrillic, "team_files_shared", "team_files_shared_2"]
    );
    let why = "a domain has only `a-z`, `0-9` and `_`, and no two are the same";
    let told = |key: &str, domain: &str| format!("{key}: it is called `{domain}`: {why}");
    assert_eq!(
        notes(text),
        [
            told("文件", "u6587_u4ef6"),
            told("📁", "u1f4c1"),
            told("Файлы", cyrillic),
            told("team files shared", "team_files_shared_2"),
        ]
        .join("\n")
    );
}
