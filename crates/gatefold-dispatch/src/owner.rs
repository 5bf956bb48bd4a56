use gatefold_core::{Digest, Principal};

use crate::seal::principal_digest;

/// Whose notes or results something is: a digest of the subject, the active organisation and the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DataOwner(Digest);

impl DataOwner {
    pub fn of(principal: &Principal) -> Self {
        Self(principal_digest(principal))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}
