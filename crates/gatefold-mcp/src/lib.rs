//! The Model Context Protocol, upstream and downstream.
//!
//! Upstream, [`McpSource`] makes a source of an MCP server; downstream, [`Server`] shows a
//! dispatcher to MCP clients; `protocol` has what both sides share. This crate speaks the protocol
//! itself, over `serde_json`, reqwest and `gatefold-http`: no protocol library is in the product. It
//! decides nothing about who may call what, words no answer to a model, and keeps nothing on disk.

mod counted;
mod downstream;
mod path;
mod protocol;
mod upstream;

pub use downstream::{Server, client_limits, serve_http, serve_stdio};
pub use path::GatewayPath;
pub use upstream::{
    ContainerNote, ContainerNotes, EraChoice, HttpSettings, INSIDE, McpPorts, McpSettings,
    McpSource, SessionPlaces, StartLimits, StartPlaces, StdioSettings, Transport,
    UserSessionLimits, answer_to_stranger, end_children, kill_children, source_limits,
};
