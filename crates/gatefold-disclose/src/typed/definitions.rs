//! The definitions of the meta-tools, and the instructions.

use gatefold_catalog::{DomainEntry, MetaTool, Tool, TopicUse, View};

use super::kinds::{DISCOVER, commands};
use super::stubs::forms;
use super::topics::Topics;
use crate::arguments::{json_text, object, object_text};
use crate::bounded::bounded;
use crate::hints;
use crate::surface::{DESCRIPTION_BYTES, ToolSurface};
use crate::wording::listed;

/// The member of a definition's `_meta` that has the category, as the built-in tools have it.
const CATEGORY: &str = "gatefold/category";

const CURSOR: (&str, &str) =
    ("cursor", r#"{"type":"string","description":"The last next_cursor."}"#);

/// The meta-tool of a kind. There is at least one source.
pub(super) fn meta_tool(
    view: &View,
    meta: &'static MetaTool,
    entries: &[&DomainEntry],
) -> ToolSurface {
    let commands = commands(view, meta, entries);
    let (lines, subcommands): (Vec<_>, Vec<_>) =
        commands.iter().map(|command| (command.line, command.name)).unzip();
    let description = description(view, meta, entries, &lines);
    let names: Vec<_> = entries.iter().map(|entry| entry.domain().as_str()).collect();
    let (subcommand, source) = (enumeration(&subcommands), enumeration(&names));
    let given = [("subcommand", subcommand.as_str()), (meta.noun, source.as_str())];
    let own = meta.parameters.iter().copied();
    let properties = object_text(given.into_iter().chain(own).chain([CURSOR]));
    let required = format!(r#"["subcommand",{}]"#, json_text(meta.noun));
    let input = object_text([
        ("type", r#""object""#),
        ("properties", &properties),
        ("required", &required),
    ]);
    let tools: Vec<&Tool> = entries.iter().flat_map(|entry| view.tools_in(entry)).collect();
    let annotations = hints::of_calling(&tools);
    let (name, description) = (json_text(meta.name), json_text(&description));
    let category = object_text([(CATEGORY, name.as_str())]);
    let definition = object([
        ("name", name.as_str()),
        ("description", &description),
        ("inputSchema", &input),
        ("annotations", &annotations),
        ("_meta", &category),
    ]);
    ToolSurface { name: meta.name.to_owned(), definition }
}

fn enumeration(values: &[&str]) -> String {
    let values: Vec<_> = values.iter().map(|value| json_text(value)).collect();
    format!(r#"{{"type":"string","enum":[{}]}}"#, values.join(","))
}

fn description(
    view: &View,
    meta: &'static MetaTool,
    entries: &[&DomainEntry],
    lines: &[&str],
) -> String {
    let (summary, noun) = (meta.summary, meta.noun);
    let lines = lines.join("\n  ");
    bounded(
        forms(view, meta, entries),
        DESCRIPTION_BYTES,
        |stubs| format!("{summary} Available {noun}s:{stubs}\n\nSubcommands:\n  {lines}"),
        |count| {
            format!("\n  +{count} more, which '{noun}' names: {DISCOVER} any to see what it has")
        },
    )
}

/// A tool that is about topics, with their stubs. There is at least one topic.
pub(super) fn topic_tool(topics: &Topics<'_>) -> ToolSurface {
    let tool = topics.tool;
    let description = topics.stubs(&format!("{}\n\n", tool.summary), DESCRIPTION_BYTES);
    let names: Vec<_> = topics.names().collect();
    let name = enumeration(&names);
    let own = [(tool.parameter, name.as_str())].into_iter().chain(tool.parameters.iter().copied());
    let (own, required, annotations) = match tool.usage {
        TopicUse::Read => (object_text(own.chain([CURSOR])), None, hints::READING.to_owned()),
        TopicUse::Search { .. } => {
            let needed = tool.parameters.first().map(|(name, _)| format!("[{}]", json_text(name)));
            // What is looked for comes first, and where may be left out.
            let own = tool.parameters.iter().copied().chain([(tool.parameter, name.as_str())]);
            (object_text(own), needed, hints::READING.to_owned())
        }
        TopicUse::Call => {
            let required: Vec<_> = own.clone().map(|(name, _)| json_text(name)).collect();
            let required = format!("[{}]", required.join(","));
            (object_text(own), Some(required), hints::of_calling(&topics.tools()))
        }
    };
    let required = required.as_deref().map(|required| ("required", required));
    let fields = [("type", r#""object""#), ("properties", own.as_str())];
    let input = object_text(fields.into_iter().chain(required));
    let (name, description) = (json_text(tool.name), json_text(&description));
    let definition = object([
        ("name", name.as_str()),
        ("description", &description),
        ("inputSchema", &input),
        ("annotations", &annotations),
    ]);
    ToolSurface { name: tool.name.to_owned(), definition }
}

/// How the meta-tools are used. Nothing without any.
pub(super) fn usage(meta_tools: &[&MetaTool]) -> String {
    let names = meta_tools.iter().map(|meta| meta.name);
    let names = listed(names, usize::MAX, str::len);
    if meta_tools.is_empty() {
        return String::new();
    }
    format!(
        "Before you first use something behind one of these tools, look it up with the subcommand \
         '{DISCOVER}': {names}. Skip that for what you've already used in this conversation."
    )
}
