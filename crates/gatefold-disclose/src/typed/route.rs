//! How a tool is reached through the tool for its kind of source.

use gatefold_catalog::{Action, Tool, View};
use serde_json::{Map, Value, json};

use super::kinds::{DISCOVER, calling, command_for};

/// The requests that lead to one tool.
pub(crate) struct Route {
    pub(crate) meta: &'static str,
    /// The member of an answer that lists tools or actions.
    pub(crate) list: String,
    /// The requests for all schemas of the source and for the one. A tool with a subcommand of its own
    /// needs none: the meta-tool's definition says how it is called.
    pub(crate) lookups: Option<(Value, Value)>,
    pub(crate) call: Value,
}

impl Route {
    /// `None` for a tool that is behind no such tool.
    pub(crate) fn to(view: &View, tool: &Tool) -> Option<Self> {
        let (domain, own) = (tool.domain().as_str(), tool.definition().name());
        let kind = view.domain(domain)?.kind().meta_tool()?;
        let (meta, noun, part) = (kind.name, kind.noun, kind.part);
        let list = format!("{part}s");
        if let Some(command) = command_for(kind, own) {
            let mut call = Map::new();
            call.insert("subcommand".to_owned(), command.name.into());
            call.insert(noun.to_owned(), domain.into());
            if let Action::Call(fixed) = command.action {
                call.extend(fixed.needs.map(|(name, example)| (name.to_owned(), example.into())));
            }
            return Some(Self { meta, list, lookups: None, call: call.into() });
        }
        let command = calling(kind)?.name;
        let all = json!({ "subcommand": DISCOVER, noun: domain });
        let one = json!({ "subcommand": DISCOVER, noun: domain, part: own });
        let call = json!({ "subcommand": command, noun: domain, part: own, "parameters": {} });
        Some(Self { meta, list, lookups: Some((all, one)), call })
    }
}
