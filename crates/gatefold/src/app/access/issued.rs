//! Tokens of issuers, once they were found to be good.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{
    Clock, Digest, Narrowing, Principal, RecentMap, Timestamp, TokenGrant, TokenId,
};
use gatefold_http::{Authenticated, Validity};
use gatefold_oauth::{Recheck, TokenBearer, TokenFault, TokenHolder, TokenIssuers, VerifiedToken};
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::refusals::{Refusal, RefusalForm};
use crate::app::accounts::PresentedTokens;
use crate::app::people::ConfiguredPeople;

/// The most tokens that are remembered. They are an hour old at most, mostly.
const REMEMBERED: usize = 10_000;
/// How long a signature is believed: a key that its issuer took back is then gone.
const SIGNATURE_AGE: Duration = Duration::from_mins(5);
/// How long an issuer's word about a token is believed.
const WORD_AGE: Duration = Duration::from_secs(10);
/// How long an issuer's refusal is, and how many are remembered: whoever asks again and again costs
/// nobody a question.
const REFUSAL_AGE: Duration = Duration::from_secs(10);
const REFUSALS: usize = 1024;
/// How long a token that was good counts as known, so that its turn comes before those of tokens that
/// anybody may have made up.
const KNOWN_AGE: Duration = Duration::from_mins(10);

/// Lets in whoever has a token of a trusted issuer.
pub(super) struct IssuedTokens {
    issuers: TokenIssuers,
    exchanged: Arc<PresentedTokens>,
    clock: Arc<dyn Clock>,
    form: RefusalForm,
    /// At most [`REMEMBERED`], by the tokens' hashes.
    good: Mutex<HashMap<Digest, Arc<GoodToken>>>,
    /// At most [`REFUSALS`], by the tokens' hashes, with the uptime until which they hold.
    refused: Mutex<RecentMap<Digest, Duration>>,
}

/// A token that was found to be good.
struct GoodToken {
    token: VerifiedToken,
    /// Until when that is believed, by the clock's uptime.
    until: Duration,
    validity: Arc<Validity>,
}

impl GoodToken {
    fn has_expired(&self, now: Timestamp) -> bool {
        self.token.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether nothing runs with it.
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.validity) == 1
    }
}

impl IssuedTokens {
    pub(super) fn new(
        issuers: TokenIssuers,
        exchanged: Arc<PresentedTokens>,
        clock: Arc<dyn Clock>,
        form: RefusalForm,
    ) -> Self {
        let refused = Mutex::new(RecentMap::new(REFUSALS));
        Self { issuers, exchanged, clock, form, good: Mutex::default(), refused }
    }

    /// Who has a token, if it is for this address.
    pub(super) async fn find(
        &self,
        token: &str,
        network: IpAddr,
        resource: &Url,
        people: &ConfiguredPeople,
    ) -> Result<Authenticated, Refusal> {
        let good = self.good(token, network).await.map_err(Refusal::Faulty)?;
        let holder = good.token.holder_at(resource).map_err(Refusal::Faulty)?;
        let grant = TokenGrant {
            id: grant_id(holder),
            name: holder.client.as_deref().unwrap_or(&holder.issuer).into(),
            narrowing: Narrowing::default(),
        };
        let principal = people.principal(holder);
        let sent = self.exchanged.credentials(&principal.user, &grant.id, &good.token, token);
        let principal = Principal { token: Some(Arc::new(grant)), sent, ..principal };
        Ok(Authenticated { principal: Arc::new(principal), validity: Some(good.validity.clone()) })
    }

    async fn good(&self, token: &str, network: IpAddr) -> Result<Arc<GoodToken>, TokenFault> {
        let hash = Digest::new(Sha256::digest(token).into());
        let now = self.clock.now();
        let known = self.lock().get(&hash).cloned();
        if let Some(known) = known.clone().filter(|known| self.clock.uptime() < known.until) {
            if known.has_expired(now) {
                return Err(TokenFault::Expired);
            }
            return Ok(known);
        }
        if known.is_none() && self.is_refused(&hash) {
            return Err(TokenFault::Inactive);
        }
        let bearer = match known {
            Some(_) => TokenBearer::Known,
            None => TokenBearer::Stranger(network),
        };
        let verified = self.issuers.verify(token, bearer).await;
        if let Err(TokenFault::Inactive) = verified {
            let until = self.clock.uptime() + REFUSAL_AGE;
            self.refused().insert(hash, until);
        }
        let token = match (verified, known) {
            (Ok(token), _) => token,
            (Err(fault), Some(known)) if fault != TokenFault::Unavailable => {
                // What still runs with it must not go on.
                known.validity.over.cancel();
                self.lock().remove(&hash);
                return Err(fault);
            }
            (Err(fault), _) => return Err(fault),
        };
        self.remember(hash, token)
    }

    fn remember(&self, hash: Digest, token: VerifiedToken) -> Result<Arc<GoodToken>, TokenFault> {
        let age = match token.recheck {
            Recheck::Signature => SIGNATURE_AGE,
            Recheck::Introspection => WORD_AGE,
        };
        let mut good = self.lock();
        if good.len() >= REMEMBERED && !good.contains_key(&hash) {
            // Only tokens that were good are here, so this takes a user with very many of them.
            good.retain(|_, known| !known.is_idle());
            if good.len() >= REMEMBERED {
                return Err(TokenFault::Unavailable);
            }
        }
        // What runs with it already goes on for as long as it does.
        let validity = good.get(&hash).map(|known| known.validity.clone());
        let validity = validity.filter(|own| !own.over.is_cancelled());
        let validity = validity.unwrap_or_else(|| {
            let refusal = self.form.unauthenticated(Refusal::Over, "/mcp");
            Arc::new(Validity { over: CancellationToken::new(), refusal })
        });
        let until = self.clock.uptime() + age;
        let known = Arc::new(GoodToken { token, until, validity });
        good.insert(hash, known.clone());
        Ok(known)
    }

    /// Ends what runs with tokens that have expired, and forgets what nobody uses any more.
    pub(super) fn expire(&self) {
        let (now, uptime) = (self.clock.now(), self.clock.uptime());
        self.lock().retain(|_, known| {
            let has_expired = known.has_expired(now);
            if has_expired {
                known.validity.over.cancel();
            }
            !has_expired && (uptime < known.until + KNOWN_AGE || !known.is_idle())
        });
    }

    /// Whether its issuer has just said that a token is not good.
    fn is_refused(&self, hash: &Digest) -> bool {
        let now = self.clock.uptime();
        self.refused().get(hash).is_some_and(|until| now < *until)
    }

    fn refused(&self) -> MutexGuard<'_, RecentMap<Digest, Duration>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Arc<GoodToken>>> {
        self.good.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a person began with a program belongs to both, and not to one token: programs fetch new
/// tokens every few minutes.
fn grant_id(holder: &TokenHolder) -> TokenId {
    let mut hash = Sha256::new();
    let parts = [&*holder.issuer, &holder.subject, holder.client.as_deref().unwrap_or_default()];
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = Digest::new(hash.finalize().into()).to_string();
    TokenId::new(format!("issued-{}", &digest[..32]))
}
