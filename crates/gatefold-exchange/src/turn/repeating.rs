//! Calls that may have been made already.

use gatefold_core::{Operation, ToolName};
use gatefold_disclose::Step;
use serde_json::value::RawValue;

use super::Turn;

impl Turn {
    /// Whether a call of one of the surface's tools may be made twice without harm: it only looks something up, or the
    /// tool that it leads to says so.
    pub async fn is_repeatable(&self, name: &ToolName, arguments: &RawValue) -> bool {
        let request = match self.interpret(name, arguments).await {
            Ok(Step::Call(request)) => request,
            Ok(_) => return true,
            // The tool may be gone only for now, and the call was made while it was there.
            Err(_) => return false,
        };
        match &*request.operation {
            Operation::Tool { name, .. } => {
                let named = request.entry.as_ref().and_then(|entry| self.view().tool_of(entry));
                let tool = named.or_else(|| self.view().find(name.as_str()));
                tool.is_some_and(|tool| tool.target().hints.is_repeatable())
            }
            Operation::Resource(_) | Operation::Prompt { .. } | Operation::Complete(_) => true,
            _ => false,
        }
    }
}
