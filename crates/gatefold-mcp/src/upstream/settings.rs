use std::path::PathBuf;
use std::time::Duration;

use gatefold_core::{Digest, Domain, Secret};
use gatefold_dispatch::{Credential, CredentialSet};

use crate::protocol::Era;

/// How one MCP server is reached and treated.
#[derive(Debug, Clone)]
pub struct McpSettings {
    pub domain: Domain,
    pub transport: Transport,
    pub era: EraChoice,
    /// From the start of a connection to its first list of tools.
    pub connect_deadline: Duration,
    /// The same for a first start through a package runner, which may have to download.
    pub install_deadline: Duration,
    /// How long a connection that nobody uses stays open.
    pub idle_stop: Duration,
    /// The digest of everything above. Data on disk is kept per configuration.
    pub config_digest: Digest,
}

/// The era of the protocol in which Gatefold speaks to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EraChoice {
    /// The one that the server speaks. If it speaks both, the client's.
    #[default]
    Auto,
    /// Sessions that begin with `initialize`: versions up to 2025-11-25.
    Handshake,
    /// Requests that are complete in themselves: 2026-07-28.
    Stateless,
}

impl EraChoice {
    /// The era, if there is no choice left.
    pub(super) fn only(self) -> Option<Era> {
        match self {
            Self::Auto => None,
            Self::Handshake => Some(Era::Handshake),
            Self::Stateless => Some(Era::Stateless),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Transport {
    Stdio(StdioSettings),
    Http(HttpSettings),
    /// Switched off in the configuration.
    Disabled,
    /// Configured in a way that cannot work; the text says why and what to do.
    Unusable(String),
}

impl Transport {
    /// The configured headers of a remote server, which are the same for every identity.
    pub(super) fn credentials(&self) -> CredentialSet {
        let headers = match self {
            Self::Http(http) => http.headers.as_slice(),
            _ => &[],
        };
        let credential = |(name, value): &(String, Secret)| Credential {
            name: name.clone(),
            value: value.clone(),
        };
        headers.iter().map(credential).collect()
    }
}

/// A local server: a program that speaks over its standard input and output.
#[derive(Debug, Clone, Default)]
pub struct StdioSettings {
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<(String, Secret)>,
    /// Names of further variables that the child inherits from us.
    pub inherit_env: Vec<String>,
    pub cwd: Option<PathBuf>,
}

/// A remote server, over streamable HTTP.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    pub url: String,
    pub headers: Vec<(String, Secret)>,
}
