//! Digests of arguments, as they are kept.

use gatefold_core::Digest;
use gatefold_dispatch::SealKey;
use sha2::{Digest as _, Sha256};

const PURPOSE: &str = "gatefold digests of arguments";

/// Makes digests of arguments that say nothing to whoever has not the key: arguments are often so short that all
/// that they could be can be tried.
#[derive(Clone)]
pub struct DigestKey([u8; 32]);

impl DigestKey {
    /// The key of a state directory, from the one that seals suspended calls there.
    pub fn new(key: &SealKey) -> Self {
        Self(key.derive(PURPOSE))
    }

    /// The digest that is kept of arguments, by their SHA-256. Key and digest have fixed lengths, so one hash of both
    /// is as good as an HMAC (RFC 2104), and every call waits for it.
    pub fn kept(&self, arguments: &Digest) -> Digest {
        let hash = Sha256::new().chain_update(self.0).chain_update(arguments.as_bytes());
        Digest::new(hash.finalize().into())
    }
}
