use std::borrow::Cow;
use std::sync::Arc;

use gatefold_catalog::{Request, Tool, View, address, with_fields};
use gatefold_core::{CallError, Operation, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::arguments::json_text;
use crate::gateway::called_arguments;
use crate::listing;
use crate::surface::{
    ClientLimits, Disclosure, Reply, Step, Surface, ToolSurface, TopLevelCall, UsageError,
};
use crate::wording::listed;

/// Every tool with its full definition, as if there were no gateway.
///
/// Results of its tools pass unchanged, including protocol errors.
#[derive(Debug, Clone, Copy)]
pub struct FlatDisclosure {
    pub names: Names,
}

/// Which names are used at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Names {
    /// The source's own; the view has only one source. Definitions are the source's, unchanged, and
    /// in its own order.
    Own,
    /// The gateway's, unique among all sources.
    Public,
}

impl Disclosure for FlatDisclosure {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        let mut tools: Vec<_> = view.tools().chain(view.tools_of_apps()).collect();
        match self.names {
            Names::Own => tools.sort_by_key(|tool| tool.definition().listed_at()),
            Names::Public => tools.sort_by(|a, b| a.alias().cmp(b.alias())),
        }
        let tools: Vec<_> = tools.into_iter().map(|tool| self.top_level(tool)).collect();
        let instructions = self.instructions(view, *limits);
        Surface { tools, instructions }
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let tool = match self.names {
            Names::Own => {
                view.domains().find_map(|entry| view.tool_named(entry.domain(), name.as_str()))
            }
            Names::Public => view.find(name.as_str()),
        };
        // An unknown name is dispatched anyway: the dispatcher gives the error, and its record
        // shows the attempt.
        let name = tool.map_or_else(|| name.clone(), |tool| ToolName::of(tool.id()));
        let arguments = called_arguments(arguments);
        let operation = Arc::new(Operation::Tool { name, arguments });
        let entry = tool.map(|tool| view.resolved(tool));
        Ok(Step::Call(Request { operation, entry }))
    }

    fn searches(&self, _: &View, _: &ToolName) -> bool {
        false
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        crate::gateway::untouched(view, name, request, result)
    }

    fn is_transparent(&self) -> bool {
        true
    }

    fn call_of(&self, _: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        TopLevelCall { name: self.name(tool).to_owned(), arguments: arguments.to_owned() }
    }

    fn reached_through(&self, _: &View, tool: &Tool) -> Vec<String> {
        vec![match self.names {
            Names::Public => tool.alias().to_owned(),
            Names::Own => tool.definition().name().to_owned(),
        }]
    }
}

impl FlatDisclosure {
    fn name(self, tool: &Tool) -> &str {
        match self.names {
            Names::Own => &tool.target().name,
            Names::Public => tool.alias(),
        }
    }

    /// A tool's definition in a list.
    pub(crate) fn top_level(self, tool: &Tool) -> ToolSurface {
        let name = self.name(tool).to_owned();
        let definition = match self.names {
            Names::Own => listing::own_definition(tool, &name),
            Names::Public => readdressed_page(tool, listing::definition(tool, &name, || None)),
        };
        let definition = RawValue::from_string(definition).expect("a manifest holds JSON");
        ToolSurface { name, definition }
    }

    /// A single source speaks for itself; several are listed by name.
    fn instructions(self, view: &View, limits: ClientLimits) -> String {
        match self.names {
            Names::Own => {
                let manifest = view.domains().find_map(|entry| entry.manifest());
                let server = manifest.and_then(|manifest| manifest.server());
                server.and_then(|server| server.instructions.clone()).unwrap_or_default()
            }
            Names::Public => {
                let start = "Tools of these sources: ";
                let names = view.domains().map(|entry| entry.domain().as_str());
                let room = limits.instructions_bytes.saturating_sub(start.len());
                let names = listed(names, room, str::len);
                if names.is_empty() { names } else { format!("{start}{names}") }
            }
        }
    }
}

/// The definition with the address that the tool's app page has here.
fn readdressed_page(tool: &Tool, definition: String) -> String {
    let Some(uri) = tool.definition().ui_resource() else { return definition };
    let page = address(tool.domain(), uri);
    let addressed = with_fields(&definition, |key, value| match key {
        "_meta" => readdressed(value, &page).map_or(value.into(), Cow::Owned),
        _ => value.into(),
    });
    addressed.unwrap_or(definition)
}

/// The tool's `_meta` with another address for its page (MCP Apps, SEP-1865), in the current member
/// and in the older one.
fn readdressed(meta: &str, page: &str) -> Option<String> {
    let readdressed_ui = |ui: &str| {
        with_fields(ui, |key, value| match key {
            "resourceUri" => json_text(page).into(),
            _ => value.into(),
        })
    };
    with_fields(meta, |key, value| match key {
        "ui/resourceUri" => json_text(page).into(),
        "ui" => readdressed_ui(value).map_or(value.into(), Cow::Owned),
        _ => value.into(),
    })
}
