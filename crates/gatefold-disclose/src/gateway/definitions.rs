use gatefold_catalog::{DomainEntry, View, one_line, token_bound};
use serde_json::value::RawValue;

use super::{DISCOVER, SCHEMA, by_tool_name};
use crate::arguments::json_text;
use crate::executing::ExecuteTools;
use crate::pinned::{PinnedTools, by_alias};
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
const DISCOVER_REST: &str = r#""inputSchema":{"type":"object","properties":{"domain":{"type":"string","description":"Omit to see all domains."},"group":{"type":"string","description":"Requires domain."},"query":{"type":"string","description":"User's words and service; rephrase on new lines."},"search_mode":{"type":"string","enum":["hybrid","keyword","semantic"]},"cursor":{"type":"string","description":"The last next_cursor."}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}"#;

const SCHEMA_DEFINITION: &str = r#"{"name":"get_tool_schema","description":"Get the full parameter schema of one or several tools before calling execute_tool.","inputSchema":{"type":"object","properties":{"tool_name":{"type":"string","description":"From discover_tools."},"tool_names":{"type":"array","items":{"type":"string"}}}},"annotations":{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}"#;

const EXECUTE_DESCRIPTION: &str = "Execute a tool by name. Use discover_tools to find it.";
const EXECUTE_ARGUMENTS: &str = "Matching the schema from get_tool_schema.";

/// Of the instructions where there are two.
const SPLIT_LINES: &str = "\
3. execute_read - Run any discovered tool that only reads.
4. execute_write - Run any other discovered tool.";

pub(super) fn surface(
    view: &View,
    limits: ClientLimits,
    pinned: PinnedTools<'_>,
    execute: ExecuteTools,
) -> Surface {
    let named = |text: &str| text.replace(ExecuteTools::One.named(), execute.named());
    let mut gateway =
        vec![(DISCOVER, discover(view)), (SCHEMA, definition(named(SCHEMA_DEFINITION)))];
    gateway.extend(execute.definitions(EXECUTE_DESCRIPTION, EXECUTE_ARGUMENTS));
    let mut tools = by_alias(pinned.of(view), |_| Some(by_tool_name(SCHEMA)));
    let gateway = gateway
        .into_iter()
        .map(|(name, definition)| ToolSurface { name: name.to_owned(), definition });
    tools.splice(..0, gateway);
    let instructions = instructions(view, limits, execute);
    Surface { tools, instructions }
}

fn definition(json: String) -> Box<RawValue> {
    RawValue::from_string(json).expect("the definitions are JSON")
}

fn discover(view: &View) -> Box<RawValue> {
    let description = json_text(&format!("{DISCOVER_DESCRIPTION}{}", domain_names(view)));
    definition(format!(r#"{{"name":"{DISCOVER}","description":{description},{DISCOVER_REST}}}"#))
}

/// Which domains a search tool searches, for its description. Empty if there are none.
pub(crate) fn domain_names(view: &View) -> String {
    let names: Vec<_> = view.domains().map(|entry| entry.domain().as_str()).collect();
    if names.is_empty() {
        return String::new();
    }
    let sentence = |names: &str| format!("\n\nDomains: {names}");
    let cost = |names: &str| token_bound(&json_text(&sentence(names)));
    sentence(&listed(names, DOMAIN_TOKENS, cost))
}

/// The seed's text, with the tools that there are.
fn opening(execute: ExecuteTools) -> String {
    match execute {
        ExecuteTools::One => INSTRUCTIONS.to_owned(),
        ExecuteTools::Split => INSTRUCTIONS
            .replace("with 3 tools", "with 4 tools")
            .replace("3. execute_tool - Run any discovered tool.", SPLIT_LINES)
            .replace(ExecuteTools::One.named(), execute.named()),
    }
}

/// The seed's text, then the domains with their descriptions: shorter ones if room runs out, then
/// names alone, then as many as fit.
fn instructions(view: &View, limits: ClientLimits, execute: ExecuteTools) -> String {
    let opening = opening(execute);
    let domains: Vec<_> = view.domains().collect();
    if domains.is_empty() {
        return opening;
    }
    let described = |limit: usize| {
        let lines: String = domains.iter().map(|entry| line(view, entry, limit)).collect();
        format!("{opening}\n\nDomains:{lines}")
    };
    let mut described = DESCRIPTION_LIMITS.into_iter().map(described);
    described.find(|text| text.len() <= limits.instructions_bytes).unwrap_or_else(|| {
        let start = format!("{opening}\n\nDomains: ");
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
