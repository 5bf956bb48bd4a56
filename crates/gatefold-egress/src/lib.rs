//! The only way out: a guarded HTTP client.
//!
//! Every request that Gatefold sends goes through [`HttpClient`], so that timeouts, body limits,
//! redirects and allowed addresses are settled in one place. Errors say where a request went and
//! never what it carried: no query, no user name, no password.
//!
//! This crate must not know MCP, sources or configuration files.

mod address;
mod body;
mod client;
mod error;
mod redaction;
mod redirect;
mod resolve;
mod tls;

pub use address::AddressPolicy;
pub use body::read_capped;
pub use client::{HttpClient, Settings};
pub use error::{EgressError, Obstacle};
pub use redaction::redacted;
pub use redirect::Redirects;
