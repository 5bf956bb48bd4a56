//! The protocol's own members of `_meta`.

/// The prefix of all of them except the oldest, `progressToken`.
pub(crate) const PREFIX: &str = "io.modelcontextprotocol/";
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// Ours: what a model is asked to do, by which its tools are chosen.
pub(crate) const ASKED: &str = "gatefold/request";
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";
