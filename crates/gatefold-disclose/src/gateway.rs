use gatefold_catalog::{Request, Tool, View};
use gatefold_core::{CallError, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::executing::ExecuteTools;
use crate::pinned::{PinnedTools, Pins};
use crate::surface::{ClientLimits, Disclosure, Reply, Step, Surface, TopLevelCall, UsageError};
use crate::wording::{BROWSE, quoted};

mod definitions;
mod discover;
mod execute;
mod result;
mod schema;

pub(crate) use definitions::domain_names;
pub(crate) use discover::domain_page;
pub(crate) use execute::{
    ArgumentPlace, ExecutingTool, called_arguments, find_in, flattened,
    request as executing_request, unknown_in, untouched as untouched_request,
};
pub(crate) use result::Rendering;
pub(crate) use schema::{
    by_tool_name, described as schema_text, described_after as schema_text_after, described_by,
    part_of,
};

pub(crate) const DISCOVER: &str = "discover_tools";
pub(crate) const SCHEMA: &str = "get_tool_schema";
/// The names of the gateway's own tools.
const fn own_tools(execute: ExecuteTools) -> &'static [&'static str] {
    match execute {
        ExecuteTools::One => &[DISCOVER, SCHEMA, "execute_tool"],
        ExecuteTools::Split => &[DISCOVER, SCHEMA, "execute_read", "execute_write"],
    }
}

/// The default disclosure: three tools to find, look up and call all others, and pinned tools.
#[derive(Debug, Clone, Default)]
pub struct Gateway {
    pub limits: GatewayLimits,
    /// Tools to show at the top level as well. A tool whose alias is
    /// the name of a gateway tool stays behind `execute_tool`.
    pub pinned: Pins,
    pub execute: ExecuteTools,
}

/// The limits of the answers that a [`Gateway`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GatewayLimits {
    /// The most o200k tokens of an answer of `discover_tools`, and where a batch of
    /// `get_tool_schema` stops. A single tool is always in it, in its first levels if its schema is long.
    pub discovery_tokens: usize,
    /// The most results of one page of a search.
    pub search_results: usize,
    /// The most schemas that one call may ask for.
    pub batch_names: usize,
    /// The most bytes of a result that is passed on.
    pub result_bytes: usize,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self { discovery_tokens: 2000, search_results: 10, batch_names: 50, result_bytes: 1 << 20 }
    }
}

impl Gateway {
    fn pinned(&self) -> PinnedTools<'_> {
        PinnedTools { pins: &self.pinned, own: own_tools(self.execute) }
    }

    /// Whether a name is one of the gateway's own tools.
    pub(crate) fn has(&self, name: &ToolName) -> bool {
        own_tools(self.execute).contains(&name.as_str())
    }

    fn not_at_the_top(&self, view: &View, name: &str) -> UsageError {
        let told = view.find(name).map(|tool| call_through(self.execute, name, tool));
        UsageError::new(told.unwrap_or_else(|| {
            let own = own_tools(self.execute).join(", ");
            format!("Unknown tool {}. Tools: {own}", quoted(name))
        }))
    }
}

impl Disclosure for Gateway {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        definitions::surface(view, *limits, self.pinned(), self.execute)
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        match name.as_str() {
            DISCOVER => discover::answer(view, &self.limits, arguments),
            SCHEMA => schema::answer(view, &self.limits, arguments).map(Step::Reply),
            through if self.execute.has(through) => {
                let own = own_tools(self.execute);
                let through = ExecutingTool { name: through, own, hint: BROWSE, domain: None };
                execute::request(view, &through, arguments).map(Step::Call)
            }
            name => match self.pinned().named(view, name) {
                Some(tool) => Ok(Step::Call(execute::untouched(view, tool, arguments))),
                None => Err(self.not_at_the_top(view, name)),
            },
        }
    }

    fn searches(&self, _: &View, name: &ToolName) -> bool {
        [DISCOVER, SCHEMA].contains(&name.as_str())
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let rendering = result::Rendering::new(view, request, &self.limits).hinting(BROWSE);
        if self.execute.has(name.as_str()) {
            rendering.envelope(result)
        } else {
            rendering.untouched(result)
        }
    }

    fn shows_used(&self) -> bool {
        self.pinned.most_used
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        if self.pinned().pins(view, tool) {
            return TopLevelCall { name: tool.alias().to_owned(), arguments: arguments.to_owned() };
        }
        self.execute.call_of(tool, arguments)
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        let own = own_tools(self.execute).iter().map(|&name| name.to_owned());
        let pinned = self.pinned().pins(view, tool).then(|| tool.alias().to_owned());
        own.chain(pinned).collect()
    }
}

/// How to call a tool that is not at the top level.
pub(crate) fn call_through(execute: ExecuteTools, name: &str, tool: &Tool) -> String {
    let through = execute.for_tool(tool.target().hints.read_only == Some(true));
    format!("Call {} through {through}, with the tool_name '{}'.", quoted(name), tool.id())
}

/// The answer for a tool that is at the top level.
pub(crate) fn untouched(
    view: &View,
    name: &ToolName,
    request: &Request,
    result: Result<Outcome, CallError>,
) -> Reply {
    let limits = GatewayLimits::default();
    result::Rendering::new(view, request, &limits).called(name.as_str()).untouched(result)
}

#[cfg(test)]
mod tests;
