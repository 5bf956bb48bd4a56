//! The sixteen combinations of a client and a server behind a gateway.

use std::fmt;

/// A family of protocol versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25: it begins with `initialize`.
    Handshake,
    /// 2026-07-28: each request stands alone.
    Stateless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Http,
    Stdio,
}

/// The era and transport of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) era: Era,
    pub(crate) wire: Wire,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) client: Side,
    pub(crate) server: Side,
}

/// A client over HTTP chooses by the path, one over stdio by how it starts the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// `/mcp`: tools behind the gateway's three, all names with their domain.
    Gateway,
    /// `/mcp/source/reference`, or `--source reference`: the one server's tools, all under their
    /// own names.
    Flat,
}

impl Face {
    pub(crate) const BOTH: [Self; 2] = [Self::Gateway, Self::Flat];
}

impl Cell {
    pub(crate) fn all() -> Vec<Self> {
        let sides = [Era::Handshake, Era::Stateless]
            .into_iter()
            .flat_map(|era| [Wire::Http, Wire::Stdio].map(|wire| Side { era, wire }));
        let sides: Vec<_> = sides.collect();
        let cell = |client: &Side, server: &Side| Self { client: *client, server: *server };
        sides
            .iter()
            .flat_map(|client| sides.iter().map(move |server| cell(client, server)))
            .collect()
    }
}

impl Era {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Stateless => "stateless",
        }
    }
}

impl Wire {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, server } = self;
        let (own, its) = (client.era.word(), server.era.word());
        write!(f, "{own}_{}_to_{its}_{}", client.wire.word(), server.wire.word())
    }
}
