//! OAuth 2.1 as MCP wants it, and as providers really speak it: signing in to servers, and judging the
//! tokens that others present.
//!
//! [`discover`] finds out where a server's users sign in, unless a [`KnownProvider`] says it. [`SignIn`] takes a person there and back:
//! a client is registered, the browser gets an address, and what it comes back with becomes a
//! [`Grant`]. [`Accounts`] keeps grants usable while the gateway runs, and refreshes each one once,
//! however many calls and processes need it. It exchanges callers' own tokens ([`TokenExchange`]), too.
//!
//! [`TokenIssuers`] says whose a presented token is. [`OpenIdProvider`] says who somebody is whose
//! browser comes back from there.
//!
//! Every request goes through a source's own guarded client, so metadata can name no address that
//! the source may not reach. Grants and the clock are ports. This crate must not know MCP,
//! configuration files, storage, or who may call what.

mod accounts;
mod address;
mod assertion;
mod authorization;
mod bearer;
mod challenge;
mod client;
mod device;
mod discovery;
mod endpoint;
mod error;
mod grant;
mod lenient;
mod metadata;
mod openid;
mod pkce;
mod provider;
mod redirect;
mod registration;
mod revocation;
mod sign_in;
mod token;
mod token_fault;
mod well_known;

pub use accounts::{
    Accounts, KnownServer, PresentedBearer, SignInNeed, SiteSettings, TokenExchange, TokenExchanger,
};
pub use assertion::SigningKey;
pub use authorization::{AuthorizationRequest, RedirectAnswer};
pub use bearer::{
    BEARER_LIMIT, IntrospectionSettings, Recheck, TokenBearer, TokenHolder, TokenIssuers,
    TrustedIssuer, VerifiedToken,
};
pub use challenge::BearerChallenge;
pub use client::{ClientSecret, ClientSettings, OAuthClient, TokenAuth};
pub use device::DeviceCode;
pub use discovery::{Discovery, discover};
pub use error::{Refused, SignInError};
pub use grant::{Grant, KeptGrant, Tokens};
pub use metadata::{ResourceMetadata, ServerMetadata};
pub use openid::{OpenIdProvider, OpenIdSettings};
pub use provider::{KnownProvider, ProviderAddresses, ProviderPlace};
pub use redirect::LocalRedirect;
pub use registration::Redirect;
pub use revocation::revoke;
pub use sign_in::{BrowserSignIn, DeviceSignIn, SignIn, SignInOptions};
pub use token_fault::TokenFault;
