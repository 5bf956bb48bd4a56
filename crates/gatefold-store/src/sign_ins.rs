//! Signing in at the gateway itself: people, the clients that they let in, and what those have.
//!
//! Everything that proves something is kept as a hash. What becomes of a client's tokens counts as a
//! change of the access tokens, so gateways that run follow it as they follow those.

mod clients;
mod families;
mod people;
mod providers;

use std::time::Duration;

use gatefold_core::{Digest, Timestamp};
use gatefold_identity::{IssuerSubject, KeepOutcome};
use sqlx::Row as _;
use sqlx::sqlite::{SqliteQueryResult, SqliteRow};

use crate::database::millis;

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

/// Tells gateways that run to read the tokens again.
pub(crate) const CHANGED: &str = "UPDATE access_token_changes SET changes = changes + 1";

/// The person whom the columns of a row name, if they do.
fn provided(row: &SqliteRow) -> sqlx::Result<Option<IssuerSubject>> {
    let issuer: Option<String> = row.try_get("issuer")?;
    let subject: Option<String> = row.try_get("subject")?;
    Ok(issuer.zip(subject).map(|(issuer, subject)| IssuerSubject { issuer, subject }))
}

/// The values of these columns.
fn provided_columns(provided: Option<&IssuerSubject>) -> (Option<&str>, Option<&str>) {
    (provided.map(|own| &*own.issuer), provided.map(|own| &*own.subject))
}

/// Whether the one row was written that was to be.
fn outcome(written: &SqliteQueryResult) -> KeepOutcome {
    if written.rows_affected() == 1 { KeepOutcome::Kept } else { KeepOutcome::Refused }
}

/// The time so long ago, as the database stores it.
fn millis_before(now: Timestamp, life: Duration) -> i64 {
    millis(now).saturating_sub(i64::try_from(life.as_millis()).unwrap_or(i64::MAX))
}

pub(crate) fn moment(row: &SqliteRow, name: &str) -> sqlx::Result<Timestamp> {
    Ok(Timestamp::from_millis(row.try_get::<i64, _>(name)?.cast_unsigned()))
}

pub(crate) fn maybe(row: &SqliteRow, name: &str) -> sqlx::Result<Option<Timestamp>> {
    let millis: Option<i64> = row.try_get(name)?;
    Ok(millis.map(|millis| Timestamp::from_millis(millis.cast_unsigned())))
}

pub(crate) fn digest(row: &SqliteRow, name: &str) -> sqlx::Result<Digest> {
    let bytes: Vec<u8> = row.try_get(name)?;
    let bytes: Result<[u8; 32], _> = bytes.try_into();
    bytes.map(Digest::new).map_err(|_| sqlx::Error::Decode("a hash has 32 bytes".into()))
}
