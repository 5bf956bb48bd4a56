//! The definitions of a namespace's pair of tools.

use gatefold_catalog::{Tool, ToolTopic, View, one_line};

use super::{Namespace, PairTool, name_in};
use crate::arguments::{json_text, object};
use crate::bounded::bounded;
use crate::hints;
use crate::surface::{ClientLimits, DESCRIPTION_BYTES, ToolSurface};
use crate::wording::{described, listed};

/// The lengths of a tool's line, in characters, from the best to the shortest.
const LINE_LENGTHS: [usize; 4] = [80, 50, 30, 0];

/// How much of a domain's description is shown, in characters.
const DOMAIN_LENGTH: usize = 120;

const INSTRUCTIONS: &str = "\
Tools are grouped by domain. Each domain has two tools:

1. {domain}__get_tool_schema - Get the parameter schema of one of the domain's tools. Its description lists them.
2. {domain}__invoke_tool - Run one of them.

Workflow: get_tool_schema → invoke_tool. Skip the first for tools you've already used in this conversation.";

const SCHEMA_INPUT: &str = r#"{"type":"object","properties":{"tool_name":{"type":"string","description":"One of the tools above. Omit to list all."},"cursor":{"type":"string","description":"The last next_cursor."}}}"#;
const SHARED_SCHEMA_INPUT: &str = r#"{"type":"object","properties":{"tool_name":{"type":"string","description":"As DOMAIN__TOOL."}},"required":["tool_name"]}"#;
const INVOKE_INPUT: &str = r#"{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema of the tool."}},"required":["tool_name"]}"#;

/// How much of a description the skills for a domain may take, in bytes, with lines of which lengths.
pub(super) const SKILLS_BYTES: usize = 600;
const SKILL_LENGTHS: [usize; 3] = [80, 40, 0];

/// `skills` says which skills there are for the namespace.
pub(super) fn pair(view: &View, namespace: &Namespace<'_>, skills: &str) -> [ToolSurface; 2] {
    let tools = tools_of(view, namespace);
    let input = match namespace {
        Namespace::One(_) => SCHEMA_INPUT,
        Namespace::Shared(_) => SHARED_SCHEMA_INPUT,
    };
    let schema = named(
        namespace.tool_name(PairTool::Schema),
        &format!("{}{skills}", schema_description(view, namespace, &tools, skills.len())),
        input,
        hints::READING,
    );
    let what = match namespace {
        Namespace::One(entry) => {
            format!("Run one of the tools of {}, by its name.", entry.domain())
        }
        Namespace::Shared(_) => "Run a tool of another domain, by its id.".to_owned(),
    };
    let annotations = hints::of_calling(&tools);
    let invoke = named(namespace.tool_name(PairTool::Invoke), &what, INVOKE_INPUT, &annotations);
    [schema, invoke]
}

fn tools_of<'a>(view: &'a View, namespace: &Namespace<'_>) -> Vec<&'a Tool> {
    match namespace {
        Namespace::One(entry) => view.tools_in(entry).collect(),
        Namespace::Shared(entries) => {
            entries.iter().flat_map(|entry| view.tools_in(entry)).collect()
        }
    }
}

fn named(name: String, description: &str, input: &str, annotations: &str) -> ToolSurface {
    let (quoted, description) = (json_text(&name), json_text(description));
    let definition = object([
        ("name", quoted.as_str()),
        ("description", description.as_str()),
        ("inputSchema", input),
        ("annotations", annotations),
    ]);
    ToolSurface { name, definition }
}

/// The skills for a domain, and how to read one.
pub(super) fn skills(reader: &str, tool: &str, topics: &[&ToolTopic], bytes: usize) -> String {
    let lines = |length: usize| {
        topics.iter().map(|topic| line(&topic.name, &topic.description, length)).collect()
    };
    let frame = |lines: &str| {
        format!("\n\nSkills for these, to be read first with {reader}, tool_name '{tool}':{lines}")
    };
    bounded(SKILL_LENGTHS.into_iter().map(lines), bytes, frame, |count| {
        format!("\n+{count} more, listed if it has no name")
    })
}

/// A line for each tool: shorter ones if room runs out, then names alone, then as many as fit beside
/// `taken` bytes.
fn schema_description(
    view: &View,
    namespace: &Namespace<'_>,
    tools: &[&Tool],
    taken: usize,
) -> String {
    let bytes = DESCRIPTION_BYTES.saturating_sub(taken);
    let start = match namespace {
        Namespace::One(entry) => {
            let about = one_line(&described(view, entry), DOMAIN_LENGTH);
            let about = if about.is_empty() { String::new() } else { format!(" ({about})") };
            format!("Get the parameter schema of a tool of {}{about}. Tools:", entry.domain())
        }
        Namespace::Shared(_) => {
            format!("Get the parameter schema of a tool. {} Tools:", shared_domains(namespace))
        }
    };
    let with_lines = |length: usize| {
        let lines = tools.iter().map(|tool| line(name_in(namespace, tool), tool.line(), length));
        format!("{start}{}", lines.collect::<String>())
    };
    let mut wholes = LINE_LENGTHS.into_iter().map(with_lines);
    if let Some(whole) = wholes.find(|text| text.len() <= bytes) {
        return whole;
    }
    let rest = match namespace {
        Namespace::One(_) => "\nCall it without tool_name to list all.",
        Namespace::Shared(_) => "",
    };
    let room = bytes.saturating_sub(start.len() + rest.len() + 1);
    let names = tools.iter().map(|tool| name_in(namespace, tool));
    format!("{start} {}{rest}", listed(names, room, str::len))
}

fn line(name: &str, about: &str, length: usize) -> String {
    match one_line(about, length) {
        about if length == 0 || about.is_empty() => format!("\n- {name}"),
        about => format!("\n- {name}: {about}"),
    }
}

/// The bytes of domain names in the description of a shared pair.
const SHARED_BYTES: usize = 600;

/// Which domains share a pair, as a sentence.
pub(super) fn shared_domains(namespace: &Namespace<'_>) -> String {
    let Namespace::Shared(entries) = namespace else { return String::new() };
    let names = entries.iter().map(|entry| entry.domain().as_str());
    format!("Domains without tools of their own: {}.", listed(names, SHARED_BYTES, str::len))
}

pub(super) fn instructions(view: &View, limits: ClientLimits) -> String {
    let start = format!("{INSTRUCTIONS}\n\nDomains: ");
    let names = view.domains().map(|entry| entry.domain().as_str());
    let room = limits.instructions_bytes.saturating_sub(start.len());
    match listed(names, room, str::len) {
        names if names.is_empty() => INSTRUCTIONS.to_owned(),
        names => format!("{start}{names}"),
    }
}
