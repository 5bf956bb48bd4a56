//! What connecting changes in a file of each client.

use std::fmt::Write as _;

use gatefold_clients::{Client, connect};

use crate::fixtures::{all, entries, servers, usual, value};

#[test]
fn each_client_gets_its_documented_shape() {
    let mut out = String::new();
    for client in Client::ALL {
        let file = usual(client);
        for entry in entries(client) {
            let text = connect(&file, None, &entry, &[]).unwrap().text;
            let shape = &servers(&value(file.format, &text), &file)["gatefold"];
            writeln!(out, "{} {shape}", client.id()).unwrap();
        }
    }
    insta::assert_snapshot!(out, @r#"
    claude-code {"type":"stdio","command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    claude-code {"type":"stdio","command":"gatefold","args":["stdio"],"env":{"API_KEY":"${API_KEY}","B_TOKEN":"${B_TOKEN}"}}
    claude-code {"type":"http","url":"http://127.0.0.1:8137/mcp"}
    claude-desktop {"command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    claude-desktop {"command":"gatefold","args":["stdio"]}
    cursor {"command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    cursor {"command":"gatefold","args":["stdio"],"env":{"API_KEY":"${env:API_KEY}","B_TOKEN":"${env:B_TOKEN}"}}
    cursor {"url":"http://127.0.0.1:8137/mcp"}
    vs-code {"type":"stdio","command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    vs-code {"type":"stdio","command":"gatefold","args":["stdio"],"env":{"API_KEY":"${env:API_KEY}","B_TOKEN":"${env:B_TOKEN}"}}
    vs-code {"type":"http","url":"http://127.0.0.1:8137/mcp"}
    windsurf {"command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    windsurf {"command":"gatefold","args":["stdio"],"env":{"API_KEY":"${env:API_KEY}","B_TOKEN":"${env:B_TOKEN}"}}
    windsurf {"serverUrl":"http://127.0.0.1:8137/mcp"}
    codex {"args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"],"command":"/usr/local/bin/gatefold"}
    codex {"args":["stdio"],"command":"gatefold","env_vars":["API_KEY","B_TOKEN"]}
    codex {"url":"http://127.0.0.1:8137/mcp"}
    zed {"command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    zed {"command":"gatefold","args":["stdio"]}
    zed {"url":"http://127.0.0.1:8137/mcp"}
    gemini-cli {"command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    gemini-cli {"command":"gatefold","args":["stdio"],"env":{"API_KEY":"$API_KEY","B_TOKEN":"$B_TOKEN"}}
    gemini-cli {"httpUrl":"http://127.0.0.1:8137/mcp"}
    goose {"enabled":true,"type":"stdio","name":"gatefold","description":"MCP servers behind Gatefold","cmd":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"],"timeout":300}
    goose {"enabled":true,"type":"stdio","name":"gatefold","description":"MCP servers behind Gatefold","cmd":"gatefold","args":["stdio"],"timeout":300}
    goose {"enabled":true,"type":"streamable_http","name":"gatefold","description":"MCP servers behind Gatefold","uri":"http://127.0.0.1:8137/mcp","timeout":300}
    lm-studio {"command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    lm-studio {"command":"gatefold","args":["stdio"]}
    lm-studio {"url":"http://127.0.0.1:8137/mcp"}
    opencode {"type":"local","command":["/usr/local/bin/gatefold","serve","--config","/home/ada/My \"Files\"/gatefold.toml"],"enabled":true}
    opencode {"type":"local","command":["gatefold","stdio"],"enabled":true,"environment":{"API_KEY":"{env:API_KEY}","B_TOKEN":"{env:B_TOKEN}"}}
    opencode {"type":"remote","url":"http://127.0.0.1:8137/mcp","enabled":true}
    crush {"type":"stdio","command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    crush {"type":"stdio","command":"gatefold","args":["stdio"],"env":{"API_KEY":"$API_KEY","B_TOKEN":"$B_TOKEN"}}
    crush {"type":"http","url":"http://127.0.0.1:8137/mcp"}
    continue {"name":"gatefold","command":"/usr/local/bin/gatefold","args":["serve","--config","/home/ada/My \"Files\"/gatefold.toml"]}
    continue {"name":"gatefold","command":"gatefold","args":["stdio"]}
    continue {"name":"gatefold","type":"streamable-http","url":"http://127.0.0.1:8137/mcp"}
    "#);
}

#[test]
fn a_client_says_whether_it_hands_variables_on() {
    for client in Client::ALL {
        let text = connect(&usual(client), None, &entries(client)[1], &[]).unwrap().text;
        assert_eq!(text.contains("API_KEY"), client.refers_to_variables(), "{client}");
    }
}

#[test]
fn a_new_file_is_laid_out_well() {
    let made = |client| connect(&usual(client), None, &entries(client)[0], &[]).unwrap().text;
    let needy = |client| connect(&usual(client), None, &entries(client)[1], &[]).unwrap().text;
    insta::assert_snapshot!(needy(Client::Cursor), @r#"
    {
      "mcpServers": {
        "gatefold": {
          "command": "gatefold",
          "args": ["stdio"],
          "env": {
            "API_KEY": "${env:API_KEY}",
            "B_TOKEN": "${env:B_TOKEN}"
          }
        }
      }
    }
    "#);
    insta::assert_snapshot!(made(Client::VsCode), @r#"
    {
      "servers": {
        "gatefold": {
          "type": "stdio",
          "command": "/usr/local/bin/gatefold",
          "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(made(Client::Codex), @r#"
    [mcp_servers.gatefold]
    command = "/usr/local/bin/gatefold"
    args = ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    "#);
    insta::assert_snapshot!(made(Client::Goose), @r#"
    extensions:
      gatefold:
        enabled: true
        type: stdio
        name: gatefold
        description: MCP servers behind Gatefold
        cmd: /usr/local/bin/gatefold
        args:
        - serve
        - "--config"
        - "/home/ada/My \"Files\"/gatefold.toml"
        timeout: 300
    "#);
}

/// The difference that connecting makes when the second server is taken out.
fn diff(name: &str) -> String {
    let fixture = all().into_iter().find(|fixture| fixture.name == name).unwrap();
    let known = servers(&value(fixture.file.format, &fixture.text), &fixture.file);
    let second: Vec<_> = known.keys().skip(1).take(1).cloned().collect();
    let entry = &entries(fixture.file.client)[0];
    let change = connect(&fixture.file, Some(&fixture.text), entry, &second).unwrap();
    let (before, after) = (fixture.text.replace('\r', ""), change.text.replace('\r', ""));
    let diff = similar::TextDiff::from_lines(&before, &after);
    diff.unified_diff().context_radius(1).to_string()
}

#[test]
fn connecting_claude_code_changes_these_lines() {
    insta::assert_snapshot!(diff("claude-code/claude.json"), @r#"
    @@ -41,15 +41,2 @@
         },
    -    "files": {
    -      "type": "stdio",
    -      "command": "npx",
    -      "args": [
    -        "-y",
    -        "@modelcontextprotocol/server-filesystem",
    -        "/home/ada/Documents",
    -        "/home/ada/With Space"
    -      ],
    -      "env": {
    -        "LOG_LEVEL": "debug"
    -      }
    -    },
         "asana": {
    @@ -61,2 +48,7 @@
           "args": []
    +    },
    +    "gatefold": {
    +      "type": "stdio",
    +      "command": "/usr/local/bin/gatefold",
    +      "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
         }
    "#);
}

#[test]
fn connecting_claude_desktop_changes_these_lines() {
    insta::assert_snapshot!(diff("claude-desktop/windows.json"), @r#"
    @@ -8,5 +8,5 @@
     
    -        "bridge" : {
    -            "command" : "npx.cmd",
    -            "args" : [ "-y", "mcp-remote", "https://remote.example.com/mcp", "--header", "Authorization: Bearer not-a-real-token-0003" ]
    +        "gatefold": {
    +            "command": "/usr/local/bin/gatefold",
    +            "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
             }
    "#);
}

#[test]
fn connecting_cursor_changes_these_lines() {
    insta::assert_snapshot!(diff("cursor/comments.json"), @r#"
    @@ -11,3 +11,7 @@
     
    -      "web": { "url": "http://localhost:8080/mcp", "headers": {} }, /* last */
    +      /* last */
    +      "gatefold": {
    +         "command": "/usr/local/bin/gatefold",
    +         "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +      },
    "#);
}

#[test]
fn connecting_vs_code_changes_these_lines() {
    insta::assert_snapshot!(diff("vs-code/mcp.json"), @r#"
    @@ -20,7 +20,2 @@
     		},
    -		"github": {
    -			"type": "http",
    -			"url": "https://api.example.com/mcp/",
    -			"headers": { "X-Region": "${input:region}" },
    -		},
     		"events": { "type": "sse", "url": "https://events.example.com/sse" },
    @@ -32,2 +27,7 @@
     		},
    +		"gatefold": {
    +			"type": "stdio",
    +			"command": "/usr/local/bin/gatefold",
    +			"args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +		},
     	},
    "#);
}

#[test]
fn connecting_windsurf_changes_these_lines() {
    insta::assert_snapshot!(diff("windsurf/odd.json"), @r#"
    @@ -2,2 +2,5 @@
                                     "env": { "MEMORY_FILE_PATH": "/home/ada/my memory.json" } },
    -                  "search": { "url": "https://search.example.com/mcp", "disabled": false } } }
    +                  "gatefold": {
    +                    "command": "/usr/local/bin/gatefold",
    +                    "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +                  } } }
    "#);
}

#[test]
fn connecting_codex_changes_these_lines() {
    insta::assert_snapshot!(diff("codex/config.toml"), @r#"
    @@ -10,10 +10,2 @@
     
    -[mcp_servers.docs]
    -command = "npx"
    -args = ["-y", "@upstash/context7-mcp"]
    -startup_timeout_sec = 20
    -
    -[mcp_servers.docs.env]
    -CONTEXT7_API_KEY = "not-a-real-key-0006"
    -
     # The design tool answers over HTTP.
    @@ -46,2 +38,6 @@
     
    +[mcp_servers.gatefold]
    +command = "/usr/local/bin/gatefold"
    +args = ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +
     [projects."/home/ada/code/engine"]
    "#);
    insta::assert_snapshot!(diff("codex/dotted.toml"), @r#"
    @@ -8,5 +8,2 @@
     
    -  [mcp_servers.indented]
    -  url = "https://indented.example.com/mcp"
    -
     [history]
    @@ -14,3 +11,4 @@
     
    -[mcp_servers.indented.http_headers]
    -X-Late = "yes"
    \ No newline at end of file
    +[mcp_servers.gatefold]
    +command = "/usr/local/bin/gatefold"
    +args = ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    \ No newline at end of file
    "#);
    insta::assert_snapshot!(diff("codex/inline.toml"), @r#"
    @@ -1,3 +1,3 @@
     model = "o4-mini"
    -mcp_servers = { shell = { command = "shell-mcp", args = ["-l"] }, web = { url = "http://localhost:9000/mcp", http_headers = { A = "b" } } }
    +mcp_servers = { shell = { command = "shell-mcp", args = ["-l"] }, gatefold = { command = "/usr/local/bin/gatefold", args = ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"] } }
    "#);
}

#[test]
fn connecting_zed_changes_these_lines() {
    insta::assert_snapshot!(diff("zed/settings.json"), @r#"
    @@ -14,6 +14,2 @@
         },
    -    "remote": {
    -      "url": "https://remote.example.com/mcp",
    -      "headers": { "Authorization": "Bearer not-a-real-token-0008" },
    -    },
         // Comes with an extension: it has no command here.
    @@ -24,2 +20,6 @@
         "paused": { "enabled": false, "command": "paused-mcp", "args": [] },
    +    "gatefold": {
    +      "command": "/usr/local/bin/gatefold",
    +      "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +    },
       },
    "#);
}

#[test]
fn connecting_gemini_cli_changes_these_lines() {
    insta::assert_snapshot!(diff("gemini-cli/project.json"), @r#"
    @@ -5,3 +5,7 @@
             "lint": { "command": "./scripts/lint mcp.sh" }
    -        , "docs": { "httpUrl": "http://localhost:3000/mcp" }
    +        , 
    +        "gatefold": {
    +            "command": "/usr/local/bin/gatefold",
    +            "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +        }
         }
    "#);
}

#[test]
fn connecting_goose_changes_these_lines() {
    insta::assert_snapshot!(diff("goose/config.yaml"), @r#"
    @@ -11,8 +11,2 @@
         type: builtin
    -  memory:
    -    bundled: true
    -    enabled: false
    -    name: memory
    -    timeout: 300
    -    type: builtin
       # Files of the household.
    @@ -52,2 +46,13 @@
         timeout: 300
    +  gatefold:
    +    enabled: true
    +    type: stdio
    +    name: gatefold
    +    description: MCP servers behind Gatefold
    +    cmd: /usr/local/bin/gatefold
    +    args:
    +    - serve
    +    - "--config"
    +    - "/home/ada/My \"Files\"/gatefold.toml"
    +    timeout: 300
    "#);
    insta::assert_snapshot!(diff("goose/odd.yaml"), @r#"
    @@ -20,3 +20,2 @@
                 Second paragraph.
    -    inline: { type: stdio, name: inline, cmd: inline-mcp, args: [], enabled: true, timeout: 10 }
         hook:   # over HTTP
    @@ -27,2 +26,13 @@
             # its last word
    +    gatefold:
    +        enabled: true
    +        type: stdio
    +        name: gatefold
    +        description: MCP servers behind Gatefold
    +        cmd: /usr/local/bin/gatefold
    +        args:
    +        - serve
    +        - "--config"
    +        - "/home/ada/My \"Files\"/gatefold.toml"
    +        timeout: 300
    "#);
}

#[test]
fn connecting_lm_studio_changes_these_lines() {
    insta::assert_snapshot!(diff("lm-studio/flat.json"), @r#"
    @@ -3,4 +3,7 @@
     "a": { "command": "a-mcp", "timeout": 5000 },
    -"b": { "url": "http://127.0.0.1:5005/mcp" },
    -"c": { "url": "http://127.0.0.1:5006/sse", "disabled": true }
    +"c": { "url": "http://127.0.0.1:5006/sse", "disabled": true },
    +"gatefold": {
    +  "command": "/usr/local/bin/gatefold",
    +  "args": ["serve", "--config", "/home/ada/My \"Files\"/gatefold.toml"]
    +}
     }
    "#);
}
