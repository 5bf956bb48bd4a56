use super::super::key::{Key, Kind};
use super::FixedSection;

pub(super) const AGENTS: FixedSection = FixedSection {
    path: "agents.NAME",
    summary: "One agent: what its model is told, and which tools it has.",
    details: "A client that connects to `/mcp/agent/NAME`, or runs `gatefold stdio --agent NAME`, acts through it. \
              It has what its user has, or less, never more. `NAME` has up to 64 letters, digits, \
              `-` and `_`.",
    keys: &[
        Key {
            details: "Up to 1 KiB. `/agent` in `gatefold chat` shows it, and so does the tool by which other \
                      agents have it work, `call_agent`.",
            unset: "nothing",
            example: "\"Answers questions about orders and invoices\"",
            ..Key::new("description", Kind::Text, "What the agent is for, for whoever chooses one.")
        },
        Key {
            details: "Up to 32 KiB. They stand before Gatefold's own.",
            unset: "nothing but Gatefold's own",
            example: "\"You answer questions about orders. Never promise a date.\"",
            ..Key::new("instructions", Kind::Text, "What its model is told before anything else.")
        },
        Key {
            details: "The name of a model in `[models]`, or a short form such as `openai:gpt-5`: for \
                      `gatefold chat`, where `--model` wins over it, and for tasks that it is given by \
                      `call_agent`. Clients that connect bring their own model.",
            unset: "the first model in `[models]` that the person may use",
            example: "\"ollama:qwen3\"",
            ..Key::new("model", Kind::Text, "The model that it is run with.")
        },
        Key {
            details: "One that is not looks like an agent that does not exist.",
            value: |_| Some(true.into()),
            example: "false",
            ..Key::new("enabled", Kind::Flag, "Whether there is this agent.")
        },
        Key {
            details: "It is chosen as others are, and no agent has it work by `call_agent`.",
            value: |_| Some(false.into()),
            example: "true",
            ..Key::new("builder", Kind::Flag, "Whether the agent is for building other agents.")
        },
        Key {
            details: "To everybody else it looks like an agent that does not exist. `[users.NAME]` and \
                      the claims of `[[server.issuers]]` say who is in a group. The local user, without tokens, \
                      is `users.local`.",
            unset: "everybody",
            example: "[\"finance\"]",
            ..Key::new("visible_to", Kind::Texts, "The groups of people who find the agent.")
        },
        Key {
            details: "MCP servers and skills are everybody's.",
            unset: "all of them",
            example: "[\"hr\"]",
            ..Key::new(
                "connector_ids",
                Kind::Texts,
                "The HTTP APIs and databases that it has, by their names.",
            )
        },
        Key {
            details: "Where one of `connector`, `database` and `mcp` is among them, the agent has no other of \
                      these three kinds of sources.",
            unset: "all of them",
            example: "[\"computation\", \"web\", \"mcp\"]",
            ..Key::new(
                "tool_categories",
                Kind::Categories,
                "The categories of built-in tools that it has.",
            )
        },
        Key {
            details: "A request that names a disclosure in its address gets that one.",
            unset: "its client's, or `disclosure.default`",
            example: "\"typed\"",
            ..Key::new("disclosure", Kind::Text, "The disclosure that it gets.")
        },
        Key {
            unset: "`disclosure.pinned`",
            example: "[\"crm__find_customer\"]",
            ..Key::new("pinned", Kind::Pins, "Tools to show at the top level too.")
        },
        Key {
            details: "A table of `connector_tool_mode`, `database_tool_mode` and `mcp_tool_mode`, each \
                      \"progressive\" or \"legacy\", and `skill_tool_mode`, \"progressive\" or \"inline\"; or a JSON \
                      text of it. They win over the variables.",
            unset: "the modes in `[disclosure]`",
            example: "{ mcp_tool_mode = \"legacy\" }",
            ..Key::new(
                "model_config_json",
                Kind::AgentModes,
                "How `typed` shows each kind of source to it.",
            )
        },
    ],
};
