//! The gateway as an MCP server.
//!
//! The protocol towards clients is written here and not left to a library, because a gateway passes
//! on what it does not understand: results and arguments keep their text, a source's question goes
//! out on the stream of the request that caused it, and both eras meet in one place, [`server`].

mod callers;
mod client;
mod era;
mod extensions;
mod fields;
mod greetings;
mod http;
mod listening;
mod message;
mod message_memory;
mod methods;
mod notices;
mod openings;
mod params;
mod peers;
mod replays;
mod request;
mod results;
mod server;
mod sessions;
mod stdio;
mod streams;
mod subscriptions;

pub use http::serve_http;
pub use server::Server;
pub use stdio::serve_stdio;

/// What bounds a client and no configuration changes.
pub mod client_limits {
    pub use super::sessions::{SESSION_REQUESTS, SESSIONS, SESSIONS_OF_CLIENT};
}
