use gatefold_disclose::ExecuteTools;

use super::super::key::{Key, Kind, count};
use super::super::pins;
use super::super::tool_modes::{CONNECTORS, DATABASES, MODES, SERVERS, SKILLS};
use super::FixedSection;

pub(super) const DISCLOSURE: FixedSection = FixedSection {
    path: "disclosure",
    summary: "How tools are shown to a model.",
    details: "",
    keys: &[
        Key {
            details: "Each costs a model its whole definition in every conversation, so name few. \"used\" \
                      changes the list from one day of UTC to the next, and each user and agent has its own; \
                      everything else that is shown stays the same to the byte.",
            value: |config| Some(pins::texts(&config.disclosure.pinned).into()),
            example: "[\"time__get_current_time\", \"used\"]",
            ..Key::new(
                "pinned",
                Kind::Pins,
                "Tools to show at the top level too, beside Gatefold's three.",
            )
        },
        Key {
            details: "Longer answers come in pages.",
            value: |config| Some(config.disclosure.discovery_tokens.into()),
            example: "4000",
            ..Key::new(
                "discovery_tokens",
                count(),
                "The most o200k tokens of one discovery answer.",
            )
        },
        Key {
            details: "`gateway` has three tools that find, describe and call all others; `namespace` two for \
                      each domain; `typed` one for each kind of source; `intent` one that answers an intent with schemas, and one that calls; \
                      `flat` shows every tool with its full schema; `auto` is `flat` while all definitions \
                      are small, else `gateway`. A request names another one in its address, as \
                      `/mcp?disclosure=flat` does, and a client has its own in `[clients.NAME]`. The address \
                      of one source shows that source as it is.",
            value: |config| Some(config.disclosure.default.clone().into()),
            example: "\"auto\"",
            ..Key::new(
                "default",
                Kind::Text,
                "How tools are shown to whoever asks for nothing else.",
            )
        },
        Key {
            details: "Of `context_tokens`.",
            value: |config| Some(config.disclosure.auto_share.as_f64().into()),
            example: "0.05",
            ..Key::new(
                "auto_share",
                Kind::Share,
                "The share of the context up to which `auto` shows all definitions in full.",
            )
        },
        Key {
            value: |config| Some(config.disclosure.context_tokens.into()),
            example: "128000",
            ..Key::new("context_tokens", count(), "How many tokens a model's context has.")
        },
        Key {
            details: "For clients whose permission rules go by the names of tools: `execute_read` calls only what \
                      declares itself read-only.",
            value: |config| Some((config.disclosure.execute == ExecuteTools::Split).into()),
            example: "true",
            ..Key::new(
                "split_execute",
                Kind::Flag,
                "Whether `execute_read` and `execute_write` stand in the place of `execute_tool`.",
            )
        },
        Key {
            details: "Above it, a request that says what it is for (`/mcp?for=TEXT`) gets those tools that it needs, \
                      and `request_tools` for the others. The variable `REACT_TOOL_SELECTION_THRESHOLD` wins over it.",
            value: |config| Some(config.disclosure.selection.threshold.into()),
            example: "20",
            ..Key::new(
                "selection_threshold",
                count(),
                "The most tools that are all shown to such a request.",
            )
        },
        Key {
            details: "Pinned tools stand beside them. The variable `REACT_TOOL_SELECTION_MAX` wins over it.",
            value: |config| Some(config.disclosure.selection.most.into()),
            example: "8",
            ..Key::new("selection_max", count(), "How many tools are chosen for such a request.")
        },
        Key {
            details: "What `discover_tools` of `intent` answered with whole schemas, and what `request_tools` loaded, can \
                      then be called by its name. Only clients with a session are shown it, the last 32 tools \
                      of each, and told of the change. Each change costs such a client its cached prompt.",
            value: |config| Some(config.disclosure.register.into()),
            example: "true",
            ..Key::new(
                "register",
                Kind::Flag,
                "Whether tools that a session has found stand at its top level from then on.",
            )
        },
        Key {
            details: "\"inline\" puts their texts into the instructions, the shortest first, as far as a client \
                      takes them; the others stand there by their descriptions. The variable `SKILL_TOOL_MODE` \
                      wins over it.",
            value: |config| Some(MODES[SKILLS].word(&config.disclosure.modes).into()),
            example: "\"inline\"",
            ..Key::new(
                "skill_tool_mode",
                Kind::Choice(MODES[SKILLS].words()),
                "How `typed` shows skills.",
            )
        },
        Key {
            details: "\"legacy\" shows each action as a tool of its own. The variable `CONNECTOR_TOOL_MODE` wins \
                      over it.",
            value: |config| Some(MODES[CONNECTORS].word(&config.disclosure.modes).into()),
            example: "\"legacy\"",
            ..Key::new(
                "connector_tool_mode",
                Kind::Choice(MODES[CONNECTORS].words()),
                "How `typed` shows HTTP APIs.",
            )
        },
        Key {
            details: "\"legacy\" shows the tools of each database. The variable `DATABASE_TOOL_MODE` wins over it.",
            value: |config| Some(MODES[DATABASES].word(&config.disclosure.modes).into()),
            example: "\"legacy\"",
            ..Key::new(
                "database_tool_mode",
                Kind::Choice(MODES[DATABASES].words()),
                "How `typed` shows databases.",
            )
        },
        Key {
            details: "\"legacy\" shows each tool. The variable `MCP_TOOL_MODE` wins over it.",
            value: |config| Some(MODES[SERVERS].word(&config.disclosure.modes).into()),
            example: "\"legacy\"",
            ..Key::new(
                "mcp_tool_mode",
                Kind::Choice(MODES[SERVERS].words()),
                "How `typed` shows MCP servers.",
            )
        },
    ],
};

pub(super) const CLIENTS: FixedSection = FixedSection {
    path: "clients.NAME",
    summary: "How one client is shown tools.",
    details: "`NAME` is what the client calls itself when it connects, such as `claude-code`: `gatefold status` \
              and the records have it. Any client can call itself anything, so this decides how \
              tools are shown and never which.",
    keys: &[
        Key {
            details: "A request that names a disclosure in its address, as `/mcp?disclosure=flat` does, \
                      gets that one.",
            unset: "`disclosure.default`",
            example: "\"flat\"",
            ..Key::new("disclosure", Kind::Text, "The disclosure that it gets.")
        },
        Key {
            details: "Where they would be longer, domains are described in fewer words, then by their \
                      names alone. What the instructions say beside that stays.",
            unset: "2 KiB, which every known client takes",
            example: "\"8 KiB\"",
            ..Key::new("instructions_size", Kind::Size, "The longest instructions that it takes.")
        },
    ],
};
