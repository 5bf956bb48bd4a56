//! Who is known here, and what each may use: people, the clients that they let in with their tokens,
//! access tokens, and the sign-ins that we hold at sources. Records, and the ports that keep them.
//!
//! Everything that proves something is kept as a hash, and what is kept of a sign-in at a source is
//! sealed. This crate must not know how anything is kept, carried or shown: no I/O, no SQL, no HTTP.

use futures::future::BoxFuture;
use gatefold_core::BoxError;

mod access_tokens;
mod clients;
mod families;
mod grants;
mod names;
mod people;
mod providers;
mod public_url;
mod targets;

pub use access_tokens::{AccessTokenRecord, KnownToken, NewAccessToken};
pub use clients::{ClientRecord, RegisteredClients};
pub use families::{
    CodeRecord, CodeState, Consent, FamilyAccess, FamilyRecord, FamilyRenewal, TokenFamilies,
};
pub use grants::{GrantPlace, GrantRecord, Grants};
pub use names::is_plain_name;
pub use people::{BrowserSession, NewPassword, PasswordLink, People, PersonRecord};
pub use providers::{
    AccountChoice, IssuerSubject, ProvidedPeople, ProvidedPerson, ProviderVisit, VisitSecrets,
};
pub use public_url::{PublicUrl, PublicUrlError, is_this_machine};
pub use targets::{Resource, SCOPES, Scopes};

/// What bounds the records, wherever they are kept.
pub mod limits {
    pub use super::access_tokens::{TOKEN_PATTERN_BYTES, TOKEN_PATTERNS};
    pub use super::clients::{REGISTERED_CLIENTS, UNUSED_LIFE, USED_LIFE};
    pub use super::names::NAME_BYTES;
    pub use super::people::LINK_LIFE;
}

/// What a port answers that keeps something. Each of its methods is one transaction, also against
/// other gateways on the same state, and every table has a bound of its own.
pub type StoreAnswer<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// Whether something new was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum KeepOutcome {
    Kept,
    /// There are too many already.
    Full,
    /// Its id is taken, or what it belongs to is gone.
    Refused,
}
