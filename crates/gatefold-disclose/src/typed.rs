use std::collections::BTreeSet;
use std::sync::Arc;

use gatefold_catalog::{
    Action, AssemblyStep, Command, DomainEntry, MetaTool, Request, Tool, ToolPlace, TopicTool,
    TopicUse, View, nearest_texts, object_fields,
};
use gatefold_core::{CallError, Domain, Operation, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::arguments::{Arguments, json_text, object};
use crate::flat::{FlatDisclosure, Names};
use crate::gateway::{GatewayLimits, Rendering, called_arguments, untouched_request};
use crate::pinned::{PinnedTools, Pins, by_alias};
use crate::surface::{
    ClientLimits, Disclosure, Reply, Step, Surface, TOOLS_LIMIT, ToolSurface, TopLevelCall,
    UsageError,
};
use crate::wording::{did_you_mean, listed, quoted};
use fixed::fixed_call;
use kinds::{
    DISCOVER, calling, command_for, commands, is_behind, meta_tools, reader, sources, topic_tools,
};
use parts::SourceTools;
pub(crate) use route::Route;
use topics::{TopicInstructions, Topics};

mod definitions;
mod fixed;
mod kinds;
mod pages;
mod parts;
mod route;
mod stubs;
mod topics;

/// The most bytes of names in an error.
const NAMED_BYTES: usize = 2000;

/// One tool for each kind of source, with a line for each source; a kind brings the words. Tools of kinds
/// that stand for themselves, and pinned ones, are beside them.
///
/// A tool at the top level that is called like one of these is not shown.
#[derive(Debug, Clone, Default)]
pub struct TypedDisclosure {
    pub limits: GatewayLimits,
    /// Tools to show at the top level as well.
    pub pinned: Pins,
    pub modes: ToolModes,
}

/// How the tools of each kind of source are shown, where it is not the usual way: behind the kind's tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ToolModes {
    /// The meta-tools in whose place the sources' tools are shown one by one, with their full schemas.
    pub legacy: BTreeSet<&'static str>,
    /// The reading tools whose topics are given whole in the instructions. What does not fit there is
    /// shown by stubs.
    pub inline: BTreeSet<&'static str>,
}

impl TypedDisclosure {
    /// Puts a surface together in eight steps, in their order. Kinds say at which [`AssemblyStep`] they are loaded.
    fn assemble(&self, view: &View, limits: ClientLimits) -> Surface {
        let instructions = definitions::usage(&self.shown_meta_tools(view));
        let mut surface = Surface { tools: Vec::new(), instructions };
        // 1. Base discovery: built-in tools, and what else stands for itself or is pinned.
        surface.tools.extend(self.base_tools(view));
        // 2. The category filter is policy: rules made of an agent's `tool_categories` and `connector_ids` hide tools
        //    from its view, so that they cannot be called either. The view has been through it.
        // 3. Knowledge bases.
        self.load(AssemblyStep::Knowledge, view, limits, &mut surface);
        // 4. APIs and databases, by their meta-tools or one by one.
        self.load(AssemblyStep::Connectors, view, limits, &mut surface);
        // 5. MCP servers, likewise.
        self.load(AssemblyStep::Mcp, view, limits, &mut surface);
        // 6. Skills: `read_skill`, and stubs or whole texts in the instructions.
        self.load(AssemblyStep::Skills, view, limits, &mut surface);
        // 7. `call_agent` with its catalogue.
        self.load(AssemblyStep::CallAgent, view, limits, &mut surface);
        // 8. Selection is [`SelectedDisclosure`](crate::SelectedDisclosure) around this or any other disclosure.
        surface
    }

    /// Adds what the kinds of a step are shown by.
    fn load(&self, step: AssemblyStep, view: &View, limits: ClientLimits, surface: &mut Surface) {
        for meta in meta_tools(view).into_iter().filter(|meta| meta.step == step) {
            surface.tools.extend(self.loaded(view, meta));
        }
        for tool in topic_tools(view).into_iter().filter(|tool| tool.step == step) {
            let topics = Topics::of(view, tool);
            if topics.is_empty() {
                continue;
            }
            let instructions = std::mem::take(&mut surface.instructions);
            let shown = if tool.usage != TopicUse::Read {
                TopicInstructions { text: instructions, is_all: false }
            } else if self.modes.inline.contains(tool.name) {
                topics.inline(&instructions, limits.instructions_bytes)
            } else {
                topics.by_stubs(&instructions, limits.instructions_bytes)
            };
            if !shown.is_all {
                surface.tools.push(definitions::topic_tool(&topics));
            }
            surface.instructions = shown.text;
        }
    }

