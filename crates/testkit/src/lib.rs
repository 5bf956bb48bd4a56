//! Peers for Gatefold's tests: MCP servers that misbehave exactly as told, one that never
//! misbehaves, and raw clients.
//!
//! The raw fixtures and clients handle JSON-RPC as text on purpose: a fixture can break a rule byte
//! by byte, and a test can see exactly what was on the wire. So they must not know the protocol
//! library. [`mod@reference`] is built on that library on purpose, as a correct peer that we did not
//! write. No part of this crate knows another crate of the workspace.
//!
//! - [`fixture`] is an MCP server on stdio that any test binary becomes by running itself again.
//! - [`http`] serves the same fixture over streamable HTTP, in the process or in one of its own.
//! - [`serve_raw`] has one tool, whose calls a test answers byte by byte.
//! - [`client`] has the two raw clients, one for each transport.
//! - [`provider`] signs people in, and is the server whose users they are.
//! - [`issuer`] signs tokens, good ones and bad ones.
//! - [`model`] is a language model that a test scripts, behind an endpoint of two wires.
//! - [`mod@reference`] is a complete and correct MCP server, which passes the official suite.

pub mod client;
mod exit;
pub mod fixture;
pub mod http;
pub mod issuer;
pub mod model;
mod process;
pub mod provider;
mod raw_server;
pub mod reference;
mod wait;

pub use client::{Exchange, RawClient, RawResponse, StdioClient};
pub use fixture::{Fixture, fixture_command};
pub use http::{HttpFixture, HttpProcess, serve_http};
pub use issuer::{
    ExchangeRequest, ExchangeTerms, ISSUER_CLIENT, IdentityRules, IssuerCounts, IssuerKey,
    TokenIssuer,
};
pub use process::{run_from_args, run_if_asked};
pub use provider::{Provider, ProviderCounts, ProviderRules};
pub use raw_server::{RAW_TOOL, serve_raw};
pub use reference::reference_command;
pub use wait::{process_alive, wait_until};

/// Why a fixture could not be made or a raw client got no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("name one transport: `--http ADDRESS` or `--stdio`")]
    NoTransport,
    #[error("unknown behaviour `{0}`")]
    UnknownBehaviour(String),
    #[error("behaviour `{flag}` does not take `{value}`: {expected}")]
    BadValue { flag: String, value: String, expected: &'static str },
    #[error("`{path}` is not a tool list with a `tools` array")]
    BadReplay {
        path: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("{action} failed")]
    Io {
        action: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("the request over HTTP failed")]
    Http(#[from] reqwest::Error),
    #[error("nothing came within {limit_ms} ms while waiting for {what}")]
    Late { what: String, limit_ms: u128 },
    #[error("the peer closed the connection before it answered {what}")]
    Closed { what: String },
    #[error("the answer with HTTP status {status} is not what was asked for: {body}")]
    NotAnAnswer { status: u16, body: String },
    #[error("a message is larger than {limit_bytes} bytes")]
    TooLarge { limit_bytes: usize },
}

impl Error {
    pub(crate) fn io(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, source }
    }
}
