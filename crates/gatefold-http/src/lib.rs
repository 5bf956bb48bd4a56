//! The gateway's HTTP listener, and what each request passes before a handler sees it.
//!
//! [`serve`] takes connections, secures and bounds them, and refuses hosts and origins that are not
//! allowed. [`Routes`] says of each route whom it is for; where that is not everybody, an
//! [`AuthenticationLayer`] asks an [`Authenticator`] and hands the principal on. This crate must not
//! know MCP, configuration or storage: how a refusal reads is for routes to say ([`RefusalFormat`]).

mod authentication;
mod bodies;
mod budget;
mod connections;
mod endpoint;
mod guard;
mod parting;
mod patience;
mod proxies;
mod refusals;
mod routes;
mod securing;
mod serve;
mod tls;
mod undated;

pub use authentication::{
    Authenticated, AuthenticationLayer, AuthenticationService, Authenticator, RequiredCaller,
    SoleUser, Unauthenticated, Validity,
};
pub use bodies::{RequestBodies, UnreadBody};
pub use budget::BudgetShare;
pub use endpoint::HttpEndpoint;
pub use refusals::RefusalFormat;
pub use routes::{Routes, SharedEndpoint};
pub use securing::HTTPS_ONLY;
pub use serve::{ServedApp, serve};
pub use tls::{CertificateAge, ListenerTls, TlsPair, TlsPairError};
