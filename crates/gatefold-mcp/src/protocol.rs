//! What both sides of the gateway share of JSON-RPC and MCP: messages, versions, error codes, and
//! the names of methods, headers and members of `_meta`. What only one side needs lives with that
//! side.

pub(crate) mod codes;
mod errors;
pub(crate) mod headers;
mod logging;
pub(crate) mod meta;
pub(crate) mod methods;
pub(crate) mod rpc;
mod subscriptions;
mod versions;

pub(crate) use self::errors::RpcError;
pub(crate) use self::logging::LogLevel;
pub(crate) use self::subscriptions::SubscriptionFilter;
pub(crate) use self::versions::{
    BATCH_VERSION, Era, HANDSHAKE_VERSION, RESUMABLE_VERSION, STATELESS_VERSION, VERSIONS,
    negotiated,
};
