//! A disclosure: a menu, with one tool for each source, whose description lists what it offers.
//!
//! A disclosure is pure. It makes a surface of a view, reads what a call of that surface means, and
//! words what the gateway itself has to say. What it does not see, no model behind it can reach:
//! the view holds only what the principal may see.

use std::fmt::Write as _;
use std::sync::Arc;

use gatefold_catalog::{DomainEntry, Request, View};
use gatefold_core::{CallError, Operation, Outcome, ToolName};
use gatefold_disclose::{ClientLimits, Disclosure, Reply, Step, Surface, ToolSurface, UsageError};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

/// Shows each source as one tool, `{domain}(tool, arguments)`.
pub struct Menu;

/// What a source's tool takes.
#[derive(Deserialize)]
struct Order<'a> {
    tool: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

impl Disclosure for Menu {
    /// Everything here is sorted and free of times and states: the same view gives the same bytes,
    /// and models' caches stay warm.
    fn surface(&self, view: &View, _: &ClientLimits) -> Surface {
        let tools: Vec<_> = view.domains().map(|domain| entry(view, domain)).collect();
        let instructions =
            "Each tool is a menu: name one of its tools and its arguments.".to_owned();
        Surface { tools, instructions }
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let domain = view.domain(name.as_str()).ok_or_else(|| {
            let known: Vec<_> = view.domains().map(|own| own.domain().as_str()).collect();
            UsageError::new(format!("there is no menu `{name}`: use one of {}", known.join(", ")))
        })?;
        let order: Order<'_> = serde_json::from_str(arguments.get())
            .map_err(|error| UsageError::new(format!("send `tool` and `arguments`: {error}")))?;
        let tool = view.tool_named(domain.domain(), &order.tool).ok_or_else(|| {
            let known: Vec<_> = view.tools_in(domain).map(|own| own.definition().name()).collect();
            UsageError::new(format!(
                "`{name}` has no `{}`: it has {}",
                order.tool,
                known.join(", ")
            ))
        })?;
        let arguments = match order.arguments {
            Some(arguments) => arguments.to_owned(),
            None => to_raw_value(&json!({})).expect("an empty object is JSON"),
        };
        let name = ToolName::of(tool.id());
        let operation = Arc::new(Operation::Tool { name, arguments });
        // What was resolved travels along, so that nobody looks the name up again.
        Ok(Step::Call(Request { operation, entry: Some(view.resolved(tool)) }))
    }

    /// Results reach the client as they are, so that only what went wrong is left to word.
    fn is_transparent(&self) -> bool {
        true
    }

    fn render(
        &self,
        _: &View,
        _: &ToolName,
        _: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let text = match result {
            Err(error) => error.to_string(),
            Ok(_) => "the call goes on elsewhere".to_owned(),
        };
        Reply { is_error: true, ..Reply::text(&text) }
    }
}

/// The tool that stands for one source.
fn entry(view: &View, domain: &DomainEntry) -> ToolSurface {
    let mut description = format!("{}\n", domain.description());
    for tool in view.tools_in(domain) {
        let _ = write!(description, "\n- {}: {}", tool.definition().name(), tool.line());
    }
    let name = domain.domain().as_str().to_owned();
    let definition = json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": { "tool": { "type": "string" }, "arguments": { "type": "object" } },
            "required": ["tool"],
        },
    });
    ToolSurface { name, definition: to_raw_value(&definition).expect("its keys are texts") }
}
