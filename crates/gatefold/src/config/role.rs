/// What a source is to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceRole {
    /// Something that an agent is bound to by its name. A kind that an embedder brings is one.
    Connector,
    /// The same, for a database.
    Database,
    /// A server, which every agent has unless its categories leave them out.
    Mcp,
    /// Tools of our own, which are chosen by their categories.
    Builtin,
    /// What every agent has.
    Common,
}

impl SourceRole {
    /// The word for it in a list of categories.
    pub(super) fn category(self) -> Option<&'static str> {
        match self {
            Self::Connector => Some("connector"),
            Self::Database => Some("database"),
            Self::Mcp => Some("mcp"),
            Self::Builtin | Self::Common => None,
        }
    }

    /// Whether an agent's list of connectors is about it.
    pub(super) fn is_bound(self) -> bool {
        matches!(self, Self::Connector | Self::Database)
    }
}
