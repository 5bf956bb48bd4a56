//! Signing in at the gateway: an OAuth 2.1 authorization server of its own.
//!
//! People sign in with a password or at an OpenID provider ([`IdentityProvider`]), see what a client wants, and let it in or not. The client gets a
//! code, and tokens for it that are good for one part of the gateway. Clients are known by metadata
//! documents that they publish, or register themselves where that is switched on; all of them are
//! public clients, which prove with PKCE that a code is theirs.
//!
//! [`Issuer`] makes the routes. What it keeps is behind [`IssuerStore`], each method one transaction,
//! so several gateways may be one issuer. Every secret that leaves here is kept as a hash alone. This
//! crate must not know MCP, configuration files, storage, or what a token lets somebody do.

mod authorization;
mod browser;
mod clients;
mod documents;
mod error;
mod families;
mod form;
mod issuer;
mod keys;
mod pages;
mod passwords;
mod provider;
mod redirect;
mod registration;
mod routes;
mod settings;
mod state;
mod throttle;

pub use error::IssuerError;
pub use issuer::Issuer;
pub use passwords::{PASSWORD_BYTES, PASSWORD_CHARS};
pub use provider::{IdentityProvider, ProviderFault};
pub use redirect::RedirectUri;
pub use settings::{CALLBACK_PATH, DocumentAccess, IssuerSettings, PasswordSignIn, Registration};
pub use state::IssuerStore;

/// How long what it gives out is good, and how much of it there may be.
pub mod limits {
    pub use super::browser::{SESSION_LIFE, VISIT_LIFE};
    pub use super::families::{ACCESS_LIFE, CODE_LIFE, FAMILY_LIFE, REFRESHES, REPEAT_WITHIN};
}
