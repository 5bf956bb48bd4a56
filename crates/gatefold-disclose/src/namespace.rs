use gatefold_catalog::{DomainEntry, Request, Tool, ToolTopic, View};
use gatefold_core::{CallError, Domain, Outcome, ToolName};
use serde_json::value::RawValue;

use crate::arguments::{Arguments, json_text, object};
use crate::gateway::{
    ExecutingTool, GatewayLimits, Rendering, by_tool_name, described_by, domain_page,
    executing_request, find_in, untouched_request,
};
use crate::pinned::{PinnedTools, Pins, by_alias, with_alias};
use crate::surface::{
    ClientLimits, Disclosure, Reply, Step, Surface, TOOLS_LIMIT, TopLevelCall, UsageError,
};
use crate::wording::{listed, quoted, unknown_tool};

mod definitions;

const SCHEMA: &str = "get_tool_schema";
pub(crate) const INVOKE: &str = "invoke_tool";

/// The domain that stands for those without tools of their own. No domain is called so: a domain
/// has at most 40 characters and no capital letters.
pub(crate) const SHARED: &str = "OTHERS";

/// The built-in tools that stand beside the pairs when they are enabled: those for notes, lists, files and
/// the web.
const HOT: [&str; 11] = [
    "todo",
    "recall",
    "remember",
    "read_file",
    "list_files",
    "find_files",
    "search_files",
    "write_file",
    "patch_file",
    "fetch",
    "web_search",
];

/// Two tools for each domain: `{domain}__get_tool_schema`, whose description has a line for each of
/// the domain's tools, and `{domain}__invoke_tool`. Pinned tools stand beside them, and built-in ones that
/// models need at any moment.
#[derive(Debug, Clone, Default)]
pub struct NamespaceDisclosure {
    pub limits: GatewayLimits,
    /// Tools to show at the top level as well.
    pub pinned: Pins,
}

/// The domains that one pair of tools is for.
enum Namespace<'a> {
    One(&'a DomainEntry),
    /// Those that have no pair of their own.
    Shared(Vec<&'a DomainEntry>),
}

/// Which tool of a pair is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairTool {
    Schema,
    Invoke,
}

impl<'a> Namespace<'a> {
    fn entries(&self) -> impl Iterator<Item = &'a DomainEntry> {
        let (one, shared) = match self {
            Self::One(entry) => (Some(*entry), &[][..]),
            Self::Shared(entries) => (None, entries.as_slice()),
        };
        one.into_iter().chain(shared.iter().copied())
    }

    fn name(&self) -> &str {
        match self {
            Self::One(entry) => entry.domain().as_str(),
            Self::Shared(_) => SHARED,
        }
    }

    fn tool_name(&self, tool: PairTool) -> String {
        let own = match tool {
            PairTool::Schema => SCHEMA,
            PairTool::Invoke => INVOKE,
        };
        format!("{}__{own}", self.name())
    }
}

