//! The kinds of sources in a view, as they brought themselves.

use gatefold_catalog::{Action, Command, DomainEntry, MetaTool, ToolPlace, TopicTool, View};

/// The subcommand that looks something up. Every meta-tool has it.
pub(super) const DISCOVER: &str = "discover";

/// The meta-tools for the sources of a view, in the order of surfaces.
pub(super) fn meta_tools(view: &View) -> Vec<&'static MetaTool> {
    let tools = view.domains().filter_map(|entry| entry.kind().meta_tool());
    let mut tools: Vec<_> = tools.collect();
    tools.sort_by_key(|tool| (tool.step, tool.name));
    tools.dedup_by_key(|tool| tool.name);
    tools
}

/// The tools that are about topics of the sources of a view, in the order of surfaces.
pub(super) fn topic_tools(view: &View) -> Vec<&'static TopicTool> {
    let mut tools: Vec<_> = view.domains().flat_map(topic_tools_of).collect();
    tools.sort_by_key(|tool| (tool.step, tool.name));
    tools.dedup_by_key(|tool| tool.name);
    tools
}

/// The tools that stand for a source's topics.
pub(super) fn topic_tools_of(entry: &DomainEntry) -> &'static [TopicTool] {
    match entry.kind().place() {
        ToolPlace::Topics(tools) => tools,
        ToolPlace::Top | ToolPlace::Behind(_) => &[],
    }
}

/// Whether a source is one of those that a meta-tool stands for.
pub(super) fn is_behind(entry: &DomainEntry, meta: &MetaTool) -> bool {
    entry.kind().meta_tool().is_some_and(|own| own.name == meta.name)
}

/// The sources behind a meta-tool: those with a visible tool, and those that have listed nothing so far.
pub(super) fn sources<'a>(view: &'a View, meta: &MetaTool) -> Vec<&'a DomainEntry> {
    let has_tools =
        |entry: &&DomainEntry| entry.manifest().is_none() || view.tools_in(entry).next().is_some();
    view.domains().filter(|entry| is_behind(entry, meta)).filter(has_tools).collect()
}

/// The subcommands for these sources.
pub(super) fn commands(
    view: &View,
    meta: &'static MetaTool,
    entries: &[&DomainEntry],
) -> Vec<&'static Command> {
    let is_there = |command: &&Command| match command.action {
        Action::Call(call) if call.is_optional => {
            entries.iter().any(|entry| view.tool_named(entry.domain(), call.tool).is_some())
        }
        _ => true,
    };
    meta.commands.iter().filter(is_there).collect()
}

/// The subcommand that calls a tool with this name of its own, and no other.
pub(super) fn command_for(meta: &MetaTool, tool: &str) -> Option<&'static Command> {
    let calls =
        |command: &&Command| matches!(command.action, Action::Call(call) if call.tool == tool);
    meta.commands.iter().find(calls)
}

/// The subcommand that calls whatever tool is named.
pub(super) fn calling(meta: &MetaTool) -> Option<&'static Command> {
    meta.commands.iter().find(|command| matches!(command.action, Action::CallNamed))
}

/// What reads a part of a schema by its path, where tools are described.
pub(super) fn reader(meta: &MetaTool) -> Option<String> {
    let describes = |command: &&Command| matches!(command.action, Action::Describe);
    let command = meta.commands.iter().find(describes)?.name;
    Some(format!("{} with the subcommand `{command}`, the `{}`", meta.name, meta.part))
}

/// All parameters of a meta-tool, with the cursor at the end.
pub(super) fn parameters(meta: &MetaTool) -> Vec<&'static str> {
    let own = meta.parameters.iter().map(|(name, _)| *name);
    ["subcommand", meta.noun].into_iter().chain(own).chain(["cursor"]).collect()
}
