//! The only way out: guarded HTTP clients.
//!
//! Every request that Gatefold sends goes through [`HttpClient`] or [`ConfiguredClient`], so that
//! timeouts, body limits, redirects and allowed addresses are settled in one place. Errors say where a
//! request went and never what it carried: no query, no user name, no password.
//!
//! This crate must not know MCP, sources or configuration files.

mod address;
mod body;
mod client;
mod configured;
mod error;
mod interim;
mod redaction;
mod redirect;
mod resolve;
mod settings;
mod tls;

pub use address::AddressPolicy;
pub use body::read_capped;
pub use client::HttpClient;
pub use configured::{ConfiguredClient, SendError};
pub use error::{EgressError, Obstacle};
pub use redaction::redacted;
pub use redirect::Redirects;
pub use settings::Settings;