    /// The tools of kinds that stand for themselves, and as many pinned ones as clients take beside them
    /// and the meta-tools.
    fn base_tools(&self, view: &View) -> Vec<ToolSurface> {
        let own = own_names(view);
        let is_base = |tool: &&Tool| is_at_top(view, tool) && !own.contains(&tool.alias());
        let base: Vec<_> = view.tools().filter(is_base).collect();
        let room = TOOLS_LIMIT.saturating_sub(own.len() + base.len());
        let pinned = PinnedTools { pins: &self.pinned, own: &own };
        let pinned = pinned.of(view).filter(|tool| !self.is_at_the_top(view, tool));
        let reader = |tool: &Tool| reader(entry_of(view, tool)?.kind().meta_tool()?);
        by_alias(base.into_iter().chain(pinned.take(room)), reader)
    }

    /// What the sources of a kind are shown by: its meta-tool, or each tool in the legacy mode.
    fn loaded(&self, view: &View, meta: &'static MetaTool) -> Vec<ToolSurface> {
        if !self.modes.legacy.contains(meta.name) {
            return match sources(view, meta).as_slice() {
                [] => Vec::new(),
                entries => vec![definitions::meta_tool(view, meta, entries)],
            };
        }
        let flat = FlatDisclosure { names: Names::Public };
        let own = own_names(view);
        let tools = view.tools().chain(view.tools_of_apps());
        let mut tools: Vec<_> = tools
            .filter(|tool| entry_of(view, tool).is_some_and(|entry| is_behind(entry, meta)))
            .filter(|tool| !own.contains(&tool.alias()))
            .collect();
        tools.sort_by(|a, b| a.alias().cmp(b.alias()));
        tools.into_iter().map(|tool| flat.top_level(tool)).collect()
    }

    /// The meta-tools that a view's surface has.
    fn shown_meta_tools(&self, view: &View) -> Vec<&'static MetaTool> {
        let mut tools = meta_tools(view);
        tools.retain(|meta| self.is_shown(view, meta));
        tools
    }

    fn is_shown(&self, view: &View, meta: &MetaTool) -> bool {
        !self.modes.legacy.contains(meta.name) && !sources(view, meta).is_empty()
    }

    /// The shown meta-tool with this name.
    fn called(&self, view: &View, name: &str) -> Option<&'static MetaTool> {
        let tool = meta_tools(view).into_iter().find(|meta| meta.name == name);
        tool.filter(|meta| self.is_shown(view, meta))
    }

    /// Whether a tool is at the top level without being pinned.
    fn is_at_the_top(&self, view: &View, tool: &Tool) -> bool {
        match entry_of(view, tool).map(|entry| entry.kind().place()) {
            Some(ToolPlace::Top) => true,
            Some(ToolPlace::Behind(meta)) => self.modes.legacy.contains(meta.name),
            Some(ToolPlace::Topics(_)) | None => false,
        }
    }

    /// What a call of a meta-tool means.
    fn step_of(
        &self,
        view: &View,
        meta: &'static MetaTool,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let arguments = Arguments::parse(meta.name, arguments)?;
        let entries = sources(view, meta);
        let commands = commands(view, meta, &entries);
        let command = known_subcommand(meta, &commands, &arguments)?;
        let entry = known_source(meta, &entries, &arguments)?;
        let tools = SourceTools { view, meta, entry };
        match command.action {
            Action::Describe => {
                tools.discover(&arguments, self.limits.discovery_tokens).map(Step::Reply)
            }
            Action::CallNamed => tools.call(&arguments).map(Step::Call),
            Action::Call(call) => {
                fixed_call(view, (meta, command.name), call, entry, &arguments).map(Step::Call)
            }
        }
    }

    /// How to call a tool that is not at the top level, or the names that are.
    fn not_at_the_top(&self, view: &View, name: &str) -> UsageError {
        let found = view.find(name);
        let Some((tool, entry)) = found.and_then(|tool| Some((tool, entry_of(view, tool)?))) else {
            let surface = self.assemble(view, ClientLimits::default());
            let names = || surface.tools.iter().map(|tool| tool.name.as_str());
            let near = did_you_mean(nearest_texts(name, names()));
            let names = listed(names(), NAMED_BYTES, str::len);
            let name = quoted(name);
            return UsageError::new(format!("Unknown tool {name}.{near} Tools: {names}"));
        };
        let own = tool.definition().name();
        let (name, domain) = (quoted(name), tool.domain());
        UsageError::new(match entry.kind().place() {
            ToolPlace::Behind(meta) => {
                let (tool, noun) = (meta.name, meta.noun);
                match (command_for(meta, own), calling(meta)) {
                    (None, Some(command)) => format!(
                        "Call {name} through {tool}, with the subcommand '{}', the {noun} '{domain}' and \
                         the {} {}.",
                        command.name,
                        meta.part,
                        quoted(own)
                    ),
                    (command, _) => format!(
                        "Call {name} through {tool}, with the subcommand '{}' and the {noun} \
                         '{domain}'.",
                        command.map_or(own, |command| command.name)
                    ),
                }
            }
            ToolPlace::Topics(tools) => {
                let tool = tool_for(tools, own).unwrap_or(&tools[0]);
                format!("Call {name} through {}, with the name of a {}.", tool.name, tool.noun)
            }
            // Its name is one of the disclosure's own tools.
            ToolPlace::Top => format!("Call {name} through another disclosure."),
        })
    }
}

