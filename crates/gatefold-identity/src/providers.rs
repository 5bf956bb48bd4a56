//! People who come by way of an OpenID provider, and browsers that are there.

use gatefold_core::{Digest, Secret, Timestamp, TokenId, UserId};

use crate::{KeepOutcome, StoreAnswer};

/// A person as an issuer knows them, such as a provider.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IssuerSubject {
    pub issuer: String,
    /// Unique there, and stays the same.
    pub subject: String,
}

/// Somebody whom a provider vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedPerson {
    pub subject: IssuerSubject,
    /// Who that is here.
    pub user: UserId,
    /// The groups that the provider names.
    pub groups: Vec<String>,
}

/// A browser that was sent to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderVisit {
    pub id: TokenId,
    /// The hash of what comes back in the address.
    pub hash: Digest,
    /// The hash of the browser's cookie.
    pub browser: Digest,
    /// The request for a code that goes on afterwards.
    pub request: String,
    pub expires_at: Timestamp,
}

/// What one visit of a browser to a provider is known by. Whoever begins it has to have them again when
/// the browser is back.
#[derive(Debug, Clone)]
pub struct VisitSecrets {
    /// Comes back in the address.
    pub state: Secret,
    /// Comes back in what the provider says.
    pub nonce: Secret,
    /// Proves to the provider that the answer is ours to use: 43 to 128 characters (RFC 7636, section
    /// 4.1).
    pub verifier: Secret,
}

/// As whom a person signs in who is signed in at the provider already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountChoice {
    /// As the provider thinks.
    Usual,
    /// As somebody else: it has to ask.
    Another,
}

/// Keeps who comes by way of a provider.
pub trait ProvidedPeople: Send + Sync + 'static {
    /// Keeps what a provider has just said of somebody, in the place of what it said before. It holds
    /// for all that this person has let in.
    fn note_provided_person(
        &self,
        person: ProvidedPerson,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome>;

    /// Keeps that a browser was sent to a provider. Strangers begin such visits, so they have a bound, and
    /// the one that began first makes room.
    fn keep_visit(&self, visit: ProviderVisit, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

    /// Takes the request of a browser that is back, once. None for a visit that is unknown, over, or
    /// another browser's, which stays as it was.
    fn take_visit<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        browser: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<String>>;
}
