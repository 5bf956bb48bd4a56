//! A surface's tools as functions of a chat.

use std::collections::{HashMap, HashSet};

use gatefold_disclose::Surface;
use gatefold_model::{RawJson, ToolDefinition};
use serde::Deserialize;

/// The most functions of one run. Endpoints take a few hundred at best.
const KNOWN: usize = 16_384;

/// The functions that a model is given. Endpoints take fewer names than MCP does, so some tools have
/// another name here.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    /// At most [`KNOWN`].
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    /// The name at the surface.
    tool: String,
    /// The definition there, to see whether it has changed.
    text: String,
    definition: ToolDefinition,
    is_offered: bool,
}

/// The members of a definition that a model is given.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownTool {
    description: Option<String>,
    input_schema: Option<RawJson>,
}

impl Functions {
    /// Takes over what a surface shows now: known tools keep their places and names, and new ones follow
    /// them, so that what a provider has cached of a prompt stays its beginning.
    pub(crate) fn update(&mut self, surface: &Surface) {
        let mut names: HashSet<String> = HashSet::new();
        let mut places = HashMap::new();
        for (place, function) in self.functions.iter_mut().enumerate() {
            function.is_offered = false;
            names.insert(function.definition.name().to_owned());
            places.insert(function.tool.clone(), place);
        }
        for tool in &surface.tools {
            let text = tool.definition.get();
            let Some(place) = places.get(&tool.name) else {
                if self.functions.len() == KNOWN {
                    continue;
                }
                let name = free_name(&tool.name, &names);
                names.insert(name.clone());
                self.functions.push(Function {
                    tool: tool.name.clone(),
                    text: text.to_owned(),
                    definition: definition(&name, text),
                    is_offered: true,
                });
                continue;
            };
            let function = &mut self.functions[*place];
            function.is_offered = true;
            if function.text != text {
                text.clone_into(&mut function.text);
                function.definition = definition(function.definition.name(), text);
            }
        }
    }

    pub(crate) fn definitions(&self) -> Vec<ToolDefinition> {
        let offered = self.functions.iter().filter(|function| function.is_offered);
        offered.map(|function| function.definition.clone()).collect()
    }

    /// The tool that a function stands for. Any other name is its own.
    pub(crate) fn tool_of<'a>(&'a self, function: &'a str) -> &'a str {
        let known = self.functions.iter().find(|known| known.definition.name() == function);
        known.map_or(function, |known| known.tool.as_str())
    }
}

fn definition(name: &str, tool: &str) -> ToolDefinition {
    let ShownTool { description, input_schema } = serde_json::from_str(tool).unwrap_or_default();
    let schema = input_schema.unwrap_or_else(|| RawJson::of(&serde_json::Map::new()));
    let description = description.unwrap_or_default();
    ToolDefinition::new(name, &description, &schema).expect("the name was made legal")
}

/// A legal name that no other tool has.
fn free_name(tool: &str, taken: &HashSet<String>) -> String {
    let is_legal = |byte: char| byte.is_ascii_alphanumeric() || matches!(byte, '_' | '-');
    let legal = tool.chars().map(|one| if is_legal(one) { one } else { '_' });
    let legal: String = legal.take(ToolDefinition::NAME_LENGTH).collect();
    let numbered = (2..).map(|number| {
        let end = format!("_{number}");
        format!("{}{end}", &legal[..legal.len().min(ToolDefinition::NAME_LENGTH - end.len())])
    });
    let mut names = std::iter::once(legal.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).expect("there are more numbers than tools")
}

#[cfg(test)]
mod tests {
    use gatefold_disclose::ToolSurface;

    use super::*;

    fn surface(names: &[&str]) -> Surface {
        let tool = |name: &&str| ToolSurface {
            name: (*name).to_owned(),
            definition: serde_json::from_str(r#"{"inputSchema":{"type":"object"}}"#).unwrap(),
        };
        Surface { tools: names.iter().map(tool).collect(), instructions: String::new() }
    }

    fn names(functions: &Functions) -> Vec<String> {
        functions.definitions().iter().map(|tool| tool.name().to_owned()).collect()
    }

    #[test]
    fn names_become_legal_and_stay_apart() {
        let long = "x".repeat(80);
        let tools = ["a.b", "a_b", "a-b", &long, &format!("{long}y"), "é"];
        let mut functions = Functions::default();
        functions.update(&surface(&tools));
        let shown = names(&functions);
        let cut = format!("{}_2", "x".repeat(62));
        assert_eq!(shown, ["a_b", "a_b_2", "a-b", &"x".repeat(64), &cut, "_"]);
        let back: Vec<_> = shown.iter().map(|name| functions.tool_of(name)).collect();
        assert_eq!(back, tools);
        assert_eq!(functions.tool_of("other"), "other");
    }

    #[test]
    fn known_tools_keep_their_places_and_names() {
        let mut functions = Functions::default();
        functions.update(&surface(&["a", "b.c"]));
        functions.update(&surface(&["b_c", "b.c", "a"]));
        assert_eq!(names(&functions), ["a", "b_c", "b_c_2"]);
        functions.update(&surface(&["b_c"]));
        assert_eq!(names(&functions), ["b_c_2"]);
        functions.update(&surface(&["a", "b_c"]));
        assert_eq!(names(&functions), ["a", "b_c_2"]);
    }
}