/// The surface of a loop, whose instructions have the stubs of skills whatever shows the tools.
#[must_use]
pub fn with_skill_stubs(mut surface: Surface, view: &View, limits: &ClientLimits) -> Surface {
    for tool in topic_tools(view).into_iter().filter(|tool| tool.usage == TopicUse::Read) {
        let has = |heading: &str| surface.instructions.contains(heading);
        let topics = Topics::of(view, tool);
        if topics.is_empty() || has(tool.stubs_heading) || has(tool.texts_heading) {
            continue;
        }
        let mut ids: Vec<_> = topics.tools().into_iter().map(|tool| tool.id().as_str()).collect();
        ids.dedup();
        // Other disclosures show the sources' own tools, or lead to them.
        let named = format!("`{}` is the tool {}.", tool.name, listed(ids, NAMED_BYTES, str::len));
        let bytes = limits.instructions_bytes.saturating_sub(named.len() + 1);
        let stubs = topics.by_stubs(&surface.instructions, bytes).text;
        surface.instructions = format!("{stubs}\n{named}");
    }
    surface
}

/// The source of a tool, as far as the view shows it.
fn entry_of<'a>(view: &'a View, tool: &Tool) -> Option<&'a DomainEntry> {
    view.domain(tool.domain().as_str())
}

/// Whether a tool is of a kind that stands for itself.
fn is_at_top(view: &View, tool: &Tool) -> bool {
    entry_of(view, tool).is_some_and(|entry| matches!(entry.kind().place(), ToolPlace::Top))
}

/// The shown tool that leads to a source's tool of this name.
fn tool_for(tools: &'static [TopicTool], own: &str) -> Option<&'static TopicTool> {
    tools.iter().find(|tool| tool.name == own)
}

/// Whether a tool stands beside those that its source's topics are shown by. It has no place of its own, and can be
/// called by whoever knows its name.
fn is_beside_topics(view: &View, tool: &Tool) -> bool {
    let place = entry_of(view, tool).map(|entry| entry.kind().place());
    let own = tool.definition().name();
    matches!(place, Some(ToolPlace::Topics(tools)) if tool_for(tools, own).is_none())
}

/// The names of the disclosure's own tools. No other tool at the top level has one of them.
fn own_names(view: &View) -> Vec<&'static str> {
    let meta_tools = meta_tools(view).into_iter().map(|meta| meta.name);
    meta_tools.chain(topic_tools(view).into_iter().map(|tool| tool.name)).collect()
}

/// The called subcommand among those that there are.
fn known_subcommand(
    meta: &MetaTool,
    commands: &[&'static Command],
    arguments: &Arguments<'_>,
) -> Result<&'static Command, UsageError> {
    let names = || commands.iter().map(|command| command.name);
    let available = || format!("Available subcommands: {}", names().collect::<Vec<_>>().join(", "));
    let own = meta.name;
    let asked = arguments.text("subcommand")?.ok_or_else(|| {
        UsageError::new(format!("Missing parameter 'subcommand' of {own}. {}", available()))
    })?;
    let is_asked = |command: &&&Command| command.name.eq_ignore_ascii_case(asked.trim());
    commands.iter().find(is_asked).copied().ok_or_else(|| {
        // A source's own tool may have another name than the subcommand that calls it.
        let meant = command_for(meta, asked.trim()).map(|command| command.name);
        let meant = meant.filter(|name| names().any(|own| own == *name));
        let near = meant.map_or_else(|| nearest_texts(&asked, names()), |name| vec![name]);
        let (asked, near) = (quoted(&asked), did_you_mean(near));
        UsageError::new(format!("Unknown subcommand {asked} of {own}.{near} {}", available()))
    })
}

