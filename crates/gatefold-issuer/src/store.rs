//! What an issuer keeps, as a port.

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Digest, Timestamp, TokenId, UserId};

use crate::provider::{ProvidedPerson, ProvidedSubject};
use crate::targets::{Resource, Scopes};

/// Keeps what an issuer gives out: hashes, never what they are hashes of.
///
/// Each method is one transaction, also against other gateways on the same state. Every table has a
/// bound of its own.
pub trait IssuerStore: Send + Sync + 'static {
    /// The hash of a user's password, as text of the form of PHC.
    fn password<'a>(&'a self, user: &'a UserId) -> StoreAnswer<'a, Option<String>>;

    /// Whose password a one-time link may set. It stays as it is.
    fn link<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<UserId>>;

    /// Uses up a link: sets its user's password, and ends that user's sessions in browsers. None if
    /// the link is not good any more.
    fn set_password(&self, new: NewPassword, now: Timestamp) -> StoreAnswer<'_, Option<UserId>>;

    /// Keeps what a provider has just said of somebody, in the place of what it said before. It holds
    /// for all that this person has let in.
    fn note_person(&self, person: ProvidedPerson, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

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

    /// Keeps that a browser's user has signed in. The oldest session of a user with too many goes.
    fn open_session(&self, session: BrowserSession, now: Timestamp)
    -> StoreAnswer<'_, KeepOutcome>;

    fn session<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<BrowserSession>>;

    fn close_session<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, ()>;

    fn keep_code(&self, code: CodeRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

    /// Uses up a code. The store remembers used ones for as long as [`limits::CODE_LIFE`] at least.
    ///
    /// [`limits::CODE_LIFE`]: crate::limits::CODE_LIFE
    fn take_code<'a>(&'a self, id: &'a TokenId, hash: Digest) -> StoreAnswer<'a, CodeState>;

    /// Begins what a code was good for. Refused if the code is gone, as after
    /// [`IssuerStore::end_family`].
    fn begin_family(&self, family: FamilyRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

    /// A family that has not ended.
    fn family<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<FamilyRecord>>;

    /// Replaces the tokens of a family, unless its refresh token is another one by now.
    fn renew_family<'a>(&'a self, id: &'a TokenId, renewal: Renewal) -> StoreAnswer<'a, bool>;

    /// Ends a family and forgets the code that it came from. Returns whether there was one.
    fn end_family<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, bool>;

    /// Keeps a client that registered. Those that are too old make room first.
    fn register(&self, client: ClientRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

    fn registered<'a>(
        &'a self,
        id: &'a str,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<ClientRecord>>;

    /// Notes that somebody let a registered client in.
    fn note_client_use<'a>(&'a self, id: &'a str, now: Timestamp) -> StoreAnswer<'a, ()>;
}

pub(crate) type StoreAnswer<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// Whether something new was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum KeepOutcome {
    Yes,
    /// There are too many already.
    Full,
    /// Its id is taken, or what it belongs to is gone.
    Refused,
}

/// A password that a one-time link sets.
#[derive(Clone)]
pub struct NewPassword {
    pub link: TokenId,
    pub link_hash: Digest,
    /// Its hash, as text of the form of PHC.
    pub password: String,
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

/// A browser whose user has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSession {
    pub id: TokenId,
    pub hash: Digest,
    pub user: UserId,
    /// As whom a provider knows the user. None for a password.
    pub provided: Option<ProvidedSubject>,
    pub expires_at: Timestamp,
}

/// A code, and what its client has to show for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRecord {
    /// The family that it begins has the same.
    pub id: TokenId,
    pub hash: Digest,
    pub user: UserId,
    pub provided: Option<ProvidedSubject>,
    pub client: String,
    pub client_name: String,
    pub redirect: String,
    /// The challenge of PKCE, for S256.
    pub challenge: String,
    pub resource: Resource,
    pub scopes: Scopes,
    pub expires_at: Timestamp,
}

/// What became of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeState {
    /// Nobody has used it before.
    Fresh(Box<CodeRecord>),
    Used,
    Unknown,
}

/// All that one consent gave: a refresh token with its access token, and those that replace them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRecord {
    pub id: TokenId,
    pub user: UserId,
    pub provided: Option<ProvidedSubject>,
    pub client: String,
    pub client_name: String,
    /// What the user agreed to.
    pub resource: Resource,
    pub scopes: Scopes,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub refresh: Digest,
    /// How often it was refreshed, and when last.
    pub refreshes: u32,
    pub refreshed_at: Timestamp,
    pub access: AccessRecord,
}

/// An access token. It may be for less than its family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRecord {
    pub hash: Digest,
    pub resource: Resource,
    pub scopes: Scopes,
    pub expires_at: Timestamp,
}

/// The next tokens of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewal {
    /// The refresh token that they replace.
    pub from: Digest,
    pub refresh: Digest,
    pub refreshed_at: Timestamp,
    pub access: AccessRecord,
}

/// A client that registered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    pub id: String,
    pub name: String,
    pub redirects: Vec<String>,
    pub created_at: Timestamp,
    /// When somebody let it in last.
    pub used_at: Option<Timestamp>,
}
