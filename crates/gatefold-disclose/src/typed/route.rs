//! How a tool is reached through the tool for its kind of source.

use gatefold_catalog::{Tool, View};
use serde_json::{Value, json};

use super::database::DatabaseCommand;
use super::kinds::{DISCOVER, ResourceKind, ToolPlace};

/// The statement of a call that needs one.
const STATEMENT: &str = "SELECT 1";

/// The requests that lead to one tool.
pub(crate) struct Route {
    pub(crate) meta: &'static str,
    /// The member of an answer that lists tools or actions.
    pub(crate) list: String,
    /// The requests for all schemas of the source and for the one. A database's tools need none: the
    /// definition of `database` says how each is called.
    pub(crate) lookups: Option<(Value, Value)>,
    pub(crate) call: Value,
}

impl Route {
    /// `None` for a tool that is behind no such tool.
    pub(crate) fn to(view: &View, tool: &Tool) -> Option<Self> {
        let (domain, own) = (tool.domain().as_str(), tool.definition().name());
        let ToolPlace::Behind(kind) = ToolPlace::of(view.domain(domain)?.kind()) else {
            return None;
        };
        let (meta, noun, part) = (kind.meta_tool(), kind.noun(), kind.part());
        let list = format!("{part}s");
        if kind == ResourceKind::Database {
            let command = DatabaseCommand::of_tool(own)?.name;
            let call = json!({ "subcommand": command, noun: domain, "sql": STATEMENT });
            return Some(Self { meta, list, lookups: None, call });
        }
        let all = json!({ "subcommand": DISCOVER, noun: domain });
        let one = json!({ "subcommand": DISCOVER, noun: domain, part: own });
        let call =
            json!({ "subcommand": kind.calling(), noun: domain, part: own, "parameters": {} });
        Some(Self { meta, list, lookups: Some((all, one)), call })
    }
}
