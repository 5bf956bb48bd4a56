use super::{Emptiness, Key, Kind, Section};

pub(super) const SOURCES: Section = Section {
    path: "sources.NAME",
    summary: "One MCP server: how it is reached, and how its tools are shown.",
    details: "There may be any number of them. `NAME` is yours to choose. A source is either a \
              program that speaks over its standard input and output (`command`), or a server over \
              streamable HTTP (`url`).",
    keys: &[
        Key {
            details: "The program alone: what follows it stands in `args`. A name without `/` is \
                      looked up in `PATH`.",
            example: "\"npx\"",
            excludes: &["url"],
            ..Key::new("command", Kind::Text, "The program to start.")
        },
        Key {
            unset: "none",
            example: "[\"-y\", \"@modelcontextprotocol/server-filesystem\", \"notes\"]",
            needs: Some("command"),
            ..Key::new("args", Kind::Arguments, "The program's arguments.")
        },
        Key {
            details: "Nothing else reaches it but `PATH`, `HOME`, the locale, proxies, caches and \
                      what `inherit_env` names. Take secrets from variables: `${VAR}`. The values \
                      are never shown.",
            unset: "none",
            example: "{ NAME = \"value\" }",
            needs: Some("command"),
            ..Key::new("env", Kind::Variables, "Variables that the program finds.")
        },
        Key {
            unset: "none",
            example: "[\"DISPLAY\"]",
            needs: Some("command"),
            ..Key::new(
                "inherit_env",
                Kind::Texts,
                "Names of variables that the program finds as Gatefold finds them.",
            )
        },
        Key {
            unset: "Gatefold's own",
            example: "\".\"",
            needs: Some("command"),
            ..Key::new("cwd", Kind::Path, "The directory that the program starts in.")
        },
        Key {
            details: "The server speaks streamable HTTP there. What may be secret in it is not \
                      shown.",
            example: "\"https://host.example/mcp\"",
            excludes: &["command"],
            ..Key::new("url", Kind::Url, "The address of a server over HTTP.")
        },
        Key {
            details: "The values are never shown.",
            unset: "none",
            example: "{ X-Team = \"support\" }",
            needs: Some("url"),
            ..Key::new("headers", Kind::Headers, "Headers that every request carries.")
        },
        Key {
            details: "Tools are called `{domain}__{name}`. Two sources cannot have the same one; \
                      where it is not given, the second of a name takes a number.",
            unset: "made from `NAME`",
            example: "\"example\"",
            ..Key::new("domain", Kind::Domain, "The public name of the source.")
        },
        Key {
            unset: "the server's own words",
            example: "\"What this source is for.\"",
            ..Key::new("description", Kind::Text, "What models are told about the source.")
        },
        Key {
            unset: "true",
            example: "false",
            ..Key::new("enabled", Kind::Flag, "Whether the source is used at all.")
        },
        Key {
            details: "Patterns over the names that the server itself gives its tools and prompts, \
                      and over the URIs of its resources. `tool:`, `prompt:` or `resource:` before \
                      a pattern narrows it to these. What no pattern names is hidden, prompts and \
                      resources too.",
            unset: "all of them",
            example: "[\"get_*\", \"list_*\", \"resource:*\"]",
            ..Key::new("allow", Kind::Patterns(Emptiness::MayNotBeEmpty), "What to show.")
        },
        Key {
            details: "Patterns over the names that the server itself gives its tools and prompts, \
                      and over the URIs of its resources. `tool:`, `prompt:` or `resource:` before \
                      a pattern narrows it to these. Wins over `allow`. What is hidden answers \
                      like what does not exist.",
            unset: "none",
            example: "[\"delete_*\"]",
            ..Key::new("deny", Kind::Patterns(Emptiness::MayBeEmpty), "What to hide.")
        },
        Key {
            details: "The first pattern that matches a tool's own name decides.",
            unset: "made from the tools' names",
            example: "{ reading = [\"get_*\", \"list_*\"], writing = [\"create_*\"] }",
            ..Key::new("groups", Kind::Groups, "Which tools stand together when models browse.")
        },
        Key {
            unset: "`limits.connect_deadline`",
            example: "\"30s\"",
            ..Key::new(
                "connect_deadline",
                Kind::Duration,
                "How long the source may take to start and list its tools.",
            )
        },
        Key {
            unset: "`limits.idle_stop`",
            example: "\"1h\"",
            ..Key::new(
                "idle_stop",
                Kind::Duration,
                "How long the source stays up while nobody uses it.",
            )
        },
    ],
};
