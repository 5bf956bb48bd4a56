//! What a source presents to its upstream to get in.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Domain, Secret, UpstreamIdentity};

use crate::IdentityScope;

/// One credential: the name of a header, or of its equivalent in the source's protocol, and its
/// value.
#[derive(Debug, Clone)]
pub struct Credential {
    pub name: String,
    pub value: Secret,
}

/// All credentials of one identity at one source.
pub type CredentialSet = Arc<[Credential]>;

/// Gives the credentials of an identity at a source.
///
/// A source asks before each request, because tokens expire in the middle of a session. An
/// implementation keeps what is still valid and returns the same [`CredentialSet`] until it
/// changes: a source prepares a set once and recognises it by its address.
pub trait Credentials: Send + Sync + 'static {
    /// Whose credentials it gives at a source: one set for everybody, or one for each user, whose
    /// sessions are kept apart. `None` leaves the source to what its configuration says.
    fn scope(&self, domain: &Domain) -> Option<IdentityScope> {
        let _ = domain;
        Some(IdentityScope::Shared)
    }

    /// The credentials that are valid and available now. `None` makes the source wait for
    /// [`Credentials::obtain`].
    fn at_hand(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<CredentialSet>;

    /// Tells the sign-ins of an identity apart, as far as the present one is known now. A session that
    /// was opened under one is not used under another. A refreshed token is the same sign-in.
    fn sign_in(&self, domain: &Domain, identity: &UpstreamIdentity) -> Option<u64> {
        let _ = (domain, identity);
        None
    }

    /// Obtains credentials, for example by a refresh. The request's own deadline bounds the wait.
    fn obtain<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>>;

    /// Hears that the upstream refused credentials, or wants some where there were none. Gives
    /// others, with which the request is made once more, or says why there are none.
    fn refused<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
        refusal: CredentialRefusal,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        let _ = (domain, identity, refusal);
        Box::pin(std::future::ready(Err(CredentialError::new("check its credentials"))))
    }

    /// A page at which the identity's own user can sign in now.
    fn sign_in_link<'a>(
        &'a self,
        domain: &'a Domain,
        identity: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<SignInLink, CredentialError>> {
        let _ = (domain, identity);
        Box::pin(std::future::ready(Err(CredentialError::new("there is no page to sign in at"))))
    }
}

/// A page at which an identity signs in.
pub struct SignInLink {
    pub url: String,
    /// Tells it from other links.
    pub id: String,
    /// Whether somebody has signed in there. Ends when that is settled.
    pub done: BoxFuture<'static, bool>,
}

/// An upstream's refusal of credentials.
#[derive(Debug, Clone)]
pub struct CredentialRefusal {
    /// What the request carried.
    pub carried: CredentialSet,
    pub cause: RefusalCause,
    /// What the upstream said it wants instead, such as the values of HTTP's `WWW-Authenticate`.
    pub challenges: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCause {
    /// The upstream does not know who asks, as with HTTP status 401.
    Unknown,
    /// Whoever asks may not do it, as with HTTP status 403.
    Forbidden,
}

/// Why there are no credentials. Both the caller and the operator read the reason; the error's
/// source is for the operator.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub struct CredentialError {
    pub reason: String,
    /// Whether a person can help by signing in. Trying again does not.
    pub needs_sign_in: bool,
    #[source]
    pub source: Option<BoxError>,
}

impl CredentialError {
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), needs_sign_in: false, source: None }
    }

    /// An error that a sign-in mends. The reason says how to sign in.
    pub fn needs_sign_in(reason: impl Into<String>) -> Self {
        Self { needs_sign_in: true, ..Self::new(reason) }
    }
}

/// The same credentials for everybody, forever, as set in a configuration.
#[derive(Clone, Default)]
pub struct StaticCredentials(CredentialSet);

impl StaticCredentials {
    pub fn new(credentials: impl IntoIterator<Item = Credential>) -> Self {
        Self(credentials.into_iter().collect())
    }
}

impl fmt::Debug for StaticCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|own| &own.name)).finish()
    }
}

impl Credentials for StaticCredentials {
    fn at_hand(&self, _: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        Some(self.0.clone())
    }

    fn obtain<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        Box::pin(std::future::ready(Ok(self.0.clone())))
    }
}

/// Gives none: every source presents what its configuration says.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCredentials;

impl Credentials for NoCredentials {
    fn scope(&self, _: &Domain) -> Option<IdentityScope> {
        None
    }

    fn at_hand(&self, _: &Domain, _: &UpstreamIdentity) -> Option<CredentialSet> {
        None
    }

    fn obtain<'a>(
        &'a self,
        _: &'a Domain,
        _: &'a UpstreamIdentity,
    ) -> BoxFuture<'a, Result<CredentialSet, CredentialError>> {
        Box::pin(std::future::ready(Err(CredentialError::new("nobody gives credentials here"))))
    }
}
