//! Who may reach the endpoint, decided once when an app is built.

use std::net::SocketAddr;
use std::sync::Arc;

use gatefold_mcp::{Authenticator, HttpEndpoint, SoleUser};

use super::App;
use super::access::Access;

/// Who may reach the endpoint.
pub(super) enum ClientAdmission {
    /// Whoever reaches it is the local user.
    Everybody,
    Tokens(Box<Access>),
    /// Whom the embedder's own authenticator lets in.
    Embedders(Arc<dyn Authenticator>),
}

/// The address can be reached from other machines, and nothing says that strangers may come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` can be reached from other machines, and nobody would have to say who they are")]
pub struct OpenAddress(pub SocketAddr);

impl ClientAdmission {
    pub(super) fn authenticator(&self) -> Arc<dyn Authenticator> {
        match self {
            Self::Everybody => Arc::<SoleUser>::default(),
            Self::Tokens(access) => access.gate(),
            Self::Embedders(own) => own.clone(),
        }
    }

    /// Puts the last uses of tokens on record.
    pub(super) async fn close(&self) {
        if let Self::Tokens(access) = self {
            access.note().await;
        }
    }
}

impl App {
    /// Whether every request over HTTP needs an access token. A reload does not change it.
    pub fn requires_tokens(&self) -> bool {
        matches!(self.admission, ClientAdmission::Tokens(_))
    }

    /// Refuses an address that strangers can reach, unless somebody asks them who they are or the
    /// configuration says in so many words that nobody does.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), OpenAddress> {
        let is_open = matches!(self.admission, ClientAdmission::Everybody)
            && self.config().server.authentication.is_none();
        if is_open && !address.ip().to_canonical().is_loopback() {
            return Err(OpenAddress(address));
        }
        Ok(())
    }

    /// The settings of the HTTP endpoint under the configuration in force.
    pub fn endpoint(&self) -> HttpEndpoint {
        let applied = self.applied.load();
        let server = &applied.config.server;
        let mut endpoint = HttpEndpoint {
            request_body_bytes: usize::try_from(server.request_bytes).unwrap_or(usize::MAX),
            requests_bytes: usize::try_from(server.requests_bytes).unwrap_or(usize::MAX),
            body_deadline: server.body_deadline,
            connections: server.connections,
            head_deadline: server.head_deadline,
            connection_idle: server.connection_idle,
            session_idle: server.session_idle,
            drain: server.shutdown,
            authenticator: self.admission.authenticator(),
            ..HttpEndpoint::default()
        };
        endpoint.allowed_hosts.extend(server.allowed_hosts.iter().cloned());
        endpoint.allowed_origins.extend(server.allowed_origins.iter().cloned());
        endpoint
    }
}
