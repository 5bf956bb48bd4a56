//! MCP servers as sources.

mod backoff;
mod handler;
mod http;
mod ladder;
mod lines;
mod message;
mod outcome;
mod process;
mod session;
mod settings;
mod source;
mod stdio;
mod tap;
mod wire;

pub use process::INSIDE;
pub use settings::{HttpSettings, McpSettings, StdioSettings, Transport};
pub use source::{McpPorts, McpSource};
