use gatefold_catalog::{Request, Tool, View, token_bound};
use gatefold_core::{CallError, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::flat::{FlatDisclosure, Names};
use crate::gateway::Gateway;
use crate::surface::{ClientLimits, Disclosure, Reply, Step, Surface, TopLevelCall, UsageError};

/// Every tool with its full schema while all of them are small, else the gateway's three.
///
/// What a call means does not depend on which of the two was shown: a gateway tool's name leads to the
/// gateway, any other to the tool of that name. So a catalogue that grows during a session breaks
/// nobody's next call.
#[derive(Debug, Clone, Default)]
pub struct AutoDisclosure {
    pub gateway: Gateway,
    /// The most o200k tokens of all definitions together that are shown in full.
    pub flat_tokens: usize,
}

impl AutoDisclosure {
    const FLAT: FlatDisclosure = FlatDisclosure { names: Names::Public };

    fn is_flat(&self, view: &View) -> bool {
        let mut left = self.flat_tokens;
        view.tools().chain(view.tools_of_apps()).all(|tool| {
            let tokens = token_bound(tool.definition().raw());
            let fits = tokens <= left;
            left = left.saturating_sub(tokens);
            fits
        })
    }
}

impl Disclosure for AutoDisclosure {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        if self.is_flat(view) {
            Self::FLAT.surface(view, limits)
        } else {
            self.gateway.surface(view, limits)
        }
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let is_tool = || view.find(name.as_str()).is_some_and(|tool| tool.alias() == name.as_str());
        // Whoever was shown all tools is told of those, not of the gateway's.
        if self.gateway.has(name) || (!is_tool() && !self.is_flat(view)) {
            self.gateway.interpret(view, name, arguments)
        } else {
            Self::FLAT.interpret(view, name, arguments)
        }
    }

    fn searches(&self, view: &View, name: &ToolName) -> bool {
        self.gateway.searches(view, name)
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let is_unknown = matches!(result, Err(CallError::UnknownTool { .. }));
        // Only this answer names a tool of the gateway's to go on with.
        if is_unknown && !self.gateway.has(name) && self.is_flat(view) {
            return Self::FLAT.render(view, name, request, result);
        }
        self.gateway.render(view, name, request, result)
    }

    fn shows_used(&self) -> bool {
        self.gateway.shows_used()
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        if self.is_flat(view) {
            Self::FLAT.call_of(view, tool, arguments)
        } else {
            self.gateway.call_of(view, tool, arguments)
        }
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        if self.is_flat(view) {
            Self::FLAT.reached_through(view, tool)
        } else {
            self.gateway.reached_through(view, tool)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gatefold_catalog::{GroupRules, KindName, Manifest, Snapshot, SourceEntry, ToolSpec, View};
    use gatefold_core::{Domain, Timestamp};

    use super::*;

    fn view(tools: usize) -> View {
        let spec = |number: usize| ToolSpec::new(format!("t{number}")).description("Does it.");
        let manifest = (0..tools)
            .fold(Manifest::builder(Timestamp::from_millis(0)), |all, number| {
                all.tool(spec(number))
            })
            .build();
        let entry = SourceEntry {
            domain: Domain::parse("d").unwrap(),
            kind: KindName::new("mcp"),
            description: None,
            aliases: Vec::new(),
            groups: GroupRules::default(),
            manifest: Some(Arc::new(manifest)),
        };
        View::whole(Arc::new(Snapshot::build(vec![entry], 1)))
    }

    #[test]
    fn tools_are_shown_in_full_while_they_are_small() {
        let auto = AutoDisclosure { flat_tokens: 200, ..AutoDisclosure::default() };
        for (tools, first, count) in [(3, "d__t0", 3), (100, "discover_tools", 3)] {
            let surface = auto.surface(&view(tools), &ClientLimits::default());
            assert_eq!(surface.tools[0].name, first, "{tools} tools");
            assert_eq!(surface.tools.len(), count);
        }
    }

    #[test]
    fn a_call_means_the_same_whichever_was_shown() {
        let auto = AutoDisclosure { flat_tokens: 200, ..AutoDisclosure::default() };
        for view in [view(3), view(100)] {
            for (name, arguments) in [
                ("d__t1", r#"{"a":1}"#),
                ("execute_tool", r#"{"tool_name":"d__t1","arguments":{"a":1}}"#),
            ] {
                let name = ToolName::parse(name).unwrap();
                let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
                let Ok(Step::Call(request)) = auto.interpret(&view, &name, &arguments) else {
                    panic!("{name} is no call");
                };
                let operation = &request.operation;
                assert_eq!((operation.subject(), operation.arguments()), ("d__t1", r#"{"a":1}"#));
            }
            let unknown = ToolName::parse("d__nothing").unwrap();
            let arguments = RawValue::from_string("{}".to_owned()).unwrap();
            match auto.interpret(&view, &unknown, &arguments) {
                // The call is refused with suggestions.
                Ok(Step::Call(request)) => {
                    assert!(request.entry.is_none() && view.tool_count() == 3);
                }
                Ok(_) => panic!("an unknown tool has an answer"),
                Err(_) => assert_eq!(view.tool_count(), 100),
            }
        }
    }
}
