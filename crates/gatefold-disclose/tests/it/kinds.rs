//! Kinds of sources for tests, in words of their own. What Gatefold's own kinds say is tested with them.

use gatefold_catalog::{
    Action, AssemblyStep, Command, FixedCall, KindName, MetaTool, Parts, StubForm, ToolPlace,
    TopicTool, TopicUse,
};

const DESCRIBE: Command =
    Command { name: "discover", line: "discover -- look up", action: Action::Describe };

const API: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "connector",
    step: AssemblyStep::Connectors,
    summary: "Use an API.",
    noun: "connector",
    part: "action",
    parts: Parts::Tools,
    named_parts: usize::MAX,
    stub: StubForm::Dashed,
    commands: &[
        DESCRIBE,
        Command { name: "execute", line: "execute -- run", action: Action::CallNamed },
    ],
    parameters: &[("action", r#"{"type":"string"}"#), ("parameters", r#"{"type":"object"}"#)],
    is_bound: true,
});

const SERVER: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "mcp",
    step: AssemblyStep::Mcp,
    summary: "Use a server.",
    noun: "server",
    part: "tool",
    parts: Parts::Tools,
    named_parts: usize::MAX,
    stub: StubForm::Counted,
    commands: &[
        DESCRIBE,
        Command { name: "call", line: "call -- call", action: Action::CallNamed },
    ],
    parameters: &[("tool", r#"{"type":"string"}"#), ("parameters", r#"{"type":"object"}"#)],
    is_bound: false,
});

const DATABASE: ToolPlace = ToolPlace::Behind(MetaTool {
    name: "database",
    step: AssemblyStep::Connectors,
    summary: "Ask a database.",
    noun: "database",
    part: "table",
    parts: Parts::Topics("describe_table"),
    named_parts: 10,
    stub: StubForm::Counted,
    commands: &[
        fixed("list_tables", "list_tables", &["cursor"], None),
        fixed("discover", "describe_table", &["table", "cursor"], None),
        fixed("query", "query", &["sql"], Some(("sql", "SELECT 1"))),
    ],
    parameters: &[("table", r#"{"type":"string"}"#), ("sql", r#"{"type":"string"}"#)],
    is_bound: true,
});

const SKILLS: ToolPlace = ToolPlace::Topics(&[TopicTool {
    name: "read_skill",
    step: AssemblyStep::Skills,
    noun: "skill",
    summary: "Read a skill.",
    stubs_heading: "## Skills to read",
    texts_heading: "## Skills",
    usage: TopicUse::Read,
    parameter: "name",
    parameters: &[("file", r#"{"type":"string"}"#)],
}]);

const AGENTS: ToolPlace = ToolPlace::Topics(&[TopicTool {
    name: "call_agent",
    step: AssemblyStep::CallAgent,
    noun: "agent",
    summary: "Have an agent do a task.",
    stubs_heading: "Available agents:",
    texts_heading: "",
    usage: TopicUse::Call,
    parameter: "agent_id",
    parameters: &[("task", r#"{"type":"string"}"#)],
}]);

const BASES: ToolPlace = ToolPlace::Topics(&[
    search_tool("look_up", &[("query", r#"{"type":"string"}"#), ("top", r#"{"type":"integer"}"#)]),
    search_tool("quote", &[("question", r#"{"type":"string"}"#)]),
]);

const fn search_tool(
    name: &'static str,
    parameters: &'static [(&'static str, &'static str)],
) -> TopicTool {
    TopicTool {
        name,
        step: AssemblyStep::Knowledge,
        noun: "base",
        summary: "Search documents.",
        stubs_heading: "Bases:",
        texts_heading: "",
        usage: TopicUse::Search { all: "library" },
        parameter: "base",
        parameters,
    }
}

const fn fixed(
    name: &'static str,
    tool: &'static str,
    takes: &'static [&'static str],
    needs: Option<(&'static str, &'static str)>,
) -> Command {
    let call = FixedCall { tool, takes, needs, is_optional: false };
    Command { name, line: name, action: Action::Call(call) }
}

pub(crate) fn kind_named(name: &'static str) -> KindName {
    match name {
        "openapi" => KindName::at(name, &API),
        "database" => KindName::at(name, &DATABASE),
        "mcp" => KindName::at(name, &SERVER),
        "skills" => KindName::at(name, &SKILLS),
        "agents" => KindName::at(name, &AGENTS),
        "bases" => KindName::at(name, &BASES),
        _ => KindName::new(name),
    }
}