/// The source that a call is about.
fn known_source<'a>(
    meta: &MetaTool,
    entries: &[&'a DomainEntry],
    arguments: &Arguments<'_>,
) -> Result<&'a DomainEntry, UsageError> {
    let (noun, own) = (meta.noun, meta.name);
    let available = || {
        let names = entries.iter().map(|entry| entry.domain().as_str());
        format!("Available {noun}s: {}", listed(names, NAMED_BYTES, str::len))
    };
    let asked = arguments.text(noun)?.ok_or_else(|| {
        UsageError::new(format!("Missing parameter '{noun}' of {own}. {}", available()))
    })?;
    let domain = Domain::from_key(asked.trim());
    entries.iter().find(|entry| *entry.domain() == domain).copied().ok_or_else(|| {
        let near = nearest_texts(&asked, entries.iter().map(|entry| entry.domain().as_str()));
        UsageError::new(format!(
            "Unknown {noun} {}.{} {}",
            quoted(&asked),
            did_you_mean(near),
            available()
        ))
    })
}

/// A call of a tool that was found.
fn request(view: &View, tool: &Tool, arguments: Box<RawValue>) -> Request {
    let operation = Arc::new(Operation::Tool { name: ToolName::of(tool.id()), arguments });
    Request { operation, entry: Some(view.resolved(tool)) }
}

impl Disclosure for TypedDisclosure {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        self.assemble(view, *limits)
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        if let Some(meta) = self.called(view, name.as_str()) {
            return self.step_of(view, meta, arguments);
        }
        if let Some(tool) = topic_tools(view).into_iter().find(|tool| tool.name == name.as_str()) {
            let topics = Topics::of(view, tool);
            if !topics.is_empty() {
                return topics.step_of(view, self.limits.discovery_tokens, arguments);
            }
        }
        let is_callable =
            |tool: &&Tool| self.is_at_the_top(view, tool) || is_beside_topics(view, tool);
        let found = view.find(name.as_str()).filter(is_callable);
        let own = own_names(view);
        let pinned = PinnedTools { pins: &self.pinned, own: &own };
        if let Some(tool) = found.or_else(|| pinned.named(view, name.as_str())) {
            return Ok(Step::Call(untouched_request(view, tool, arguments)));
        }
        if view.unlisted_owner(name.as_str()).is_some() {
            // A source that has listed nothing may have it, and is asked when the call is made.
            let arguments = called_arguments(arguments);
            return Ok(Step::Call(Operation::Tool { name: name.clone(), arguments }.into()));
        }
        Err(self.not_at_the_top(view, name.as_str()))
    }

    fn searches(&self, view: &View, name: &ToolName) -> bool {
        own_names(view).contains(&name.as_str())
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let rendering = Rendering::new(view, request, &self.limits);
        match self.called(view, name.as_str()) {
            Some(MetaTool { name: meta, .. }) => {
                let hint = format!("The subcommand '{DISCOVER}' of {meta} shows what there is.");
                rendering.hinting(&hint).envelope(result)
            }
            None => rendering.called(name.as_str()).untouched(result),
        }
    }

    fn own_tools(&self, view: &View) -> Vec<&'static str> {
        own_names(view)
    }

    fn shows_used(&self) -> bool {
        self.pinned.most_used
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        let own_names = own_names(view);
        let pinned = PinnedTools { pins: &self.pinned, own: &own_names };
        let is_alone = self.is_at_the_top(view, tool) || pinned.pins(view, tool);
        let meta = entry_of(view, tool).and_then(|entry| entry.kind().meta_tool());
        let Some(meta) = meta.filter(|_| !is_alone) else {
            return TopLevelCall { name: tool.alias().to_owned(), arguments: arguments.to_owned() };
        };
        let own = tool.definition().name();
        let fixed = command_for(meta, own);
        let command = fixed.or_else(|| calling(meta)).map_or(own, |command| command.name);
        let subcommand = json_text(command);
        let (domain, own) = (json_text(tool.domain().as_str()), json_text(own));
        let mut fields = vec![("subcommand", subcommand.as_str()), (meta.noun, domain.as_str())];
        let taken = object_fields(arguments.get()).unwrap_or_default();
        if fixed.is_some() {
            fields.extend(taken.iter().map(|(name, value)| (name.as_ref(), *value)));
        } else {
            fields.extend([(meta.part, own.as_str()), ("parameters", arguments.get())]);
        }
        TopLevelCall { name: meta.name.to_owned(), arguments: object(fields) }
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        let alias = || tool.alias().to_owned();
        let own = own_names(view);
        let pinned = PinnedTools { pins: &self.pinned, own: &own };
        if self.is_at_the_top(view, tool) || pinned.pins(view, tool) {
            return vec![alias()];
        }
        match entry_of(view, tool).map(|entry| entry.kind().place()) {
            Some(ToolPlace::Behind(meta)) => vec![meta.name.to_owned()],
            Some(ToolPlace::Topics(tools)) => {
                let through = tool_for(tools, tool.definition().name());
                vec![through.map_or_else(alias, |through| through.name.to_owned())]
            }
            Some(ToolPlace::Top) | None => vec![alias()],
        }
    }
}
