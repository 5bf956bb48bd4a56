use super::{Emptiness, Key, Kind};

/// The keys that sources of every kind have.
pub(in crate::config) const COMMON: &[Key] = &[
    Key {
        details: "Tools are called `{domain}__{name}`. No two sources can have the same one; \
                  without this key, the second source of a name gets a number.",
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
        details: "Requests that say one of them find its tools. They replace the nicknames that Gatefold \
                  knows for well-known services; the first 32 count.",
        unset: "the nicknames of its service, such as `gh` for GitHub",
        example: "[\"tracker\", \"the board\"]",
        ..Key::new("aliases", Kind::Texts, "What people call the source.")
    },
    Key {
        unset: "true",
        example: "false",
        ..Key::new("enabled", Kind::Flag, "Whether the source is used at all.")
    },
    Key {
        details: "Patterns over the names that the server itself gives its tools and prompts, \
                  and over the URIs of its resources. `tool:`, `prompt:` or `resource:` before \
                  a pattern narrows it to these. Everything that no pattern names is hidden, prompts and \
                  resources included.",
        unset: "all of them",
        example: "[\"get_*\", \"list_*\", \"resource:*\"]",
        ..Key::new("allow", Kind::Patterns(Emptiness::MayNotBeEmpty), "What to show.")
    },
    Key {
        details: "Patterns over the names that the server itself gives its tools and prompts, \
                  and over the URIs of its resources. A client that can ask its user does so. \
                  For other clients the call is refused until a person approves it with `gatefold \
                  approvals`. Wins over `allow`.",
        unset: "none",
        example: "[\"create_*\", \"delete_*\"]",
        ..Key::new("ask", Kind::PatternsOrWrites, "Which calls need a person's approval.")
    },
    Key {
        details: "Patterns like those of `ask`, and exceptions to them alone: what the kind of the source asks \
                  for by itself, and what `[policy]` asks for, stays as it is.",
        unset: "none",
        example: "[\"create_draft\"]",
        ..Key::new(
            "ask_unless",
            Kind::Patterns(Emptiness::MayBeEmpty),
            "Which of the calls in `ask` need no approval.",
        )
    },
    Key {
        details: "Patterns over the names that the server itself gives its tools and prompts, \
                  and over the URIs of its resources. `tool:`, `prompt:` or `resource:` before \
                  a pattern narrows it to these. Wins over `allow` and `ask`. A hidden entry \
                  gives the same error as one that does not exist.",
        unset: "none",
        example: "[\"delete_*\"]",
        ..Key::new("deny", Kind::Patterns(Emptiness::MayBeEmpty), "What to hide.")
    },
    Key {
        details: "Patterns like those of `deny`, and exceptions to them alone: what `[policy]` denies stays \
                  hidden.",
        unset: "none",
        example: "[\"delete_draft\"]",
        ..Key::new(
            "deny_unless",
            Kind::Patterns(Emptiness::MayBeEmpty),
            "What `deny` does not hide, though it matches.",
        )
    },
    Key {
        details: "To everybody else it looks like a source that does not exist. `[users.NAME]` and \
                  the claims of `[[server.issuers]]` say who is in a group. The local user, without tokens, \
                  is `users.local`.",
        unset: "everybody",
        example: "[\"finance\"]",
        ..Key::new("visible_to", Kind::Texts, "The groups of people who see the source.")
    },
    Key {
        details: "The first pattern that matches a tool's own name decides.",
        unset: "made from the tools' names",
        example: "{ reading = [\"get_*\", \"list_*\"], writing = [\"create_*\"] }",
        ..Key::new("groups", Kind::Groups, "Which tools are grouped together when models browse.")
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
        details: "It counts where the source is started through a package runner, such as `npx` or \
                  `uvx`, until it has started well.",
        unset: "`limits.install_deadline`",
        example: "\"20m\"",
        ..Key::new(
            "install_deadline",
            Kind::Duration,
            "How long a first start of the source may take, which may have to download it.",
        )
    },
    Key {
        unset: "`limits.call_deadline`",
        example: "\"5m\"",
        ..Key::new(
            "call_deadline",
            Kind::Duration,
            "How long a call of the source may take, from its admission to its result.",
        )
    },
    Key {
        unset: "`limits.idle_stop`",
        example: "\"1h\"",
        ..Key::new(
            "idle_stop",
            Kind::Duration,
            "How long the source keeps running while nobody uses it.",
        )
    },
];
