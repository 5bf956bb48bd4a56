//! What people let clients do: codes, and the tokens that they become.

use gatefold_core::{Digest, Timestamp, TokenId, UserId};

use crate::{IssuerSubject, KeepOutcome, Resource, Scopes, StoreAnswer};

/// Keeps codes and what they gave.
pub trait TokenFamilies: Send + Sync + 'static {
    /// Keeps a code, unless its user was removed meanwhile.
    fn keep_code(&self, code: CodeRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

    /// Uses up a code. Used ones are remembered for an hour after they have expired.
    fn take_code<'a>(&'a self, id: &'a TokenId, hash: Digest) -> StoreAnswer<'a, CodeState>;

    /// Begins what a code was good for. Refused if the code is gone, as after
    /// [`TokenFamilies::end_family`].
    fn begin_family(&self, family: FamilyRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome>;

    /// A family that has not ended.
    fn family<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<FamilyRecord>>;

    /// Replaces the tokens of a family, unless its refresh token is another one by now.
    fn renew_family<'a>(&'a self, id: &'a TokenId, renewal: FamilyRenewal)
    -> StoreAnswer<'a, bool>;

    /// Ends a family and forgets the code that it came from. Returns whether there was one.
    fn end_family<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, bool>;
}

/// What a person agreed to for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consent {
    pub user: UserId,
    /// As whom a provider knows the user. None for a password.
    pub provided: Option<IssuerSubject>,
    /// The client's id: the address of its metadata, or its registration.
    pub client: String,
    pub client_name: String,
    pub resource: Resource,
    pub scopes: Scopes,
}

/// A code, and what its client has to show for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRecord {
    /// The family that it begins has the same.
    pub id: TokenId,
    pub hash: Digest,
    pub consent: Consent,
    pub redirect: String,
    /// The challenge of PKCE, for S256.
    pub challenge: String,
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
    pub consent: Consent,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub refresh: Digest,
    /// How often it was refreshed, and when last.
    pub refreshes: u32,
    pub refreshed_at: Timestamp,
    pub access: FamilyAccess,
    /// The hour in which it was last used.
    pub last_used: Option<Timestamp>,
}

/// The access token of a family. It may be for less than the family is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyAccess {
    pub hash: Digest,
    pub resource: Resource,
    pub scopes: Scopes,
    pub expires_at: Timestamp,
}

/// The next tokens of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRenewal {
    /// The refresh token that they replace.
    pub from: Digest,
    pub refresh: Digest,
    pub refreshed_at: Timestamp,
    pub access: FamilyAccess,
}
