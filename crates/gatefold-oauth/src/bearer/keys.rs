//! The keys of one issuer, fetched when they are needed and no more often than that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gatefold_core::Clock;
use tokio::sync::Mutex as FetchMutex;

use super::TokenFault;
use super::jwk::{Algorithm, PublicKey};
use crate::SignInError;

/// How old keys may be before they are fetched again: a key that its issuer took back is then gone.
const FRESH: Duration = Duration::from_mins(5);
/// How long keys are good that cannot be fetched again, because the issuer is down.
const USABLE: Duration = Duration::from_hours(1);
/// How soon keys are fetched again for a token with an unknown key. Anybody can make up such tokens.
const UNKNOWN_PAUSE: Duration = Duration::from_mins(1);
/// How soon they are fetched again after that failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(5);

/// Fetches keys.
pub(crate) trait KeyFetch: Sync {
    async fn fetch(&self) -> Result<Vec<PublicKey>, SignInError>;
}

pub(crate) struct IssuerKeys {
    clock: Arc<dyn Clock>,
    known: Mutex<KnownKeys>,
    /// Held while they are fetched.
    fetching: FetchMutex<()>,
}

#[derive(Clone, Default)]
struct KnownKeys {
    keys: Arc<[PublicKey]>,
    /// When they were fetched, and when that was last tried, by the clock's uptime.
    fetched: Option<Duration>,
    tried: Option<Duration>,
}

impl IssuerKeys {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, known: Mutex::default(), fetching: FetchMutex::default() }
    }

    /// The keys that may have signed a token.
    pub(crate) async fn matching(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        fetch: &impl KeyFetch,
    ) -> Result<Vec<PublicKey>, TokenFault> {
        let mut known = self.known();
        if known.age(self.now()).is_none_or(|age| age > FRESH) {
            known = self.renewed(fetch, FAILURE_PAUSE).await;
        }
        if known.age(self.now()).is_none_or(|age| age > USABLE) {
            return Err(TokenFault::Unavailable);
        }
        let mut found = known.matching(id, algorithm);
        if found.is_empty() {
            found = self.renewed(fetch, UNKNOWN_PAUSE).await.matching(id, algorithm);
        }
        if found.is_empty() { Err(TokenFault::Key) } else { Ok(found) }
    }

    /// The keys, fetched now unless that was tried within `pause`.
    async fn renewed(&self, fetch: &impl KeyFetch, pause: Duration) -> KnownKeys {
        let known = self.known();
        // Nobody waits for a fetch who has keys.
        let fetching = match self.fetching.try_lock() {
            Ok(fetching) => fetching,
            Err(_) if known.fetched.is_some() => return known,
            Err(_) => self.fetching.lock().await,
        };
        let known = self.known();
        let now = self.now();
        if known.tried.is_some_and(|tried| now.saturating_sub(tried) < pause) {
            return known;
        }
        let fetched = fetch.fetch().await;
        drop(fetching);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.tried = Some(self.now());
        match fetched {
            Ok(keys) => {
                known.keys = keys.into();
                known.fetched = known.tried;
            }
            Err(error) => tracing::warn!(%error, "the keys of an issuer could not be fetched"),
        }
        known.clone()
    }

    fn known(&self) -> KnownKeys {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> Duration {
        self.clock.uptime()
    }
}

impl KnownKeys {
    fn age(&self, now: Duration) -> Option<Duration> {
        Some(now.saturating_sub(self.fetched?))
    }

    fn matching(&self, id: Option<&str>, algorithm: Algorithm) -> Vec<PublicKey> {
        self.keys.iter().filter(|key| key.is_meant(id, algorithm)).cloned().collect()
    }
}
