//! What each kind of source is to a model.

use gatefold_catalog::{DomainEntry, KindName, View};

/// The meta-tool for skills, and the tool of a folder of skills that it calls.
pub(super) const READ_SKILL: &str = "read_skill";

/// The meta-tools' names. No other tool at the top level has one of them.
pub(super) const META_TOOLS: [&str; 4] = ["connector", "database", "mcp", READ_SKILL];

/// The subcommand that looks something up.
pub(super) const DISCOVER: &str = "discover";

/// Where the tools of a source are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolPlace {
    /// At the top level, in any mode.
    Top,
    /// Behind the meta-tool of a kind, or at the top level in the legacy mode.
    Behind(ResourceKind),
    /// Behind `read_skill`.
    Skills,
}

impl ToolPlace {
    /// A kind that an embedder brings is a connector.
    pub(super) fn of(kind: KindName) -> Self {
        match kind.as_str() {
            "builtin" | "results" => Self::Top,
            "database" => Self::Behind(ResourceKind::Database),
            "mcp" => Self::Behind(ResourceKind::Server),
            "skills" => Self::Skills,
            _ => Self::Behind(ResourceKind::Connector),
        }
    }
}

/// A kind of resource that has a meta-tool with subcommands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceKind {
    Connector,
    Database,
    Server,
}

impl ResourceKind {
    pub(super) const ALL: [Self; 3] = [Self::Connector, Self::Database, Self::Server];

    /// The kind that a meta-tool is for.
    pub(super) fn of_meta_tool(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.meta_tool() == name)
    }

    /// The meta-tool's name, which is its category too.
    pub(super) const fn meta_tool(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::Database => "database",
            Self::Server => "mcp",
        }
    }

    /// What one resource is called, as a parameter and in a sentence.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Connector => "connector",
            Self::Database => "database",
            Self::Server => "server",
        }
    }

    /// What a resource has, as a parameter and in a sentence.
    pub(super) const fn part(self) -> &'static str {
        match self {
            Self::Connector => "action",
            Self::Database => "table",
            Self::Server => "tool",
        }
    }

    /// The subcommand that calls what was discovered.
    pub(super) const fn calling(self) -> &'static str {
        match self {
            Self::Connector => "execute",
            Self::Database => "query",
            Self::Server => "call",
        }
    }

    /// What reads a part of a schema by its path. A database's schemas are short and ours.
    pub(super) fn reader(self) -> Option<String> {
        let (meta, part) = (self.meta_tool(), self.part());
        (self != Self::Database)
            .then(|| format!("{meta} with the subcommand `{DISCOVER}`, the `{part}`"))
    }

    /// All parameters of the meta-tool.
    pub(super) const fn parameters(self) -> [&'static str; 5] {
        match self {
            Self::Connector => ["subcommand", "connector", "action", "parameters", "cursor"],
            Self::Database => ["subcommand", "database", "table", "sql", "cursor"],
            Self::Server => ["subcommand", "server", "tool", "parameters", "cursor"],
        }
    }

    /// The resources of this kind in a view: those with a visible tool, and those that have listed
    /// nothing so far.
    pub(super) fn resources(self, view: &View) -> impl Iterator<Item = &DomainEntry> {
        view.domains().filter(move |entry| {
            ToolPlace::of(entry.kind()) == ToolPlace::Behind(self)
                && (entry.manifest().is_none() || view.tools_in(entry).next().is_some())
        })
    }
}
