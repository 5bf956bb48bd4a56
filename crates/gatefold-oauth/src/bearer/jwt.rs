//! A token in three parts (RFC 7515), and when its signature holds.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::TokenFault;
use super::claims::Claims;
use super::jwk::{Algorithm, PublicKey};

/// What a token is to be. None passes for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenUse {
    /// Lets its bearer in.
    Access,
    /// Says to a client who has signed in (OpenID Connect Core, section 2).
    Identity,
}

/// A token whose signature nobody has looked at yet.
pub(crate) struct UnverifiedToken<'a> {
    header: Header,
    /// What is signed: header and claims, as they came.
    signed: &'a str,
    signature: Vec<u8>,
    claims: Claims,
    issuer: String,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    typ: Option<String>,
    #[serde(default)]
    kid: Option<String>,
    /// Extensions that have to be understood. We understand none.
    #[serde(default)]
    crit: Option<serde_json::Value>,
}

impl<'a> UnverifiedToken<'a> {
    /// Reads a token, if it has the form of one. A text of other forms is an opaque token.
    pub(crate) fn read(token: &'a str) -> Result<Option<Self>, TokenFault> {
        let Some((signed, signature)) = token.rsplit_once('.') else { return Ok(None) };
        let Some((header, claims)) = signed.split_once('.') else { return Ok(None) };
        let Some(header) = decoded(header).filter(|text| text.starts_with(b"{")) else {
            return Ok(None);
        };
        let header: Header = serde_json::from_slice(&header).map_err(|_| TokenFault::Malformed)?;
        let claims = decoded(claims).ok_or(TokenFault::Malformed)?;
        let claims = Claims::read(&claims)?;
        let signature = decoded(signature).ok_or(TokenFault::Malformed)?;
        let issuer = claims.issuer().ok_or(TokenFault::Foreign)?.to_owned();
        Ok(Some(Self { header, signed, signature, claims, issuer }))
    }

    /// Who is said to have issued it.
    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Which key it names, and how it is signed.
    pub(crate) fn key(&self) -> Result<(Option<&str>, Algorithm), TokenFault> {
        let algorithm = Algorithm::named(&self.header.alg).ok_or(TokenFault::Algorithm)?;
        if self.header.crit.is_some() {
            return Err(TokenFault::Algorithm);
        }
        Ok((self.header.kid.as_deref(), algorithm))
    }

    /// What it says, if one of these keys signed it.
    pub(crate) fn signed_by(
        self,
        keys: &[PublicKey],
        wanted: TokenUse,
    ) -> Result<Claims, TokenFault> {
        let is_signed = |key: &PublicKey| key.verifies(self.signed.as_bytes(), &self.signature);
        if !keys.iter().any(is_signed) {
            return Err(TokenFault::Signature);
        }
        self.check_type(wanted)?;
        Ok(self.claims)
    }

    /// Access tokens of RFC 9068 say that they are one; many issuers write `JWT` or nothing, and then
    /// it must not have what only ID tokens have. ID tokens have no type of their own.
    fn check_type(&self, wanted: TokenUse) -> Result<(), TokenFault> {
        let typ = self.header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
        match (wanted, typ.strip_prefix("application/").unwrap_or(&typ)) {
            (TokenUse::Access, "at+jwt") | (TokenUse::Identity, "jwt") => Ok(()),
            (TokenUse::Access, "jwt") if !self.claims.is_of_id_token() => Ok(()),
            _ => Err(TokenFault::Type),
        }
    }
}

fn decoded(part: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part).ok()
}
