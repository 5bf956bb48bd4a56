//! The gateway as an MCP server.

mod front;
mod guard;
mod handler;
mod http;
mod server;
mod sessions;
mod stdio;
mod surfaces;

pub use http::{HttpEndpoint, serve_http};
pub use server::Server;
pub use stdio::serve_stdio;
