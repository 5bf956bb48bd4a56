//! The public keys of an issuer (RFC 7517), and what they verify.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;

use crate::SignInError;
use crate::endpoint::Endpoints;

/// The most keys of one issuer that are kept. Issuers have two or three.
pub(crate) const KEYS: usize = 64;

/// How a token is signed. There are no others: `none` and secrets that both sides know, such as
/// HS256, are no algorithms here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// One key. Its algorithm follows from the key, and never from the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    id: Option<String>,
    material: KeyMaterial,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyMaterial {
    Rsa { modulus: Vec<u8>, exponent: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl PublicKey {
    pub(crate) fn algorithm(&self) -> Algorithm {
        match self.material {
            KeyMaterial::Rsa { .. } => Algorithm::Rs256,
            KeyMaterial::P256(_) => Algorithm::Es256,
            KeyMaterial::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    /// Whether it may have signed a token that names this key, or none.
    pub(crate) fn is_meant(&self, id: Option<&str>, algorithm: Algorithm) -> bool {
        self.algorithm() == algorithm && id.is_none_or(|id| self.id.as_deref() == Some(id))
    }

    pub(crate) fn verifies(&self, text: &[u8], signature: &[u8]) -> bool {
        let verified = match &self.material {
            KeyMaterial::Rsa { modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(&RSA_PKCS1_2048_8192_SHA256, text, signature)
            }
            KeyMaterial::P256(point) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(text, signature)
            }
            KeyMaterial::Ed25519(key) => {
                UnparsedPublicKey::new(&ED25519, key).verify(text, signature)
            }
        };
        verified.is_ok()
    }
}

/// A set as issuers publish it. Keys of kinds that we do not use are left out.
#[derive(Deserialize)]
struct KeySet {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default, rename = "use")]
    purpose: Option<String>,
    #[serde(default)]
    key_ops: Option<Vec<String>>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
}

/// Reads the keys that an issuer has at this place.
pub(crate) async fn fetch(
    endpoints: Endpoints<'_>,
    url: &Url,
) -> Result<Vec<PublicKey>, SignInError> {
    let body = endpoints.document("keys of the issuer", url).await?;
    let keys = body.and_then(|body| read(&body));
    keys.ok_or_else(|| SignInError::metadata(url, "it is no set of keys"))
}

/// The keys of a set that verify what we accept. `None` if it is no set.
fn read(body: &[u8]) -> Option<Vec<PublicKey>> {
    let set: KeySet = serde_json::from_slice(body).ok()?;
    let known = set.keys.into_iter().take(KEYS);
    Some(known.filter_map(|key| Jwk::deserialize(key).ok()?.usable()).collect())
}

impl Jwk {
    fn usable(self) -> Option<PublicKey> {
        let is_to_sign = self.purpose.as_deref().is_none_or(|purpose| purpose == "sig");
        let verifies =
            self.key_ops.as_ref().is_none_or(|all| all.iter().any(|own| own == "verify"));
        if !is_to_sign || !verifies {
            return None;
        }
        let part = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_ref()?).ok();
        let material = match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => KeyMaterial::Rsa { modulus: part(&self.n)?, exponent: part(&self.e)? },
            ("EC", Some("P-256")) => {
                // An uncompressed point (SEC 1, section 2.3.3).
                KeyMaterial::P256([vec![4], part(&self.x)?, part(&self.y)?].concat())
            }
            ("OKP", Some("Ed25519")) => KeyMaterial::Ed25519(part(&self.x)?),
            _ => return None,
        };
        let key = PublicKey { id: self.kid, material };
        let is_named = |name: &String| Algorithm::named(name) == Some(key.algorithm());
        self.alg.as_ref().is_none_or(is_named).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY;
    use serde_json::json;

    use super::*;

    /// An RSA key of 1,024 bits, and its signature of [`TEXT`].
    const SHORT: &str = "oflDQXTM8Dx0Y7tvIeAGjuA2V37ytHT5JvT3jfY0tcUUvvtDPzV43avgR7iPj-nDVvgLHYlHFvYgh-JCtLUKrv08\
        ou_vjjvUs-UdiNygkeF6JT2FqyodkXJnKn2-5nXEzT6vqaSfBtee7nsVKib1921vW4-0rYSTO82Ht8_Nt_M";
    const SIGNATURE: &str = "ONgLrQJOcv0PcDYGPiJaqJAKOXp9veYVKuNoS8xZoJCsv97a_ceH4MwDkPb9swrYtnf45Sul89heCxZj-SmlkoRN\
        FplXsdNdE5kTv7Sq6VWCYXfPhCQCwotPL5v6Zanj332pc8HsQWb4jDn8UvW2eBeRuo8ykUrEkrA0B-T0AXQ";
    const TEXT: &[u8] = b"a text";

    fn key_set(keys: &[serde_json::Value]) -> Vec<PublicKey> {
        read(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_key_that_can_be_broken_vouches_for_nothing() {
        let signature = URL_SAFE_NO_PAD.decode(SIGNATURE).unwrap();
        let keys = key_set(&[json!({ "kty": "RSA", "n": SHORT, "e": "AQAB" })]);
        let KeyMaterial::Rsa { modulus, exponent } = &keys[0].material else { panic!("{keys:?}") };
        let key = RsaPublicKeyComponents { n: modulus, e: exponent };
        let legacy = &RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY;
        assert!(key.verify(legacy, TEXT, &signature).is_ok(), "it did sign it");
        assert!(!keys[0].verifies(TEXT, &signature));
    }

    #[test]
    fn a_set_has_a_limit() {
        let key = |number: usize| {
            let (id, x) = (number.to_string(), URL_SAFE_NO_PAD.encode([7; 32]));
            json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": x })
        };
        let all: Vec<_> = (0..KEYS + 10).map(key).collect();
        let kept = key_set(&all);
        assert_eq!(kept.len(), KEYS);
        let is_kept = |number: usize| {
            let id = number.to_string();
            kept.iter().any(|key| key.is_meant(Some(&id), Algorithm::EdDsa))
        };
        assert!(is_kept(KEYS - 1) && !is_kept(KEYS));
    }

    #[test]
    fn only_keys_that_verify_what_we_accept_are_kept() {
        let set = |key: &str| {
            let keys = read(format!(r#"{{"keys": [{key}]}}"#).as_bytes()).unwrap();
            keys.first().map(PublicKey::algorithm)
        };
        let rsa = r#""kty": "RSA", "n": "AQAB", "e": "AQAB""#;
        assert_eq!(set(&format!("{{{rsa}}}")), Some(Algorithm::Rs256));
        assert_eq!(
            set(&format!(r#"{{{rsa}, "use": "sig", "alg": "RS256"}}"#)),
            Some(Algorithm::Rs256)
        );
        assert_eq!(set(r#"{"kty": "OKP", "crv": "Ed25519", "x": "AQAB"}"#), Some(Algorithm::EdDsa));
        let p256 = r#"{"kty": "EC", "crv": "P-256", "x": "AQAB", "y": "AQAB"}"#;
        assert_eq!(set(p256), Some(Algorithm::Es256));
        for other in [
            &format!(r#"{{{rsa}, "use": "enc"}}"#),
            &format!(r#"{{{rsa}, "alg": "RS512"}}"#),
            &format!(r#"{{{rsa}, "alg": "ES256"}}"#),
            &format!(r#"{{{rsa}, "key_ops": ["sign"]}}"#),
            r#"{"kty": "oct", "k": "AQAB"}"#,
            r#"{"kty": "EC", "crv": "P-384", "x": "AQAB", "y": "AQAB"}"#,
            r#"{"kty": "RSA", "n": "*", "e": "AQAB"}"#,
            r#""AQAB""#,
        ] {
            assert_eq!(set(other), None, "{other}");
        }
        for body in ["", "[]", r#"{"keys": 1}"#] {
            assert!(read(body.as_bytes()).is_none(), "{body}");
        }
    }
}
