//! Keys for each purpose, from the one that all gateways on a state share.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_core::{Digest, DrawnToken, Secret, TokenId, TokenKind};
use gatefold_identity::VisitSecrets;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

pub(crate) struct IssuerKeys {
    root: [u8; 32],
}

impl IssuerKeys {
    pub(crate) fn new(root: [u8; 32]) -> Self {
        Self { root }
    }

    /// What follows a refresh token. It follows from that one alone, so whoever asks twice, because
    /// the answer was lost, gets the same twice.
    pub(crate) fn next_refresh(&self, id: &TokenId, former: &str) -> DrawnToken {
        let secret = self.derive("refresh", &[id.as_str().as_bytes(), former.as_bytes()]);
        DrawnToken::of(TokenKind::Refresh, id, &secret)
    }

    /// The access token that goes with it.
    pub(crate) fn next_access(&self, id: &TokenId, former: &str) -> DrawnToken {
        let secret = self.derive("access", &[id.as_str().as_bytes(), former.as_bytes()]);
        DrawnToken::of(TokenKind::SignedIn, id, &secret)
    }

    /// What a form has to bring back: it is good for one session in a browser and one request.
    pub(crate) fn form_seal(&self, session: &Digest, what: &str, request: &str) -> String {
        let parts = [session.as_bytes().as_slice(), what.as_bytes(), request.as_bytes()];
        Digest::new(self.derive("form", &parts)).to_string()
    }

    /// The secrets of a visit to a provider, which follow from what comes back of it: so nothing is
    /// kept that proves anything.
    pub(crate) fn visit_secrets(&self, state: &str, browser: &Digest) -> VisitSecrets {
        let secret = |purpose: &str| {
            let secret = self.derive(purpose, &[state.as_bytes(), browser.as_bytes()]);
            Secret::new(URL_SAFE_NO_PAD.encode(secret))
        };
        VisitSecrets {
            state: Secret::new(state),
            nonce: secret("provider nonce"),
            verifier: secret("provider verifier"),
        }
    }

    fn derive(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mac = Hmac::<Sha256>::new_from_slice(&self.root);
        let mut mac = mac.expect("HMAC takes keys of any length");
        for part in [purpose.as_bytes()].iter().chain(parts) {
            // Its length goes before each part, so that no two lists of parts are the same bytes.
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let hash = |text: &str| Sha256::digest(text);
    hash(one).as_slice().ct_eq(hash(other).as_slice()).into()
}

/// Whether two hashes are the same, in a time that does not tell where they differ.
pub(crate) fn is_same_hash(one: &Digest, other: &Digest) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}
