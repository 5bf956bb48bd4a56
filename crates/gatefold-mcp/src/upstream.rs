//! MCP servers as sources.

mod back_channel;
mod backoff;
mod challenge;
mod child_command;
mod containers;
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
mod reading_pace;
mod request;
mod roots;
mod session;
mod session_places;
mod settings;
mod source;
mod source_log;
mod starts;
mod stdio;
mod subscription_log;
mod unreadable;
mod wire;

pub use challenge::answer_to_stranger;
pub use child_command::INSIDE;
pub use containers::{ContainerNote, ContainerNotes};
pub(crate) use lines::{Line, Lines};
pub use process::{end_children, kill_children};
pub use session_places::{SessionPlaces, UserSessionLimits};
pub use settings::{EraChoice, HttpSettings, McpSettings, StdioSettings, Transport};
pub use source::{McpPorts, McpSource};
pub use starts::{StartLimits, StartPlaces};

/// What bounds a source and no configuration changes.
pub mod source_limits {
    pub use super::log_budget::{BYTES as LOGGED_BYTES, LINES as LOGGED_LINES};
    pub use super::session::{LATE_CALLS, LIST_BYTES, PAGES, PING_DEADLINE};
    pub use super::session_places::{SESSIONS_OF_USER, SESSIONS_OF_USERS};
    pub use super::source::{GATHERING, LONGEST_GATHERING};
    pub use super::source_log::{BYTES as KEPT_BYTES, LINE_BYTES, LINES as KEPT_LINES};
}
