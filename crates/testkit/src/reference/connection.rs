//! The server as one connection has it.

use std::sync::Arc;

use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::ServedEras;
use super::audience::Session;
use super::shared::ServerState;

/// The server as one connection sees it.
#[derive(Clone)]
pub(super) struct Reference {
    pub(super) era: ServedEras,
    pub(super) shared: Arc<ServerState>,
    pub(super) session: Arc<Session>,
}

impl Reference {
    pub(super) fn new(era: ServedEras, shared: Arc<ServerState>) -> Self {
        Self { era, shared, session: Arc::default() }
    }

    /// Refuses a stateless request where only the handshake era is served.
    ///
    /// The SDK's own refusal is that of a server that knows the other era exists.
    pub(super) fn admit(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if self.era == ServedEras::Handshake && is_stateless(context) {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found", None));
        }
        Ok(())
    }
}

/// Whether the request belongs to the stateless era.
pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}
