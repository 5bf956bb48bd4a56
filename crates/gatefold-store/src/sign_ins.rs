//! Signing in at the gateway itself: people, the clients that they let in, and what those have.
//!
//! Everything that proves something is kept as a hash. What becomes of a client's tokens counts as a
//! change of the access tokens, so gateways that run follow it as they follow those.

mod clients;
mod families;
mod people;
mod providers;

use std::time::Duration;

use gatefold_core::{Digest, Secret, Timestamp, TokenId, UserId};
use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

pub(crate) use families::{FAMILIES_LISTED, known_family};
pub(crate) use providers::provided_groups;

/// The most people with a password, or a link to set one.
pub const PEOPLE: u32 = 10_000;
/// The most browsers in which one user is signed in. The one that ends first makes room.
pub const BROWSERS_PER_USER: u32 = 16;
/// The most people who have come by way of a provider.
pub const PROVIDED_PEOPLE: u32 = 10_000;
/// The most browsers that are at a provider at once, and the longest request that goes on when one is
/// back, in bytes.
pub const PROVIDER_VISITS: u32 = 4096;
pub const VISIT_REQUEST_BYTES: usize = 8 * 1024;
/// The most codes at once, used ones among them.
pub const ISSUED_CODES: u32 = 10_000;
/// The most clients that are let in, in all and for one user. Of a user's, the one that was silent
/// longest makes room.
pub const FAMILIES: u32 = 10_000;
pub const FAMILIES_PER_USER: u32 = 100;

/// Somebody who signs in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonRecord {
    pub user: UserId,
    /// When the password was set. None for one who has only a link yet.
    pub password_set_at: Option<Timestamp>,
    /// Until when a link to set one is good.
    pub link_expires_at: Option<Timestamp>,
    /// The provider by way of which the user signed in last, and when.
    pub issuer: Option<String>,
    pub signed_in_at: Option<Timestamp>,
    /// How many clients the user has let in.
    pub clients: u64,
}

/// Somebody as a provider knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedSubject {
    pub issuer: String,
    pub subject: String,
}

/// Somebody who has signed in by way of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedPersonRow {
    pub subject: ProvidedSubject,
    /// Who that is here.
    pub user: UserId,
    /// The groups that the provider named.
    pub groups: Vec<String>,
}

/// A browser that was sent to a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRow {
    pub id: TokenId,
    pub hash: Digest,
    /// The hash of the browser's cookie.
    pub browser: Digest,
    pub request: String,
    pub expires_at: Timestamp,
}

/// A link to set a password.
pub struct PasswordLink {
    pub text: Secret,
    pub expires_at: Timestamp,
}

/// A password that a link sets.
pub struct LinkUse {
    pub id: TokenId,
    pub hash: Digest,
    /// Its hash, as text of the form of PHC.
    pub password: String,
}

/// A browser in which somebody has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserRow {
    pub id: TokenId,
    pub hash: Digest,
    pub user: UserId,
    /// By way of whom the user signed in. None for a password.
    pub provided: Option<ProvidedSubject>,
    pub expires_at: Timestamp,
}

/// A code, and what its client has to show for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRow {
    pub id: TokenId,
    pub hash: Digest,
    pub user: UserId,
    /// By way of whom the user signed in. None for a password.
    pub provided: Option<ProvidedSubject>,
    pub client: String,
    pub client_name: String,
    pub redirect: String,
    pub challenge: String,
    pub resource: String,
    pub scopes: String,
    pub expires_at: Timestamp,
}

/// What became of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenCode {
    Fresh(Box<CodeRow>),
    Used,
    Unknown,
}

/// What a client has that somebody let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRow {
    pub id: TokenId,
    pub user: UserId,
    pub provided: Option<ProvidedSubject>,
    pub client: String,
    pub client_name: String,
    pub resource: String,
    pub scopes: String,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub refresh: Digest,
    pub refreshes: u32,
    pub refreshed_at: Timestamp,
    pub access: AccessRow,
    /// The hour in which it was last used.
    pub last_used: Option<Timestamp>,
}

/// The access token of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRow {
    pub hash: Digest,
    pub resource: String,
    pub scopes: String,
    pub expires_at: Timestamp,
}

/// The next tokens of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRenewal {
    /// The refresh token that they replace.
    pub from: Digest,
    pub refresh: Digest,
    pub refreshed_at: Timestamp,
    pub access: AccessRow,
}

/// A client that registered itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRow {
    pub id: String,
    pub name: String,
    pub redirects: Vec<String>,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// How long clients that registered are kept, and how many.
#[derive(Debug, Clone, Copy)]
pub struct ClientBounds {
    pub clients: u32,
    /// Those that nobody has let in are older than this.
    pub unused_before: Timestamp,
    /// Nobody has let the others in since.
    pub used_before: Timestamp,
}

/// Whether something new was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Insertion {
    Done,
    /// There are too many.
    Full,
    /// Its id is taken, or what it belongs to is gone.
    Refused,
}

impl ProvidedSubject {
    /// The columns of a row that name one, if they do.
    fn of(row: &SqliteRow) -> sqlx::Result<Option<Self>> {
        let issuer: Option<String> = row.try_get("issuer")?;
        let subject: Option<String> = row.try_get("subject")?;
        Ok(issuer.zip(subject).map(|(issuer, subject)| Self { issuer, subject }))
    }

    /// The values of these columns.
    fn columns(own: Option<&Self>) -> (Option<&str>, Option<&str>) {
        (own.map(|own| &*own.issuer), own.map(|own| &*own.subject))
    }
}

fn span(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn moment(row: &SqliteRow, name: &str) -> sqlx::Result<Timestamp> {
    Ok(Timestamp::from_millis(row.try_get::<i64, _>(name)?.cast_unsigned()))
}

fn maybe(row: &SqliteRow, name: &str) -> sqlx::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.try_get(name)?;
    Ok(millis.map(|millis| Timestamp::from_millis(millis.cast_unsigned())))
}

fn digest(row: &SqliteRow, name: &str) -> sqlx::Result<Digest> {
    let bytes: Vec<u8> = row.try_get(name)?;
    let bytes: Result<[u8; 32], _> = bytes.try_into();
    bytes.map(Digest::new).map_err(|_| sqlx::Error::Decode("a hash has 32 bytes".into()))
}
