use std::path::Path;

use gatefold_core::Secret;
use gatefold_egress::PrivateNetworks;

/// What must exist before a source can be reached.
#[derive(Debug, Clone, Copy)]
pub enum Need<'a> {
    Program(ProgramNeed<'a>),
    Server(ServerNeed<'a>),
}

/// A program on this machine.
#[derive(Debug, Clone, Copy)]
pub struct ProgramNeed<'a> {
    pub command: &'a str,
    pub args: &'a [String],
    pub env: &'a [(String, Secret)],
    /// Where it starts, unless in Gatefold's own directory.
    pub cwd: Option<&'a Path>,
}

/// An MCP server over HTTP that must answer.
#[derive(Debug, Clone, Copy)]
pub struct ServerNeed<'a> {
    pub url: &'a str,
    pub headers: &'a [(String, Secret)],
    /// The networks in which its name may be.
    pub private: &'a PrivateNetworks,
}

impl<'a> Need<'a> {
    pub fn program(self) -> Option<ProgramNeed<'a>> {
        match self {
            Self::Program(program) => Some(program),
            Self::Server(_) => None,
        }
    }

    pub fn server(self) -> Option<ServerNeed<'a>> {
        match self {
            Self::Server(server) => Some(server),
            Self::Program(_) => None,
        }
    }
}
