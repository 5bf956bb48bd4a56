use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::RoleClient;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use tokio::sync::Notify;

/// What rmcp tells us between the calls.
pub(crate) struct Handler {
    pub(crate) list_changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.list_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config.capabilities = client_capabilities();
        config.client_info = client_info();
        config
    }
}

/// Who we are to a server.
pub(crate) fn client_info() -> Implementation {
    Implementation::new("gatefold", env!("CARGO_PKG_VERSION"))
}

/// What we can do for a server: nothing yet that it may ask for.
pub(crate) fn client_capabilities() -> ClientCapabilities {
    ClientCapabilities::default()
}
