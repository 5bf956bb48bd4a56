//! People who sign in here: their passwords, and the browsers in which they are signed in.

use std::time::Duration;

use gatefold_core::{Digest, Secret, Timestamp, TokenId, UserId};
use serde::{Deserialize, Serialize};

use crate::{IssuerSubject, KeepOutcome, StoreAnswer};

/// How long a one-time link to set a password is good.
pub const LINK_LIFE: Duration = Duration::from_secs(24 * 60 * 60);

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

/// A link to set a password.
pub struct PasswordLink {
    pub text: Secret,
    pub expires_at: Timestamp,
}

/// A password that a one-time link sets.
#[derive(Clone)]
pub struct NewPassword {
    pub link: TokenId,
    pub link_hash: Digest,
    /// Its hash, as text of the form of PHC.
    pub password: String,
}

/// A browser whose user has signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSession {
    pub id: TokenId,
    pub hash: Digest,
    pub user: UserId,
    /// As whom a provider knows the user. None for a password.
    pub provided: Option<IssuerSubject>,
    pub expires_at: Timestamp,
}

/// Keeps who signs in here.
pub trait People: Send + Sync + 'static {
    /// The hash of a user's password, as text of the form of PHC.
    fn password<'a>(&'a self, user: &'a UserId) -> StoreAnswer<'a, Option<String>>;

    /// Whose password a one-time link may set. It stays as it is.
    fn password_link<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<UserId>>;

    /// Uses up a link: sets its user's password, and ends that user's sessions in browsers. None if
    /// the link is not good any more.
    fn set_password(&self, new: NewPassword, now: Timestamp) -> StoreAnswer<'_, Option<UserId>>;

    /// Keeps that a browser's user has signed in, unless the user was removed meanwhile. The oldest session
    /// of a user with too many goes.
    fn open_session(&self, session: BrowserSession, now: Timestamp)
    -> StoreAnswer<'_, KeepOutcome>;

    fn session<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<BrowserSession>>;

    fn close_session<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, ()>;
}
