//! The only way out: guarded HTTP clients.
//!
//! Every request that Gatefold sends goes through an [`HttpClient`], so that timeouts, body limits,
//! redirects and allowed addresses are settled in one place. [`Egress`] makes one for each source,
//! with the source's own [`Reach`]. Errors say where a request went and never what it carried: no
//! query, no user name, no password.
//!
//! This crate must not know MCP, sources or configuration files.

mod address;
mod client;
mod connector;
mod decode;
mod egress;
mod error;
mod interim;
mod proxy;
mod rate;
mod reach;
mod redaction;
mod redirect;
mod request;
mod resolve;
mod response;
mod retry;
mod settings;
mod tls;

pub use address::AddressKind;
pub use client::HttpClient;
pub use egress::Egress;
pub use error::{EgressError, Obstacle, SendError};
pub use ipnet::IpNet;
pub use rate::{InvalidRate, RATE_WAIT, Rate, RateExceeded, RateLimiter};
pub use reach::{ForbiddenHost, PrivateNetworks, Reach};
pub use redaction::redacted;
pub use redirect::FirstRedirect;
pub use request::{HttpRequest, Redirects};
pub use resolve::{Lookup, Resolver, SystemResolver};
pub use response::{BodyEnd, HttpResponse, PartialBody, challenges};
pub use retry::asked_wait;
pub use settings::Settings;
pub use tls::{Identity, SystemDate};
