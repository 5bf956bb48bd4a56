//! Tools that stand at the top level beside a disclosure's own.

use gatefold_catalog::{Pattern, Tool, View, object_fields};

use crate::arguments::{json_text, object};
use crate::surface::ToolSurface;

/// The tools that patterns over their ids pin.
#[derive(Clone, Copy)]
pub(crate) struct PinnedTools<'a> {
    pub(crate) patterns: &'a [Pattern],
    /// The names of the disclosure's own tools. A tool whose alias is one of them is not pinned.
    pub(crate) own: &'a [&'a str],
}

impl<'a> PinnedTools<'a> {
    /// The pinned tools of a view.
    pub(crate) fn of(self, view: &'a View) -> impl Iterator<Item = &'a Tool> {
        view.tools().filter(move |tool| self.pins(tool))
    }

    /// The pinned tool with this alias.
    pub(crate) fn named(self, view: &'a View, alias: &str) -> Option<&'a Tool> {
        with_alias(view, alias).filter(|tool| self.pins(tool))
    }

    /// Whether this tool is one of them.
    pub(crate) fn pins(self, tool: &Tool) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(tool.id().as_str()))
            && !self.own.contains(&tool.alias())
    }
}

/// The listed tool with this alias. It is looked up rather than searched for, because a view may have
/// very many tools.
pub(crate) fn with_alias<'a>(view: &'a View, alias: &str) -> Option<&'a Tool> {
    let is_listed = |tool: &&Tool| !tool.definition().is_for_apps_only();
    view.find(alias).filter(is_listed).filter(|tool| tool.alias() == alias)
}

/// Tools as they stand at the top level, by their aliases.
pub(crate) fn by_alias<'a>(tools: impl Iterator<Item = &'a Tool>) -> Vec<ToolSurface> {
    let mut tools: Vec<_> = tools.map(top_level).collect();
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    tools
}

/// A tool as its source defines it, under its alias. A schema without a type gets `object`, the
/// only legal one: clients that check would refuse it along with all other tools.
fn top_level(tool: &Tool) -> ToolSurface {
    let name = json_text(tool.alias());
    let fields = object_fields(tool.definition().raw()).unwrap_or_default();
    let schema = object_fields(tool.definition().input_schema()).unwrap_or_default();
    let typed = schema.iter().any(|(key, _)| key == "type");
    let with_type = [("type", r#""object""#)];
    let schema = object(
        with_type.into_iter().chain(schema.iter().map(|(key, value)| (key.as_ref(), *value))),
    );
    let fields = fields.iter().map(|(key, value)| match key.as_ref() {
        "name" => ("name", name.as_str()),
        "inputSchema" if !typed => ("inputSchema", schema.get()),
        key => (key, *value),
    });
    ToolSurface { name: tool.alias().to_owned(), definition: object(fields) }
}
