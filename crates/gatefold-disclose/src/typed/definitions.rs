//! The definitions of the meta-tools, and the instructions.

use gatefold_catalog::{DomainEntry, Tool, View};

use super::database::DatabaseCommand;
use super::kinds::{DISCOVER, READ_SKILL, ResourceKind};
use super::skills::Skills;
use super::stubs::forms;
use crate::arguments::{json_text, object, object_text};
use crate::bounded::bounded;
use crate::hints;
use crate::surface::{DESCRIPTION_BYTES, ToolSurface};
use crate::wording::listed;

/// The member of a definition's `_meta` that has the category, as the built-in tools have it.
const CATEGORY: &str = "gatefold/category";

const CONNECTOR_COMMANDS: [&str; 2] = [
    "discover <name> [action] -- list actions with full parameter schemas",
    r#"execute <name> <action> {"param": "value"} -- run an action"#,
];
const SERVER_COMMANDS: [&str; 2] = [
    "discover <server> [tool] -- list tools with full parameter schemas",
    r#"call <server> <tool> {"param": "value"} -- invoke an MCP tool"#,
];

const READ_SKILL_DESCRIPTION: &str = "\
Read a skill: a procedure to follow, with its files and the tools that it names. Scripts are given, not run.

";

const CURSOR: (&str, &str) =
    ("cursor", r#"{"type":"string","description":"The last next_cursor."}"#);

/// The meta-tool of a kind. There is at least one resource.
pub(super) fn meta_tool(view: &View, kind: ResourceKind, entries: &[&DomainEntry]) -> ToolSurface {
    let commands = match kind {
        ResourceKind::Database => DatabaseCommand::of(view, entries),
        ResourceKind::Connector | ResourceKind::Server => Vec::new(),
    };
    let (lines, subcommands): (Vec<_>, Vec<_>) = match kind {
        ResourceKind::Connector => (CONNECTOR_COMMANDS.to_vec(), subcommands(kind).to_vec()),
        ResourceKind::Server => (SERVER_COMMANDS.to_vec(), subcommands(kind).to_vec()),
        ResourceKind::Database => {
            commands.iter().map(|command| (command.line, command.name)).unzip()
        }
    };
    let description = description(view, kind, entries, &lines);
    let names: Vec<_> = entries.iter().map(|entry| entry.domain().as_str()).collect();
    let (subcommand, resource) = (enumeration(&subcommands), enumeration(&names));
    let properties = match kind {
        ResourceKind::Connector => [
            (
                "action",
                r#"{"type":"string","description":"For discover, omit it to see all actions."}"#,
            ),
            ("parameters", r#"{"type":"object","description":"Matching the action's schema."}"#),
        ],
        ResourceKind::Server => [
            (
                "tool",
                r#"{"type":"string","description":"For discover, omit it to see all tools."}"#,
            ),
            ("parameters", r#"{"type":"object","description":"Matching the tool's schema."}"#),
        ],
        ResourceKind::Database => [
            (
                "table",
                r#"{"type":"string","description":"For discover, omit it to see all tables."}"#,
            ),
            ("sql", r#"{"type":"string","description":"One statement."}"#),
        ],
    };
    let given = [("subcommand", subcommand.as_str()), (kind.noun(), resource.as_str())];
    let properties = object_text(given.into_iter().chain(properties).chain([CURSOR]));
    let required = format!(r#"["subcommand",{}]"#, json_text(kind.noun()));
    let input = object_text([
        ("type", r#""object""#),
        ("properties", &properties),
        ("required", &required),
    ]);
    let tools: Vec<&Tool> = entries.iter().flat_map(|entry| view.tools_in(entry)).collect();
    let annotations = hints::of_calling(&tools);
    let (name, description) = (json_text(kind.meta_tool()), json_text(&description));
    let meta = object_text([(CATEGORY, name.as_str())]);
    let definition = object([
        ("name", name.as_str()),
        ("description", &description),
        ("inputSchema", &input),
        ("annotations", &annotations),
        ("_meta", &meta),
    ]);
    ToolSurface { name: kind.meta_tool().to_owned(), definition }
}

/// The subcommands of `connector` or `mcp`.
pub(super) fn subcommands(kind: ResourceKind) -> [&'static str; 2] {
    [DISCOVER, kind.calling()]
}

fn enumeration(values: &[&str]) -> String {
    let values: Vec<_> = values.iter().map(|value| json_text(value)).collect();
    format!(r#"{{"type":"string","enum":[{}]}}"#, values.join(","))
}

fn description(
    view: &View,
    kind: ResourceKind,
    entries: &[&DomainEntry],
    lines: &[&str],
) -> String {
    let start = match kind {
        ResourceKind::Connector => "Interact with external services. Available connectors:",
        ResourceKind::Database => "Query connected databases. Available databases:",
        ResourceKind::Server => "Interact with MCP servers. Available servers:",
    };
    let lines = lines.join("\n  ");
    let noun = kind.noun();
    bounded(
        forms(view, kind, entries),
        DESCRIPTION_BYTES,
        |stubs| format!("{start}{stubs}\n\nSubcommands:\n  {lines}"),
        |count| {
            format!("\n  +{count} more, which '{noun}' names: {DISCOVER} any to see what it has")
        },
    )
}

/// `read_skill`, with the stubs. There is at least one skill.
pub(super) fn read_skill(skills: &Skills<'_>) -> ToolSurface {
    let description = skills.stubs(READ_SKILL_DESCRIPTION, DESCRIPTION_BYTES);
    let names: Vec<_> = skills.names().collect();
    let name = enumeration(&names);
    let properties = object_text([
        ("name", name.as_str()),
        ("file", r#"{"type":"string","description":"One of its files, as the skill lists them."}"#),
        CURSOR,
    ]);
    let input = object_text([("type", r#""object""#), ("properties", properties.as_str())]);
    let (name, description) = (json_text(READ_SKILL), json_text(&description));
    let definition = object([
        ("name", name.as_str()),
        ("description", &description),
        ("inputSchema", &input),
        ("annotations", hints::READING),
    ]);
    ToolSurface { name: READ_SKILL.to_owned(), definition }
}

/// How the meta-tools are used. Nothing without any.
pub(super) fn usage(kinds: &[ResourceKind]) -> String {
    let names = kinds.iter().map(|kind| kind.meta_tool());
    let names = listed(names, usize::MAX, str::len);
    if kinds.is_empty() {
        return String::new();
    }
    format!(
        "Before you first use something behind one of these tools, look it up with the subcommand \
         '{DISCOVER}': {names}. Skip that for what you've already used in this conversation."
    )
}
