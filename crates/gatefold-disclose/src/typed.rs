use std::sync::Arc;

use gatefold_catalog::{DomainEntry, Request, Tool, View, nearest_texts, object_fields};
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
use database::DatabaseCommand;
use kinds::{DISCOVER, META_TOOLS, READ_SKILL, ResourceKind, ToolPlace};
use parts::ResourceParts;
pub(crate) use route::Route;
use skills::Skills;

mod database;
mod definitions;
mod kinds;
mod pages;
mod parts;
mod route;
mod skills;
mod stubs;

/// The most bytes of names in an error.
const NAMED_BYTES: usize = 2000;

/// One tool for each kind of source: `connector`, `database`, `mcp` and `read_skill`, with a line for
/// each connector, database, server and skill. Built-in and pinned tools stand beside them.
///
/// A tool at the top level that is called like one of the four is not shown; the domain `read` could
/// have one.
#[derive(Debug, Clone, Default)]
pub struct TypedDisclosure {
    pub limits: GatewayLimits,
    /// Tools to show at the top level as well.
    pub pinned: Pins,
    pub modes: ToolModes,
}

/// How the tools of each kind of source are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ToolModes {
    /// Of HTTP APIs.
    pub connectors: ToolMode,
    pub databases: ToolMode,
    /// Of MCP servers.
    pub mcp: ToolMode,
    pub skills: SkillMode,
}

/// How skills are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SkillMode {
    /// By their stubs, to be read when they are needed.
    #[default]
    Progressive,
    /// By their texts in the instructions. What does not fit there is shown by stubs.
    Inline,
}

/// How the tools of one kind of source are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ToolMode {
    /// Behind one tool with a line for each source.
    #[default]
    Progressive,
    /// One by one, with their full schemas.
    Legacy,
}

impl TypedDisclosure {
    /// Builds a surface in the order of eight steps, of which four are here.
    ///
    /// The agent category filter (step 2) is policy: the view has been through it. Runtime selection
    /// (step 8) is [`SelectedDisclosure`](crate::SelectedDisclosure), around any disclosure. KB
    /// injection (step 3) and `call_agent` registration (step 7) need sources that do not exist.
    fn assemble(&self, view: &View, limits: ClientLimits) -> Surface {
        // Step 1, base discovery.
        let mut tools = self.base_tools(view);
        // Step 4, connector loading: HTTP APIs, then databases.
        tools.extend(self.loaded(view, ResourceKind::Connector));
        tools.extend(self.loaded(view, ResourceKind::Database));
        // Step 5, MCP loading.
        tools.extend(self.loaded(view, ResourceKind::Server));
        // Step 6, skills injection: the tool, and stubs or whole texts in the instructions.
        let skills = Skills::of(view);
        let usage = definitions::usage(&self.meta_tools(view));
        let shown = match self.modes.skills {
            SkillMode::Progressive => skills.by_stubs(&usage, limits.instructions_bytes),
            SkillMode::Inline => skills.inline(&usage, limits.instructions_bytes),
        };
        if !shown.is_all {
            tools.push(definitions::read_skill(&skills));
        }
        Surface { tools, instructions: shown.text }
    }

    /// The built-in tools, and as many pinned ones as clients take beside them and the meta-tools.
    fn base_tools(&self, view: &View) -> Vec<ToolSurface> {
        let base: Vec<_> =
            view.tools().filter(|tool| is_shown_at(view, tool, ToolPlace::Top)).collect();
        let room = TOOLS_LIMIT.saturating_sub(META_TOOLS.len() + base.len());
        let pinned = self.pinned().of(view).filter(|tool| !self.is_at_the_top(view, tool));
        let reader = |tool: &Tool| match place(view, tool)? {
            ToolPlace::Behind(kind) => kind.reader(),
            ToolPlace::Top | ToolPlace::Skills => None,
        };
        by_alias(base.into_iter().chain(pinned.take(room)), reader)
    }

    /// What the tools of a kind are shown by: its meta-tool, or each tool in the legacy mode.
    fn loaded(&self, view: &View, kind: ResourceKind) -> Vec<ToolSurface> {
        if self.mode(kind) == ToolMode::Progressive {
            let entries: Vec<_> = kind.resources(view).collect();
            return match entries.as_slice() {
                [] => Vec::new(),
                entries => vec![definitions::meta_tool(view, kind, entries)],
            };
        }
        let flat = FlatDisclosure { names: Names::Public };
        let tools = view.tools().chain(view.tools_of_apps());
        let mut tools: Vec<_> =
            tools.filter(|tool| is_shown_at(view, tool, ToolPlace::Behind(kind))).collect();
        tools.sort_by(|a, b| a.alias().cmp(b.alias()));
        tools.into_iter().map(|tool| flat.top_level(tool)).collect()
    }