impl NamespaceDisclosure {
    fn pinned(&self) -> PinnedTools<'_> {
        PinnedTools { pins: &self.pinned, own: &[] }
    }

    /// The tools that stand beside the pairs: as many as leave room for one pair.
    fn shown<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a Tool> {
        view.tools().filter(|tool| self.stands_alone(view, tool)).take(TOOLS_LIMIT - 2)
    }

    /// Whether a tool is pinned, or one of ours that models need at any moment.
    fn stands_alone(&self, view: &View, tool: &Tool) -> bool {
        let is_ours = || {
            let entry = view.domain(tool.domain().as_str());
            entry.is_some_and(|entry| entry.kind().as_str() == "builtin")
        };
        self.pinned().pins(view, tool) || (HOT.contains(&tool.definition().name()) && is_ours())
    }

    /// The tool that stands beside the pairs under this alias.
    fn alone<'a>(&self, view: &'a View, alias: &str) -> Option<&'a Tool> {
        with_alias(view, alias).filter(|tool| self.stands_alone(view, tool))
    }

    /// The pairs of a view, in the order of their domains' names. If there are more domains than a
    /// client can take pairs, the last ones share one.
    fn namespaces<'a>(&self, view: &'a View) -> Vec<Namespace<'a>> {
        let domains: Vec<_> = view.domains().collect();
        let room = (TOOLS_LIMIT - self.shown(view).count()) / 2;
        let own = if domains.len() <= room { domains.len() } else { room - 1 };
        let mut namespaces: Vec<_> =
            domains[..own].iter().map(|entry| Namespace::One(entry)).collect();
        if own < domains.len() {
            namespaces.push(Namespace::Shared(domains[own..].to_vec()));
        }
        namespaces
    }

    /// The pair that a tool at the top level belongs to, and which of the two it is.
    fn pair_of<'a>(&self, view: &'a View, name: &str) -> Option<(Namespace<'a>, PairTool)> {
        let (domain, own) = name.split_once("__")?;
        let tool = match own {
            SCHEMA => PairTool::Schema,
            INVOKE => PairTool::Invoke,
            _ => return None,
        };
        let mut namespaces = self.namespaces(view).into_iter();
        Some((namespaces.find(|namespace| namespace.name() == domain)?, tool))
    }

    fn not_at_the_top(&self, view: &View, name: &str) -> UsageError {
        if let Some(tool) = view.find(name)
            && let Some(namespace) = self.namespace_of(view, tool.domain())
        {
            let invoke = namespace.tool_name(PairTool::Invoke);
            let own = name_in(&namespace, tool);
            return UsageError::new(format!(
                "Call {} through {invoke}, with the tool_name '{own}'.",
                quoted(name)
            ));
        }
        let pairs = self.namespaces(view);
        let names: Vec<_> = pairs.iter().map(|pair| pair.tool_name(PairTool::Schema)).collect();
        let names = listed(names.iter().map(String::as_str), NAMED_BYTES, str::len);
        UsageError::new(format!("Unknown tool {}. Look tools up with: {names}", quoted(name)))
    }

    fn namespace_of<'a>(&self, view: &'a View, domain: &Domain) -> Option<Namespace<'a>> {
        self.namespaces(view).into_iter().find(|namespace| match namespace {
            Namespace::One(entry) => entry.domain() == domain,
            Namespace::Shared(entries) => entries.iter().any(|entry| entry.domain() == domain),
        })
    }

    fn schema(
        &self,
        view: &View,
        namespace: &Namespace<'_>,
        name: &str,
        arguments: &RawValue,
    ) -> Result<Reply, UsageError> {
        let arguments = Arguments::parse(name, arguments)?;
        arguments.only(&["tool_name", "cursor", "path"])?;
        let (cursor, path) = (arguments.text("cursor")?, arguments.text("path")?);
        let Some(asked) = arguments.text("tool_name")? else {
            let Namespace::One(entry) = namespace else {
                return Err(UsageError::new(format!(
                    "Missing parameter 'tool_name' of {name}. {}",
                    definitions::shared_domains(namespace)
                )));
            };
            let budget = self.limits.discovery_tokens;
            return domain_page(view, entry, budget, cursor.as_deref())
                .map(|text| Reply::text(&text));
        };
        match found(view, namespace, asked.trim()) {
            Some(tool) => described_by(name, tool, path.as_deref()),
            None => Err(unknown_in(view, namespace, asked.trim())),
        }
    }
}

