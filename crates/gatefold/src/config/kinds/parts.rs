use gatefold_core::{Digest, Secret};
use sha2::{Digest as _, Sha256};

/// Hashes parts with their lengths, so that no two lists of parts have one hash.
pub struct DigestParts(Sha256);

impl DigestParts {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub fn add_list<T>(&mut self, items: &[T], mut add: impl FnMut(&mut Self, &T)) {
        self.0.update((items.len() as u64).to_le_bytes());
        for item in items {
            add(self, item);
        }
    }

    /// Adds names and their values.
    pub fn add_pairs<N: AsRef<str>>(&mut self, pairs: &[(N, Secret)]) {
        self.add_list(pairs, |parts, (name, value)| {
            parts.add(name.as_ref());
            parts.add(value.expose());
        });
    }

    pub(crate) fn finish(self) -> Digest {
        Digest::new(self.0.finalize().into())
    }
}
