//! The tools at the top level that call others by their names: one, or one for reading and one for
//! everything else, so that a client's own permission rules can tell them apart.

use gatefold_catalog::Tool;
use serde_json::value::RawValue;

use crate::arguments::{json_text, object};
use crate::surface::TopLevelCall;

const EXECUTE: &str = "execute_tool";
const READ: &str = "execute_read";
const WRITE: &str = "execute_write";

const PARAMETERS: &str = r#""inputSchema":{"type":"object","properties":{"tool_name":{"type":"string"},"arguments":{"type":"object","description":"#;
const REST: &str = r#"}},"required":["tool_name"]},"annotations":"#;
const READING: &str = r#"{"readOnlyHint":true,"openWorldHint":true}"#;
const WRITING: &str = r#"{"readOnlyHint":false,"idempotentHint":false,"openWorldHint":true}"#;

/// Which of them a surface has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExecuteTools {
    /// `execute_tool`.
    #[default]
    One,
    /// `execute_read` for tools that declare themselves read-only, and `execute_write`.
    Split,
}

impl ExecuteTools {
    pub(crate) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::One => &[EXECUTE],
            Self::Split => &[READ, WRITE],
        }
    }

    pub(crate) fn has(self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// The one to call for a tool.
    pub(crate) const fn for_tool(self, is_read_only: bool) -> &'static str {
        match (self, is_read_only) {
            (Self::One, _) => EXECUTE,
            (Self::Split, true) => READ,
            (Self::Split, false) => WRITE,
        }
    }

    pub(crate) fn call_of(self, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        let id = json_text(tool.id().as_str());
        TopLevelCall {
            name: self.for_tool(tool.target().hints.read_only == Some(true)).to_owned(),
            arguments: object([("tool_name", id.as_str()), ("arguments", arguments.get())]),
        }
    }

    /// Their names in a sentence.
    pub(crate) const fn named(self) -> &'static str {
        match self {
            Self::One => "execute_tool",
            Self::Split => "execute_read or execute_write",
        }
    }

    /// Their definitions. `what` says of the one what it does, and `arguments` what it takes.
    pub(crate) fn definitions(
        self,
        what: &str,
        arguments: &str,
    ) -> Vec<(&'static str, Box<RawValue>)> {
        let one = |name: &'static str, description: &str, hints: &str| {
            let (description, arguments) = (json_text(description), json_text(arguments));
            let json = format!(
                r#"{{"name":"{name}","description":{description},{PARAMETERS}{arguments}{REST}{hints}}}"#
            );
            (name, RawValue::from_string(json).expect("the definitions are JSON"))
        };
        match self {
            Self::One => vec![one(EXECUTE, what, WRITING)],
            Self::Split => vec![
                one(READ, &format!("{what} Only for tools with readOnlyHint true."), READING),
                one(WRITE, &format!("{what} For all that may change something."), WRITING),
            ],
        }
    }
}

/// Whether a tool may be called through the one of this name.
pub(crate) fn admits(through: &str, is_read_only: bool) -> bool {
    through != READ || is_read_only
}

/// The one for tools that may change something.
pub(crate) const fn writing() -> &'static str {
    WRITE
}
