//! Proof key for code exchange (RFC 7636), with S256 alone, and other random texts.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_core::Secret;
use sha2::{Digest as _, Sha256};

use crate::SignInError;

/// How many random bytes a verifier or a state has.
const BYTES: usize = 32;

/// The secret that whoever began a sign-in shows to end it.
#[derive(Debug, Clone)]
pub(crate) struct Verifier(pub(crate) Secret);

impl Verifier {
    pub(crate) fn new() -> Result<Self, SignInError> {
        random().map(Self)
    }

    pub(crate) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.0.expose()))
    }
}

/// A text that nobody can guess: 43 characters that need no escape in a URL.
pub(crate) fn random() -> Result<Secret, SignInError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(SignInError::Random)?;
    Ok(Secret::new(URL_SAFE_NO_PAD.encode(bytes)))
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = Verifier(Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        assert_ne!(Verifier::new().unwrap().challenge(), Verifier::new().unwrap().challenge());
    }
}
