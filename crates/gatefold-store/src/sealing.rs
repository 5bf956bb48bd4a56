//! Encryption of what lies in the state directory and is nobody's business there.

use aes_gcm_siv::aead::AeadInOut as _;
use aes_gcm_siv::{Aes256GcmSiv, KeyInit as _, Nonce};
use gatefold_dispatch::SealKey;

use crate::StoreError;

/// The length of the nonce in front of each text, in bytes.
const NONCE: usize = 12;

/// AES-256-GCM-SIV (RFC 8452) under a key for one purpose.
pub(crate) struct Sealer(Aes256GcmSiv);

/// An encrypted text.
pub(crate) struct SealedText {
    pub(crate) nonce: [u8; NONCE],
    /// The text and its tag.
    pub(crate) body: Vec<u8>,
}

impl Sealer {
    pub(crate) fn new(key: &SealKey, purpose: &'static str) -> Self {
        Self(Aes256GcmSiv::new(&key.derive(purpose).into()))
    }

    /// Encrypts a text in its own memory. It opens only with the same `place`.
    pub(crate) fn seal(&self, text: Vec<u8>, place: &[u8]) -> Result<SealedText, StoreError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(StoreError::Random)?;
        let mut body = text;
        let sealed = self.0.encrypt_in_place(&Nonce::from(nonce), place, &mut body);
        sealed.expect("a text is shorter than 64 GiB");
        Ok(SealedText { nonce, body })
    }

    /// The text that [`Sealer::seal`] encrypted with this place. None if a byte of it was altered.
    pub(crate) fn open(&self, sealed: SealedText, place: &[u8]) -> Option<Vec<u8>> {
        let mut body = sealed.body;
        self.0.decrypt_in_place(&Nonce::from(sealed.nonce), place, &mut body).ok()?;
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_purpose_and_place_open_a_text() {
        let sealer = |key: u8, purpose| Sealer::new(&SealKey::new([key; 32]), purpose);
        let secret = || sealer(1, "a").seal(b"secret".to_vec(), b"here").unwrap();
        assert!(!secret().body.starts_with(b"secret"));
        assert_ne!(secret().nonce, secret().nonce);
        for (key, purpose, place, opens) in [
            (1, "a", "here", true),
            (2, "a", "here", false),
            (1, "b", "here", false),
            (1, "a", "there", false),
        ] {
            let opened = sealer(key, purpose).open(secret(), place.as_bytes());
            assert_eq!(opened.is_some(), opens, "{key} {purpose} {place}");
        }
        let mut altered = secret();
        altered.body[0] ^= 1;
        assert!(sealer(1, "a").open(altered, b"here").is_none());
    }
}
