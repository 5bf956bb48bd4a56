//! MCP servers as sources.

mod back_channel;
mod backoff;
mod credentials;
mod handshake;
mod http;
mod ladder;
mod last_words;
mod lines;
mod log_budget;
mod message;
mod mirrored_arguments;
mod notices;
mod operation;
mod own_secrets;
mod package_runner;
mod params;
mod process;
mod request;
mod roots;
mod session;
mod settings;
mod source;
mod source_log;
mod starts;
mod stdio;
mod subscription_log;
mod unreadable;
mod wire;

pub(crate) use lines::{Line, Lines};
pub use process::{INSIDE, end_children, kill_children};
pub use settings::{HttpSettings, McpSettings, StdioSettings, Transport};
pub use source::{McpPorts, McpSource};
pub use starts::{StartLimits, StartPlaces};
