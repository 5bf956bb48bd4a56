use gatefold_catalog::{DomainEntry, Tool, View, object_fields, one_line, token_bound};
use serde_json::value::RawValue;

use super::{DISCOVER, EXECUTE, SCHEMA};
use crate::arguments::{json_text, object};
use crate::surface::{ClientLimits, Surface, ToolSurface};
use crate::wording::{described, listed};

/// The most o200k tokens of the domain names in the description of `discover_tools`.
const DOMAIN_TOKENS: usize = 120;

/// The lengths of domain descriptions in the instructions, in characters, from the best to the
/// shortest.
const DESCRIPTION_LIMITS: [usize; 4] = [200, 80, 50, 30];

const INSTRUCTIONS: &str = "\
You have access to a tool discovery gateway with 3 tools:

1. discover_tools - Browse available tools. Call with no arguments to see domains,
   or with a domain to see specific tools.
2. get_tool_schema - Get a tool's parameter schema before using it.
3. execute_tool - Run any discovered tool.

Workflow: discover_tools → get_tool_schema → execute_tool.
Skip discovery for tools you've already used in this conversation.";

const DISCOVER_DESCRIPTION: &str = "\
Browse available tools by domain, group, or keyword.";
const DISCOVER_REST: &str = r#""inputSchema":{"type":"object","properties":{"domain":{"type":"string","description":"Omit to see all domains."},"group":{"type":"string","description":"Requires domain."},"query":{"type":"string","description":"What to do, in which service."},"search_mode":{"type":"string","enum":["hybrid","keyword","semantic"]},"cursor":{"type":"string","description":"The last next_cursor."}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}"#;

const SCHEMA_DEFINITION: &str = r#"{"name":"get_tool_schema","description":"Get the full parameter schema of one or several tools before calling execute_tool.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string","description":"As returned by discover_tools."},"tool_names":{"type":"array","items":{"type":"string"}}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}"#;

const EXECUTE_DEFINITION: &str = r#"{"name":"execute_tool","description":"Execute a tool by name. Use discover_tools to find it.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"Matching the schema from get_tool_schema."}},"required":["tool_name"]},"annotations":{"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}}"#;

pub(super) fn surface<'a>(
    view: &View,
    limits: ClientLimits,
    pinned: impl Iterator<Item = &'a Tool>,
) -> Surface {
    let gateway = [
        (DISCOVER, discover(view)),
        (SCHEMA, definition(SCHEMA_DEFINITION.to_owned())),
        (EXECUTE, definition(EXECUTE_DEFINITION.to_owned())),
    ];
    let mut tools: Vec<_> = pinned.map(top_level).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let gateway = gateway
        .into_iter()
        .map(|(name, definition)| ToolSurface { name: name.to_owned(), definition });
    tools.splice(..0, gateway);
    let instructions = instructions(view, limits);
    let definitions: usize = tools.iter().map(|tool| token_bound(tool.definition.get())).sum();
    let tokens = definitions + token_bound(&instructions);
    Surface { tools, instructions, tokens }
}

fn definition(json: String) -> Box<RawValue> {
    RawValue::from_string(json).expect("the definitions are JSON")
}

fn discover(view: &View) -> Box<RawValue> {
    let mut description = DISCOVER_DESCRIPTION.to_owned();
    let names: Vec<_> = view.domains().map(|entry| entry.domain().as_str()).collect();
    if !names.is_empty() {
        description.push_str(&domain_names(&names));
    }
    let description = json_text(&description);
    definition(format!(r#"{{"name":"{DISCOVER}","description":{description},{DISCOVER_REST}}}"#))
}

fn domain_names(names: &[&str]) -> String {
    let sentence = |names: &str| format!("\n\nDomains: {names}");
    let cost = |names: &str| token_bound(&json_text(&sentence(names)));
    sentence(&listed(names.iter().copied(), DOMAIN_TOKENS, cost))
}

/// A tool as its source defines it, under its alias. A schema without a type gets `object`, the
/// only legal one: clients that check would refuse it along with all other tools.
fn top_level(tool: &Tool) -> ToolSurface {
    let name = json_text(tool.alias());
    let fields = object_fields(tool.definition().raw()).unwrap_or_default();
    let schema = object_fields(tool.definition().input_schema()).unwrap_or_default();
    let typed = schema.iter().any(|(key, _)| key == "type");
    let with_type = [("type", r#""object""#)];
    let schema = object(
        with_type.into_iter().chain(schema.iter().map(|(key, value)| (key.as_ref(), *value))),
    );
    let fields = fields.iter().map(|(key, value)| match key.as_ref() {
        "name" => ("name", name.as_str()),
        "inputSchema" if !typed => ("inputSchema", schema.get()),
        key => (key, *value),
    });
    ToolSurface { name: tool.alias().to_owned(), definition: object(fields) }
}

/// The seed's text, then the domains with their descriptions: shorter ones if room runs out, then
/// names alone, then as many as fit.
fn instructions(view: &View, limits: ClientLimits) -> String {
    let domains: Vec<_> = view.domains().collect();
    if domains.is_empty() {
        return INSTRUCTIONS.to_owned();
    }
    let described = |limit: usize| {
        let lines: String = domains.iter().map(|entry| line(view, entry, limit)).collect();
        format!("{INSTRUCTIONS}\n\nDomains:{lines}")
    };
    let mut described = DESCRIPTION_LIMITS.into_iter().map(described);
    described.find(|text| text.len() <= limits.instructions_bytes).unwrap_or_else(|| {
        let start = format!("{INSTRUCTIONS}\n\nDomains: ");
        let names = domains.iter().map(|entry| entry.domain().as_str());
        let room = limits.instructions_bytes.saturating_sub(start.len());
        format!("{start}{}", listed(names, room, str::len))
    })
}

fn line(view: &View, entry: &DomainEntry, limit: usize) -> String {
    match one_line(&described(view, entry), limit) {
        description if description.is_empty() => format!("\n- {}", entry.domain()),
        description => format!("\n- {}: {description}", entry.domain()),
    }
}
