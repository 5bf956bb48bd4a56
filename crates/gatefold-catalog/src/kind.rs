//! Kinds of sources, and what each is to a model.

use std::fmt;
use std::hash::{Hash, Hasher};

/// The name of a kind of source, such as `mcp`, with what the kind is to a model.
#[derive(Clone, Copy)]
pub struct KindName {
    name: &'static str,
    place: &'static ToolPlace,
}

impl KindName {
    /// A kind whose tools stand for themselves.
    pub const fn new(name: &'static str) -> Self {
        Self { name, place: &ToolPlace::Top }
    }

    /// A kind whose tools are shown at this place, where each kind is shown in its own way.
    pub const fn at(name: &'static str, place: &'static ToolPlace) -> Self {
        Self { name, place }
    }

    pub const fn as_str(self) -> &'static str {
        self.name
    }

    pub const fn place(self) -> &'static ToolPlace {
        self.place
    }

    /// The tool that stands for all its sources, if there is one.
    pub const fn meta_tool(self) -> Option<&'static MetaTool> {
        match self.place {
            ToolPlace::Behind(tool) => Some(tool),
            ToolPlace::Top | ToolPlace::Topics(_) => None,
        }
    }
}

impl PartialEq for KindName {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for KindName {}

impl Hash for KindName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KindName({})", self.name)
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Of the eight steps in which the tools for a request are put together, those at which sources are loaded that stand
/// behind a tool of their kind: the third to the seventh, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssemblyStep {
    /// Knowledge bases.
    Knowledge,
    /// HTTP APIs and databases.
    Connectors,
    /// MCP servers.
    Mcp,
    /// Skills.
    Skills,
    /// Agents that have work done.
    CallAgent,
}

/// Where the tools of a kind are shown.
#[derive(Debug)]
pub enum ToolPlace {
    /// At the top level, in any mode.
    Top,
    /// Behind a tool for all sources of its kind, or at the top level in the legacy mode.
    Behind(MetaTool),
    /// Behind tools that are about the things that the sources have.
    Topics(&'static [TopicTool]),
}

/// One tool for all sources of a kind, with a line for each. Several kinds may share it.
#[derive(Debug)]
pub struct MetaTool {
    /// Also the word for the kind in a list of categories.
    pub name: &'static str,
    /// Surfaces have meta-tools in the order of their steps, and in that of their names.
    pub step: AssemblyStep,
    /// What the description begins with: one sentence.
    pub summary: &'static str,
    /// What one source is called, as a parameter and in a sentence.
    pub noun: &'static str,
    /// What a source has, as a parameter and in a sentence.
    pub part: &'static str,
    pub parts: Parts,
    /// The most parts that a source's line names.
    pub named_parts: usize,
    pub stub: StubForm,
    pub commands: &'static [Command],
    /// Its own parameters with their schemas, beside those of all meta-tools.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Whether an agent has these sources only if it is bound to them by name.
    pub is_bound: bool,
}

/// What a source's parts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    Tools,
    /// What this tool of the source knows about.
    Topics(&'static str),
}

/// How a source's line goes on after its name and description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StubForm {
    /// ` -- actions: a, b, +3 more`
    Dashed,
    /// ` (5 tools: a, b ...)`
    Counted,
}

/// A subcommand.
#[derive(Debug)]
pub struct Command {
    pub name: &'static str,
    /// Its line in the description.
    pub line: &'static str,
    pub action: Action,
}

/// What a subcommand does.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    /// Gives the schema of one tool of the source, or of all in pages.
    Describe,
    /// Calls the tool that is named.
    CallNamed,
    /// Calls this tool of the source.
    Call(FixedCall),
}

/// The call of one certain tool.
#[derive(Debug, Clone, Copy)]
pub struct FixedCall {
    pub tool: &'static str,
    /// The meta-tool's parameters that the tool gets. Others are left out, because models fill in what a
    /// definition has.
    pub takes: &'static [&'static str],
    /// The one of them that it needs, with an example.
    pub needs: Option<(&'static str, &'static str)>,
    /// Whether the subcommand is there only if a visible source has the tool.
    pub is_optional: bool,
}

/// A tool of the sources of a kind that is about one of their topics, shown once for all of them, with
/// the topics' stubs.
#[derive(Debug)]
pub struct TopicTool {
    /// The tool's name, the sources' own and the shown one.
    pub name: &'static str,
    /// Surfaces have these tools in the order of their steps, and in that of their names.
    pub step: AssemblyStep,
    /// What a topic is called.
    pub noun: &'static str,
    /// What stands in its description before the stubs.
    pub summary: &'static str,
    /// What stands before the stubs wherever they are.
    pub stubs_heading: &'static str,
    /// What stands before topics that are given whole.
    pub texts_heading: &'static str,
    pub usage: TopicUse,
    /// The parameter that names a topic.
    pub parameter: &'static str,
    /// Its other parameters with their schemas. Those of a tool that reads or calls are texts.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// What a tool does with topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicUse {
    /// Gives it to read. Without a name it lists all, and their stubs stand in the instructions too.
    Read,
    /// Lets it work. It needs all its parameters.
    Call,
    /// Searches it, or all of them where none is named: then the tool of this name in this domain is called. It needs
    /// its first other parameter.
    Search { all: &'static str },
}
