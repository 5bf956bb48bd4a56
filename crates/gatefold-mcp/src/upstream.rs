//! MCP servers as sources.

mod backoff;
mod credentials;
mod handshake;
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
mod request;
mod session;
mod settings;
mod source;
mod stdio;
mod subscription_log;
mod wire;

pub(crate) use lines::{Line, Lines};
pub use process::{INSIDE, end_children, kill_children};
pub use settings::{HttpSettings, McpSettings, StdioSettings, Transport};
pub use source::{McpPorts, McpSource};
