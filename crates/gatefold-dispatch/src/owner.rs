use gatefold_core::{Digest, Principal};

use crate::seal::{person_digest, principal_digest};

/// Whose notes or results something is: a digest of the subject, the active organisation, the agent
/// and, where [`DataOwner::of`] makes it, the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataOwner(Digest);

impl DataOwner {
    /// The owner of what lasts no longer than its token: another token may not see as much.
    pub fn of(principal: &Principal) -> Self {
        Self(principal_digest(principal))
    }

    /// The owner of what is written for good, and outlives the token with which it was.
    pub fn lasting(principal: &Principal) -> Self {
        Self(person_digest(principal))
    }

    /// Reads what [`as_bytes`](Self::as_bytes) gives.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self(Digest::new(bytes.try_into().ok()?)))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
