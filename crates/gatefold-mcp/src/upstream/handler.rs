use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use serde_json::json;

use crate::protocol::Era;

/// What we are to a server, for the handshake that rmcp makes. Whatever a server says goes past it.
pub(crate) struct Handler {
    pub(crate) era: Era,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config.capabilities = client_capabilities(self.era);
        config.client_info = client_info();
        config
    }
}

/// Who we are to a server.
pub(crate) fn client_info() -> Implementation {
    Implementation::new("gatefold", env!("CARGO_PKG_VERSION"))
}

/// What we can do for a server. In the handshake era, whatever can be asked of the clients behind
/// us: a question whose client cannot answer gets an error. In the stateless era every call says
/// what its own client can do, and our own requests can be asked nothing.
fn client_capabilities(era: Era) -> ClientCapabilities {
    if era == Era::Stateless {
        return ClientCapabilities::default();
    }
    let relayed = json!({
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}, "context": {}},
        "roots": {"listChanged": false},
    });
    serde_json::from_value(relayed).expect("they are as the protocol has them")
}
