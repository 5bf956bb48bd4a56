//! A client that proves itself with a key: `private_key_jwt` (RFC 7523, OpenID Connect Core,
//! section 9).

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gatefold_core::{Secret, Timestamp};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::json;

use crate::{SignInError, pkce};

/// The type that goes beside an assertion.
pub(crate) const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// For how long an assertion is good, in seconds.
const LIFETIME_S: u64 = 120;

/// A private key that signs assertions. Its `Debug` shows nothing.
#[derive(Clone)]
pub struct SigningKey {
    pair: Arc<KeyPair>,
    /// The name of the key, which the provider finds its public half by.
    id: Option<String>,
}

enum KeyPair {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    /// Reads a key in PKCS #8: RSA, P-256 or Ed25519, which sign with RS256, ES256 and EdDSA.
    pub fn from_pem(pem: &str, id: Option<String>) -> Result<Self, SignInError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| SignInError::Key("it is not a private key in PKCS #8, as PEM"))?;
        let der = der.secret_pkcs8_der();
        let pair = if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
            KeyPair::Ed25519(pair)
        } else if let Ok(pair) = RsaKeyPair::from_pkcs8(der) {
            KeyPair::Rsa(pair)
        } else {
            let random = SystemRandom::new();
            let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random);
            let pair =
                pair.map_err(|_| SignInError::Key("it is neither RSA, P-256 nor Ed25519"))?;
            KeyPair::P256(pair)
        };
        Ok(Self { pair: Arc::new(pair), id })
    }

    fn algorithm(&self) -> &'static str {
        match &*self.pair {
            KeyPair::Rsa(_) => "RS256",
            KeyPair::P256(_) => "ES256",
            KeyPair::Ed25519(_) => "EdDSA",
        }
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>, SignInError> {
        let random = SystemRandom::new();
        let failed = |_| SignInError::Key("it does not sign");
        match &*self.pair {
            KeyPair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            KeyPair::P256(pair) => {
                pair.sign(&random, text).map(|own| own.as_ref().to_vec()).map_err(failed)
            }
            KeyPair::Ed25519(pair) => Ok(pair.sign(text).as_ref().to_vec()),
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("algorithm", &self.algorithm()).finish_non_exhaustive()
    }
}

/// A signed statement of a client about itself, for one use.
pub(crate) fn client_assertion(
    key: &SigningKey,
    client: &str,
    audience: &str,
    now: Timestamp,
) -> Result<Secret, SignInError> {
    let seconds = now.as_millis() / 1000;
    let mut header = json!({ "alg": key.algorithm(), "typ": "JWT" });
    if let Some(id) = &key.id {
        header["kid"] = id.as_str().into();
    }
    let claims = json!({
        "iss": client,
        "sub": client,
        "aud": audience,
        "iat": seconds,
        "exp": seconds + LIFETIME_S,
        "jti": pkce::random()?.expose(),
    });
    let encoded = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let text = format!("{}.{}", encoded(header), encoded(claims));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes())?);
    Ok(Secret::new(format!("{text}.{signature}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new key as PEM, in lines as programs write it.
    fn pem() -> String {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let text = base64::engine::general_purpose::STANDARD.encode(der);
        let lines: Vec<_> = text.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
    }

    #[test]
    fn an_assertion_names_its_client_and_its_audience() {
        let key = SigningKey::from_pem(&pem(), Some("k1".to_owned())).unwrap();
        let now = Timestamp::from_millis(1_000_000);
        let signed = client_assertion(&key, "me", "https://a.example", now).unwrap();
        let parts: Vec<_> = signed.expose().split('.').collect();
        let part = |at: usize| URL_SAFE_NO_PAD.decode(parts[at]).unwrap();
        let header: serde_json::Value = serde_json::from_slice(&part(0)).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&part(1)).unwrap();
        assert_eq!(header, json!({ "alg": "ES256", "typ": "JWT", "kid": "k1" }));
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("me"), &json!("me")));
        assert_eq!((&claims["aud"], &claims["exp"]), (&json!("https://a.example"), &json!(1120)));
        assert_eq!(part(2).len(), 64);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"] {
            assert!(SigningKey::from_pem(text, None).is_err(), "{text}");
        }
    }
}