/// The skills that are for the domains of a namespace, by the tool that reads them, as a description
/// says them.
fn skills_for(view: &View, all: &[Namespace<'_>], namespace: &Namespace<'_>) -> String {
    let mut readers: Vec<(String, &str, Vec<&ToolTopic>)> = Vec::new();
    for entry in namespace.entries() {
        for (folder, topic) in view.topics_for(entry.domain()) {
            let reader = all.iter().find(|own| own.entries().any(|own| own.domain() == folder));
            let tool = view.tool_named(folder, &topic.tool);
            let Some((reader, tool)) = reader.zip(tool) else { continue };
            let (invoke, name) = (reader.tool_name(PairTool::Invoke), name_in(reader, tool));
            let known = readers.iter_mut().find(|(own, of, _)| *own == invoke && *of == name);
            match known {
                Some((_, _, topics)) if topics.contains(&topic) => {}
                Some((_, _, topics)) => topics.push(topic),
                None => readers.push((invoke, name, vec![topic])),
            }
        }
    }
    let bytes = definitions::SKILLS_BYTES / readers.len().max(1);
    let said = |(invoke, name, topics): &(String, &str, Vec<_>)| {
        definitions::skills(invoke, name, topics, bytes)
    };
    readers.iter().map(said).collect()
}

/// How many bytes of names an error has.
const NAMED_BYTES: usize = 2000;

/// What a tool is called in its namespace.
fn name_in<'a>(namespace: &Namespace<'_>, tool: &'a Tool) -> &'a str {
    match namespace {
        Namespace::One(_) => tool.definition().name(),
        Namespace::Shared(_) => tool.id().as_str(),
    }
}

/// A tool by its own name or its id. It never leaves the namespace.
fn found<'a>(view: &'a View, namespace: &Namespace<'_>, name: &str) -> Option<&'a Tool> {
    match namespace {
        Namespace::One(entry) => find_in(view, entry.domain(), name),
        Namespace::Shared(entries) => view
            .find(name)
            .filter(|tool| entries.iter().any(|entry| entry.domain() == tool.domain())),
    }
}

fn unknown_in(view: &View, namespace: &Namespace<'_>, name: &str) -> UsageError {
    let hint = hint(namespace);
    let Ok(parsed) = ToolName::parse(name) else {
        return UsageError::new(format!("{} {hint}", unknown_tool(view, name, &[])));
    };
    let (view, parsed) = match namespace {
        Namespace::One(entry) => {
            let domain = entry.domain();
            let long = ToolName::parse(&format!("{domain}__{name}")).unwrap_or(parsed);
            (view.within(domain), long)
        }
        Namespace::Shared(_) => (view.clone(), parsed),
    };
    let nearest = view.resolve(&parsed).err().map(|miss| miss.nearest).unwrap_or_default();
    UsageError::new(format!("{} {hint}", unknown_tool(&view, name, &nearest)))
}

/// How to find a tool's name.
fn hint(namespace: &Namespace<'_>) -> String {
    format!("{} describes the tools.", namespace.tool_name(PairTool::Schema))
}

impl Disclosure for NamespaceDisclosure {
    fn surface(&self, view: &View, limits: &ClientLimits) -> Surface {
        let reader = |tool: &Tool| {
            let namespace = self.namespace_of(view, tool.domain())?;
            Some(by_tool_name(&namespace.tool_name(PairTool::Schema)))
        };
        let mut tools = by_alias(self.shown(view), reader);
        let namespaces = self.namespaces(view);
        for namespace in &namespaces {
            let skills = skills_for(view, &namespaces, namespace);
            tools.extend(definitions::pair(view, namespace, &skills));
        }
        let instructions = definitions::instructions(view, *limits);
        Surface { tools, instructions }
    }

    fn interpret(
        &self,
        view: &View,
        name: &ToolName,
        arguments: &RawValue,
    ) -> Result<Step, UsageError> {
        let Some((namespace, tool)) = self.pair_of(view, name.as_str()) else {
            let alone = self.alone(view, name.as_str());
            let alone = alone.ok_or_else(|| self.not_at_the_top(view, name.as_str()))?;
            return Ok(Step::Call(untouched_request(view, alone, arguments)));
        };
        if tool == PairTool::Schema {
            return self.schema(view, &namespace, name.as_str(), arguments).map(Step::Reply);
        }
        let through = ExecutingTool {
            name: name.as_str(),
            own: &[],
            hint: &hint(&namespace),
            domain: match &namespace {
                Namespace::One(entry) => Some(entry.domain()),
                Namespace::Shared(_) => None,
            },
        };
        executing_request(view, &through, arguments).map(Step::Call)
    }

    fn searches(&self, _: &View, name: &ToolName) -> bool {
        name.as_str().ends_with(SCHEMA)
    }

    fn render(
        &self,
        view: &View,
        name: &ToolName,
        request: &Request,
        result: Result<Outcome, CallError>,
    ) -> Reply {
        let rendering = Rendering::new(view, request, &self.limits);
        match self.pair_of(view, name.as_str()) {
            Some((namespace, _)) => {
                let hint = hint(&namespace);
                rendering.hinting(&hint).envelope(result)
            }
            None => rendering.untouched(result),
        }
    }

    fn shows_used(&self) -> bool {
        self.pinned.most_used
    }

    fn call_of(&self, view: &View, tool: &Tool, arguments: &RawValue) -> TopLevelCall {
        let pair = self.namespace_of(view, tool.domain());
        let pair = pair.filter(|_| !self.stands_alone(view, tool));
        let Some(pair) = pair else {
            return TopLevelCall { name: tool.alias().to_owned(), arguments: arguments.to_owned() };
        };
        let own = match pair {
            Namespace::One(_) => tool.definition().name(),
            Namespace::Shared(_) => tool.id().as_str(),
        };
        let own = json_text(own);
        TopLevelCall {
            name: pair.tool_name(PairTool::Invoke),
            arguments: object([("tool_name", own.as_str()), ("arguments", arguments.get())]),
        }
    }

    fn reached_through(&self, view: &View, tool: &Tool) -> Vec<String> {
        let pair = self.namespace_of(view, tool.domain());
        let pair = pair
            .iter()
            .flat_map(|pair| [PairTool::Schema, PairTool::Invoke].map(|own| pair.tool_name(own)));
        let alone = self.stands_alone(view, tool).then(|| tool.alias().to_owned());
        pair.chain(alone).collect()
    }
}

#[cfg(test)]
mod tests;