    fn mode(&self, kind: ResourceKind) -> ToolMode {
        match kind {
            ResourceKind::Connector => self.modes.connectors,
            ResourceKind::Database => self.modes.databases,
            ResourceKind::Server => self.modes.mcp,
        }
    }

    fn pinned(&self) -> PinnedTools<'_> {
        PinnedTools { pins: &self.pinned, own: &META_TOOLS }
    }

    /// The kinds that have a meta-tool.
    fn meta_tools(&self, view: &View) -> Vec<ResourceKind> {
        let mut kinds = ResourceKind::ALL.to_vec();
        kinds.retain(|kind| self.has_meta_tool(view, *kind));
        kinds
    }

    fn has_meta_tool(&self, view: &View, kind: ResourceKind) -> bool {
        self.mode(kind) == ToolMode::Progressive && kind.resources(view).next().is_some()
    }

    /// The kind whose meta-tool has this name in a view.
    fn called_kind(&self, view: &View, name: &str) -> Option<ResourceKind> {
        ResourceKind::of_meta_tool(name).filter(|kind| self.has_meta_tool(view, *kind))
    }

    /// Whether a tool is at the top level without being pinned.
    fn is_at_the_top(&self, view: &View, tool: &Tool) -> bool {
        match place(view, tool) {
            Some(ToolPlace::Top) => true,
            Some(ToolPlace::Behind(kind)) => self.mode(kind) == ToolMode::Legacy,
            Some(ToolPlace::Skills) | None => false,
        }
    }

    /// What a call of the meta-tool of a kind means.
    fn step_of(
        &self,
        view: &View,
        kind: ResourceKind,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let arguments = Arguments::parse(kind.meta_tool(), arguments)?;
        let entries: Vec<_> = kind.resources(view).collect();
        if kind == ResourceKind::Database {
            let commands = DatabaseCommand::of(view, &entries);
            let names: Vec<_> = commands.iter().map(|command| command.name).collect();
            let command = commands[known_subcommand(kind, &names, &arguments)?];
            let database = known_resource(kind, &entries, &arguments)?;
            return command.call(view, database, &arguments).map(Step::Call);
        }
        let names = definitions::subcommands(kind);
        let is_discovery = names[known_subcommand(kind, &names, &arguments)?] == DISCOVER;
        let entry = known_resource(kind, &entries, &arguments)?;
        let parts = ResourceParts { view, kind, entry };
        if is_discovery {
            return parts.discover(&arguments, self.limits.discovery_tokens).map(Step::Reply);
        }
        parts.call(&arguments).map(Step::Call)
    }

    /// How to call a tool that is not at the top level, or the names that are.
    fn not_at_the_top(&self, view: &View, name: &str) -> UsageError {
        let found = view.find(name);
        let Some((tool, place)) = found.and_then(|tool| Some((tool, place(view, tool)?))) else {
            let surface = self.assemble(view, ClientLimits::default());
            let names = || surface.tools.iter().map(|tool| tool.name.as_str());
            let near = did_you_mean(nearest_texts(name, names()));
            let names = listed(names(), NAMED_BYTES, str::len);
            let name = quoted(name);
            return UsageError::new(format!("Unknown tool {name}.{near} Tools: {names}"));
        };
        let own = tool.definition().name();
        let (name, domain) = (quoted(name), tool.domain());
        UsageError::new(match place {
            ToolPlace::Behind(kind @ ResourceKind::Database) => {
                let command = DatabaseCommand::of_tool(own).map_or(own, |command| command.name);
                let meta = kind.meta_tool();
                format!(
                    "Call {name} through {meta}, with the subcommand '{command}' and the database \
                     '{domain}'."
                )
            }
            ToolPlace::Behind(kind) => format!(
                "Call {name} through {}, with the subcommand '{}', the {} '{domain}' and the {} {}.",
                kind.meta_tool(),
                kind.calling(),
                kind.noun(),
                kind.part(),
                quoted(own)
            ),
            ToolPlace::Skills | ToolPlace::Top => {
                format!("Call {name} through {READ_SKILL}, with the name of a skill.")
            }
        })
    }
}

/// Where a tool is shown.
fn place(view: &View, tool: &Tool) -> Option<ToolPlace> {
    view.domain(tool.domain().as_str()).map(|entry| ToolPlace::of(entry.kind()))
}

/// Whether a tool is of this place, under a name that no meta-tool has.
fn is_shown_at(view: &View, tool: &Tool, at: ToolPlace) -> bool {
    place(view, tool) == Some(at) && !META_TOOLS.contains(&tool.alias())
}

