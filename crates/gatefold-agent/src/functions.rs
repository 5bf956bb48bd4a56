//! A surface's tools as functions of a chat.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use gatefold_disclose::Surface;
use gatefold_model::{RawJson, ToolDefinition};
use serde::Deserialize;

/// The most functions of one run. Endpoints take a few hundred at best.
const KNOWN: usize = 16_384;

/// The functions that a model is given. Endpoints take fewer names than MCP does, so some tools have
/// another name here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    /// At most [`KNOWN`].
    functions: Vec<Function>,
}

#[derive(Debug, Clone)]
struct Function {
    /// The name at the surface.
    tool: String,
    /// Of the definition there, to see whether it has changed. Its text would take as much memory again.
    fingerprint: u64,
    definition: ToolDefinition,
    is_offered: bool,
}

/// What may be other than in the surface before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SurfaceChange {
    /// Which tools are shown. A definition that names those which are not stays as it was first.
    Choice,
    /// What tools there are, and their definitions.
    Definitions,
}

/// The members of a definition that a model is given.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownTool {
    description: Option<String>,
    input_schema: Option<RawJson>,
}

impl Functions {
    /// Takes over what a surface shows now: tools that are offered already keep their places and names, and others follow
    /// them, so that what a provider has cached of a prompt stays its beginning.
    pub(crate) fn update(&mut self, surface: &Surface, changes: SurfaceChange) {
        let shown: HashSet<&str> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
        let mut names: HashSet<String> =
            self.functions.iter().map(|known| known.definition.name().to_owned()).collect();
        let stays = |known: &Function| known.is_offered && shown.contains(known.tool.as_str());
        let (stayed, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.functions).into_iter().partition(stays);
        let by_tool = |known: Function| (known.tool.clone(), known);
        let places: HashMap<_, _> =
            stayed.iter().map(|known| known.tool.clone()).zip(0..).collect();
        let mut others: BTreeMap<_, _> = others.into_iter().map(by_tool).collect();
        self.functions = stayed;
        for tool in &surface.tools {
            let text = tool.definition.get();
            if let Some(place) = places.get(&tool.name) {
                if changes == SurfaceChange::Definitions {
                    self.functions[*place].redefine(text);
                }
                continue;
            }
            if let Some(mut known) = others.remove(&tool.name) {
                known.redefine(text);
                self.functions.push(Function { is_offered: true, ..known });
            } else if self.functions.len() + others.len() < KNOWN {
                let name = free_name(&tool.name, &names);
                names.insert(name.clone());
                self.functions.push(Function {
                    tool: tool.name.clone(),
                    fingerprint: fingerprint(text),
                    definition: definition(&name, text),
                    is_offered: true,
                });
            }
        }
        let others = others.into_values();
        self.functions.extend(others.map(|known| Function { is_offered: false, ..known }));
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

impl Function {
    fn redefine(&mut self, text: &str) {
        let fingerprint = fingerprint(text);
        if self.fingerprint != fingerprint {
            self.fingerprint = fingerprint;
            self.definition = definition(self.definition.name(), text);
        }
    }
}

fn fingerprint(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
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

    fn update(functions: &mut Functions, names: &[&str]) {
        functions.update(&surface(names), SurfaceChange::Definitions);
    }

    fn names(functions: &Functions) -> Vec<String> {
        functions.definitions().iter().map(|tool| tool.name().to_owned()).collect()
    }

    #[test]
    fn names_become_legal_and_stay_apart() {
        let long = "x".repeat(80);
        let tools = ["a.b", "a_b", "a-b", &long, &format!("{long}y"), "é"];
        let mut functions = Functions::default();
        update(&mut functions, &tools);
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
        update(&mut functions, &["a", "b.c"]);
        update(&mut functions, &["b_c", "b.c", "a"]);
        assert_eq!(names(&functions), ["a", "b_c", "b_c_2"]);
        update(&mut functions, &["b_c"]);
        assert_eq!(names(&functions), ["b_c_2"]);
        update(&mut functions, &["a", "b_c"]);
        assert_eq!(
            names(&functions),
            ["b_c_2", "a"],
            "one that comes back follows what is offered"
        );
    }

    #[test]
    fn a_definition_changes_only_with_what_there_is() {
        let mut functions = Functions::default();
        update(&mut functions, &["a"]);
        let mut changed = surface(&["b", "a"]);
        changed.tools[1].definition = serde_json::from_str(r#"{"description":"new"}"#).unwrap();
        let about = |functions: &Functions| functions.definitions()[0].description().to_owned();
        functions.update(&changed, SurfaceChange::Choice);
        assert_eq!(
            (names(&functions), about(&functions)),
            (vec!["a".into(), "b".into()], String::new())
        );
        functions.update(&changed, SurfaceChange::Definitions);
        assert_eq!(about(&functions), "new");
    }
}
