//! Tokens that somebody presents to us: which issuer gave them, to whom, and for what.
//!
//! A token is a JWT that one of a few trusted issuers signed (RFC 9068), or opaque, and then its issuer is
//! asked about it (RFC 7662). Nothing in a token is believed before its signature holds, but for the
//! name of the issuer, whose keys it is then compared with.

mod claims;
mod introspection;
mod issuer;
pub(crate) mod jwk;
pub(crate) mod jwt;
pub(crate) mod keys;
mod questions;

use std::net::IpAddr;
use std::sync::Arc;

use futures::future::join_all;
use gatefold_core::{Clock, Timestamp};

use claims::Claims;
use issuer::LiveIssuer;
use jwt::UnverifiedToken;

use crate::SignInError;
use crate::token_fault::TokenFault;

pub use introspection::IntrospectionSettings;
pub use issuer::TrustedIssuer;

/// The longest token that is looked at, in bytes.
pub const BEARER_LIMIT: usize = 16 * 1024;

/// By how much clocks may differ, in seconds.
const CLOCK_SKEW_S: u64 = 60;

/// The issuers whose tokens let people in.
pub struct TokenIssuers {
    /// As many as the configuration has.
    issuers: Vec<LiveIssuer>,
    clock: Arc<dyn Clock>,
}

impl TokenIssuers {
    pub fn new(issuers: Vec<TrustedIssuer>, clock: Arc<dyn Clock>) -> Self {
        let issuers = issuers.into_iter().map(|own| LiveIssuer::new(own, clock.clone())).collect();
        Self { issuers, clock }
    }

    /// The names of the issuers, in the order of the configuration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.issuers.iter().map(LiveIssuer::name)
    }

    /// The scopes that the issuers' tokens have to have, each once.
    pub fn scopes(&self) -> Vec<&str> {
        let mut scopes: Vec<&str> = Vec::new();
        for scope in self.issuers.iter().flat_map(LiveIssuer::scopes) {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        scopes
    }

    /// Asks each issuer for what its tokens are judged by: its keys, and where to ask about opaque
    /// tokens.
    pub async fn examine(&self) -> Vec<(&str, Result<(), SignInError>)> {
        let asked = self.issuers.iter().map(async |own| (own.name(), own.examine().await));
        join_all(asked).await
    }

    /// Finds out whose a token is. Whether it is for us says [`VerifiedToken::holder_at`].
    pub async fn verify(
        &self,
        token: &str,
        bearer: TokenBearer,
    ) -> Result<VerifiedToken, TokenFault> {
        if token.len() > BEARER_LIMIT {
            return Err(TokenFault::Malformed);
        }
        let (issuer, claims, recheck) = if let Some(jwt) = UnverifiedToken::read(token)? {
            let named = self.issuers.iter().find(|own| own.name() == jwt.issuer());
            let issuer = named.ok_or(TokenFault::Foreign)?;
            (issuer, issuer.signed(jwt).await?, Recheck::Signature)
        } else {
            let asked = self.issuers.iter().find(|own| own.introspects());
            let issuer = asked.ok_or(TokenFault::Foreign)?;
            (issuer, issuer.introspected(token, bearer).await?, Recheck::Introspection)
        };
        claims.check_times(self.clock.now())?;
        issuer.verified(&claims, recheck)
    }
}

/// Who presents a token, as far as it decides whose turn it is to have an issuer asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenBearer {
    /// The token was good a while ago.
    Known,
    /// Somebody of this network, who may have made it up.
    Stranger(IpAddr),
}

/// How a token was found to be good, which decides how long that is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recheck {
    /// Its issuer may take a key back.
    Signature,
    /// Its issuer may take the token back.
    Introspection,
}

/// A token that its issuer stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    pub recheck: Recheck,
    /// When it is over, with the skew of clocks. `None` if only its issuer knows.
    pub expires_at: Option<Timestamp>,
    holder: TokenHolder,
    /// What it is for, as it says.
    audiences: Vec<String>,
    /// What a token for us may say as well.
    own_audiences: Arc<[String]>,
    scopes: Vec<String>,
    assurance: Option<String>,
    /// The scopes that it has to have.
    needed: Arc<[String]>,
}

/// Each text once, in order.
fn sorted(texts: &[String]) -> Vec<&str> {
    let mut texts: Vec<_> = texts.iter().map(String::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// Who has a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenHolder {
    pub issuer: Arc<str>,
    /// Unique at its issuer, and stays the same.
    pub subject: String,
    /// The program that asked for it, if the token says so.
    pub client: Option<String>,
    pub groups: Vec<String>,
}

impl VerifiedToken {
    fn new(claims: &Claims, issuer: &TrustedIssuer, recheck: Recheck) -> Result<Self, TokenFault> {
        let groups = claims.groups(&issuer.groups_claim);
        Ok(Self {
            recheck,
            expires_at: claims.over_at(),
            holder: TokenHolder {
                issuer: issuer.issuer.clone(),
                subject: claims.subject()?,
                client: claims.client(),
                groups,
            },
            audiences: claims.audiences(),
            own_audiences: issuer.audiences.clone(),
            scopes: claims.scopes(),
            assurance: claims.assurance(),
            needed: issuer.scopes.clone(),
        })
    }

    /// Who has it, whatever it is for.
    pub fn holder(&self) -> &TokenHolder {
        &self.holder
    }

    /// What tells its rights from those of another token of the same person and program, as far as it
    /// says it: scopes, audiences and assurance, in order.
    pub fn rights(&self) -> Vec<&str> {
        let assurance = self.assurance.as_deref().unwrap_or_default();
        [sorted(&self.scopes), vec![""], sorted(&self.audiences), vec!["", assurance]].concat()
    }

    /// Who has it, if it is for this address of ours: for that address, for one above it, or for
    /// what the issuer calls us. It also has to have every scope that is asked of it.
    pub fn holder_at(&self, resource: &reqwest::Url) -> Result<&TokenHolder, TokenFault> {
        let is_for = |audience: &String| {
            self.own_audiences.contains(audience) || crate::metadata::covers(audience, resource)
        };
        if !self.audiences.iter().any(is_for) {
            return Err(TokenFault::Audience);
        }
        if !self.needed.iter().all(|scope| self.scopes.contains(scope)) {
            return Err(TokenFault::Scope);
        }
        Ok(&self.holder)
    }
}
