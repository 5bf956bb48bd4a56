//! MCP servers as sources.

mod backoff;
mod handler;
mod http;
mod ladder;
mod lines;
mod message;
mod mirrored;
mod news;
mod operation;
mod params;
mod process;
mod reach;
mod session;
mod settings;
mod source;
mod stdio;
mod tap;
mod wire;

pub(crate) use lines::{Line, Lines};
pub use process::{INSIDE, end_children, kill_children};
pub use settings::{HttpSettings, McpSettings, StdioSettings, Transport};
pub use source::{McpPorts, McpSource};
