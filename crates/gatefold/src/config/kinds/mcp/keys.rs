use gatefold_config::ForeignKey;

use crate::config::key::{Key, Kind};
use crate::config::kinds::{allow_private, credentials, oauth};

/// Other programs' names for the keys of an MCP server.
pub(super) const FOREIGN_KEYS: &[ForeignKey] = &[
    ForeignKey { name: "serverUrl", own: "url", hint: "write `url`" },
    ForeignKey { name: "httpUrl", own: "url", hint: "write `url`" },
    ForeignKey { name: "type", own: "command", hint: REACHED },
    ForeignKey { name: "transport", own: "command", hint: REACHED },
    ForeignKey { name: "environment", own: "env", hint: "write `env`" },
    ForeignKey { name: "workingDirectory", own: "cwd", hint: "write `cwd`" },
];

const REACHED: &str = "remove it: `command` or `url` says how a source is reached";

pub(super) const KEYS: &[Key] = &[
    Key {
        details: "Only the program: its arguments go into `args`. A name without `/` is \
                  looked up in `PATH`.",
        example: "\"npx\"",
        ..Key::new("command", Kind::Text, "The program to start.")
    },
    Key {
        unset: "none",
        example: "[\"-y\", \"@modelcontextprotocol/server-filesystem\", \"notes\"]",
        needs: &["command"],
        ..Key::new("args", Kind::Arguments, "The program's arguments.")
    },
    Key {
        details: "Otherwise it only gets `PATH`, `HOME`, the locale, proxies, caches and \
                  what `inherit_env` names. Take secrets from variables: `${VAR}`. The values \
                  are never shown.",
        unset: "none",
        example: "{ NAME = \"value\" }",
        needs: &["command"],
        ..Key::new("env", Kind::Variables, "Environment variables for the program.")
    },
    Key {
        unset: "none",
        example: "[\"DISPLAY\"]",
        needs: &["command"],
        ..Key::new(
            "inherit_env",
            Kind::Texts,
            "Names of variables to pass on from Gatefold's own environment.",
        )
    },
    Key {
        unset: "Gatefold's own",
        example: "\".\"",
        needs: &["command"],
        ..Key::new("cwd", Kind::Path, "The directory that the program starts in.")
    },
    Key {
        details: "The server speaks streamable HTTP there. Parts that may be secret are never \
                  shown.",
        example: "\"https://host.example/mcp\"",
        ..Key::new("url", Kind::Url, "The address of a server over HTTP.")
    },
    Key {
        details: "The values are never shown.",
        unset: "none",
        example: "{ X-Team = \"support\" }",
        needs: &["url"],
        ..Key::new("headers", Kind::Headers, "Headers that every request carries.")
    },
    allow_private::key(&["url"]),
    oauth::oauth_key(&["url"]),
    credentials::key(&["url"]),
    Key {
        details: "`handshake`: a session that begins with `initialize`, in versions up to 2025-11-25. \
                  `stateless`: version 2026-07-28. `auto` finds out what the server speaks; one that \
                  speaks both is called in the era of the client.",
        unset: "`auto`",
        needs: &["command", "url"],
        example: "\"handshake\"",
        ..Key::new(
            "era",
            Kind::Choice(&["auto", "handshake", "stateless"]),
            "In which era of the protocol the server is spoken to.",
        )
    },
];
