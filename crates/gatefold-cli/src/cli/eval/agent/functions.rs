//! A surface's tools as functions of a chat.

use std::collections::HashMap;

use gatefold_disclose::Surface;
use gatefold_model::{RawJson, ToolDefinition};
use serde::Deserialize;

/// The functions that a model is given. Endpoints take fewer names than MCP does, so some tools have
/// another name here.
pub(super) struct Functions {
    definitions: Vec<ToolDefinition>,
    /// The tool of each function whose name differs.
    renamed: HashMap<String, String>,
}

impl Functions {
    pub(super) fn of(surface: &Surface) -> Self {
        let (mut definitions, mut tools) = (Vec::new(), HashMap::new());
        for tool in &surface.tools {
            let name = free_name(&tool.name, &tools);
            definitions.push(definition(&name, tool.definition.get()));
            tools.insert(name, tool.name.clone());
        }
        tools.retain(|name, tool| name != tool);
        Self { definitions, renamed: tools }
    }

    pub(super) fn definitions(&self) -> &[ToolDefinition] {
        &self.definitions
    }

    /// The tool that a function stands for. Any other name is its own.
    pub(super) fn tool_of<'a>(&'a self, function: &'a str) -> &'a str {
        self.renamed.get(function).map_or(function, String::as_str)
    }
}

/// The members of a definition that a model is given.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownTool {
    description: Option<String>,
    input_schema: Option<RawJson>,
}

fn definition(name: &str, tool: &str) -> ToolDefinition {
    let ShownTool { description, input_schema } = serde_json::from_str(tool).unwrap_or_default();
    let schema = input_schema.unwrap_or_else(|| RawJson::of(&serde_json::Map::new()));
    let description = description.unwrap_or_default();
    ToolDefinition::new(name, &description, &schema).expect("the name was made legal")
}

/// A legal name that no other tool has.
fn free_name(tool: &str, taken: &HashMap<String, String>) -> String {
    let is_legal = |byte: char| byte.is_ascii_alphanumeric() || matches!(byte, '_' | '-');
    let legal = tool.chars().map(|one| if is_legal(one) { one } else { '_' });
    let legal: String = legal.take(ToolDefinition::NAME_LENGTH).collect();
    let numbered = (2..).map(|number| {
        let end = format!("_{number}");
        format!("{}{end}", &legal[..legal.len().min(ToolDefinition::NAME_LENGTH - end.len())])
    });
    let mut names = std::iter::once(legal.clone()).chain(numbered);
    names.find(|name| !taken.contains_key(name)).expect("there are more numbers than tools")
}

#[cfg(test)]
mod tests {
    use gatefold_disclose::ToolSurface;

    use super::*;

    #[test]
    fn names_become_legal_and_stay_apart() {
        let long = "x".repeat(80);
        let names = ["a.b", "a_b", "a-b", &long, &format!("{long}y"), "é"];
        let tool = |name: &&str| ToolSurface {
            name: (*name).to_owned(),
            definition: serde_json::from_str(r#"{"inputSchema":{"type":"object"}}"#).unwrap(),
        };
        let tools = names.iter().map(tool).collect();
        let surface = Surface { tools, instructions: String::new() };
        let functions = Functions::of(&surface);
        let shown: Vec<_> = functions.definitions().iter().map(ToolDefinition::name).collect();
        let cut = format!("{}_2", "x".repeat(62));
        assert_eq!(shown, ["a_b", "a_b_2", "a-b", &"x".repeat(64), &cut, "_"]);
        let back: Vec<_> = shown.iter().map(|name| functions.tool_of(name)).collect();
        assert_eq!(back, names);
        assert_eq!(functions.tool_of("other"), "other");
    }
}