/// The place of the called subcommand among those that there are.
fn known_subcommand(
    kind: ResourceKind,
    names: &[&str],
    arguments: &Arguments<'_>,
) -> Result<usize, UsageError> {
    let meta = kind.meta_tool();
    let available = || format!("Available subcommands: {}", names.join(", "));
    let asked = arguments.text("subcommand")?.ok_or_else(|| {
        UsageError::new(format!("Missing parameter 'subcommand' of {meta}. {}", available()))
    })?;
    names.iter().position(|name| name.eq_ignore_ascii_case(asked.trim())).ok_or_else(|| {
        // A database's own tools have other names than some of its subcommands.
        let meant = DatabaseCommand::of_tool(asked.trim()).map(|command| command.name);
        let meant = meant.filter(|name| names.contains(name));
        let near =
            meant.map_or_else(|| nearest_texts(&asked, names.iter().copied()), |name| vec![name]);
        let (asked, near) = (quoted(&asked), did_you_mean(near));
        UsageError::new(format!("Unknown subcommand {asked} of {meta}.{near} {}", available()))
    })
}

/// The connector, database or server that a call is about.
fn known_resource<'a>(
    kind: ResourceKind,
    entries: &[&'a DomainEntry],
    arguments: &Arguments<'_>,
) -> Result<&'a DomainEntry, UsageError> {
    let (noun, meta) = (kind.noun(), kind.meta_tool());
    let available = || {
        let names = entries.iter().map(|entry| entry.domain().as_str());
        format!("Available {noun}s: {}", listed(names, NAMED_BYTES, str::len))
    };
    let asked = arguments.text(noun)?.ok_or_else(|| {
        UsageError::new(format!("Missing parameter '{noun}' of {meta}. {}", available()))
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
        if let Some(kind) = self.called_kind(view, name.as_str()) {
            return self.step_of(view, kind, arguments);
        }
        if name.as_str() == READ_SKILL {
            let skills = Skills::of(view);
            if !skills.is_empty() {
                return skills.read(view, self.limits.discovery_tokens, arguments);
            }
        }
        let found = view.find(name.as_str()).filter(|tool| self.is_at_the_top(view, tool));
        if let Some(tool) = found.or_else(|| self.pinned().named(view, name.as_str())) {
            return Ok(Step::Call(untouched_request(view, tool, arguments)));
        }
        if view.unlisted_owner(name.as_str()).is_some() {
            // A source that has listed nothing may have it, and is asked when the call is made.
            let arguments = called_arguments(arguments);
            return Ok(Step::Call(Operation::Tool { name: name.clone(), arguments }.into()));
        }
        Err(self.not_at_the_top(view, name.as_str()))
    }

    fn searches(&self, name: &ToolName) -> bool {
        META_TOOLS.contains(&name.as_str())
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let rendering = Rendering::new(view, request, &self.limits);
        match self.called_kind(view, name.as_str()) {
            Some(kind) => {
                let meta = kind.meta_tool();
                let hint = format!("The subcommand '{DISCOVER}' of {meta} shows what there is.");
                rendering.hinting(&hint).envelope(result)
            }
            None => rendering.called(name.as_str()).untouched(result),
        }
    }

    fn shows_used(&self) -> bool {
        self.pinned.most_used
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        let is_alone = self.is_at_the_top(view, tool) || self.pinned().pins(view, tool);
        let Some(ToolPlace::Behind(kind)) = place(view, tool).filter(|_| !is_alone) else {
            return TopLevelCall { name: tool.alias().to_owned(), arguments: arguments.to_owned() };
        };
        let own = tool.definition().name();
        let command = DatabaseCommand::of_tool(own).filter(|_| kind == ResourceKind::Database);
        let subcommand = json_text(command.map_or(kind.calling(), |command| command.name));
        let (domain, own) = (json_text(tool.domain().as_str()), json_text(own));
        let mut fields = vec![("subcommand", subcommand.as_str()), (kind.noun(), domain.as_str())];
        let taken = object_fields(arguments.get()).unwrap_or_default();
        if kind == ResourceKind::Database {
            fields.extend(taken.iter().map(|(name, value)| (name.as_ref(), *value)));
        } else {
            fields.extend([(kind.part(), own.as_str()), ("parameters", arguments.get())]);
        }
        TopLevelCall { name: kind.meta_tool().to_owned(), arguments: object(fields) }
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        let alias = || tool.alias().to_owned();
        if self.is_at_the_top(view, tool) || self.pinned().pins(view, tool) {
            return vec![alias()];
        }
        match place(view, tool) {
            Some(ToolPlace::Behind(kind)) => vec![kind.meta_tool().to_owned()],
            Some(ToolPlace::Skills) => vec![READ_SKILL.to_owned()],
            Some(ToolPlace::Top) | None => vec![alias()],
        }
    }
}

#[cfg(test)]
mod tests;
