//! What is in memory of one identity at one source.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gatefold_core::{Clock, Secret, Timestamp};
use gatefold_dispatch::{Credential, CredentialError, CredentialSet};
use tokio::time::Instant;

use super::{RECHECK, SignInNeed, SiteSettings};
use crate::{KeptGrant, Tokens};

/// The longest time before its end at which a token is renewed.
const MARGIN: Duration = Duration::from_secs(60);

/// The share of a token's life that is left when it is renewed, if that is less than the margin.
const MARGIN_SHARE: u32 = 5;

#[derive(Default)]
pub(super) struct AccountEntry {
    state: Mutex<AccountState>,
    /// When a provider last gave no token, and what its caller was told.
    failure: Mutex<Option<(Instant, TokenRefusal)>>,
    /// Held by whoever reads, refreshes or writes the grant. The others wait and find it done.
    pub(super) turn: tokio::sync::Mutex<()>,
}

/// Why there is no token, for whoever waits for one.
#[derive(Clone)]
struct TokenRefusal {
    reason: String,
    needs_sign_in: bool,
}

#[derive(Default, Clone)]
pub(super) enum AccountState {
    #[default]
    Unread,
    /// Nobody has signed in. So it was when somebody looked last.
    Nobody {
        looked_at: Duration,
        none: CredentialSet,
    },
    Signed(LiveToken),
}

/// A token that can be used.
#[derive(Clone)]
pub(super) struct LiveToken {
    /// That of the grant. None if no grant is kept, as with machines.
    pub(super) generation: Option<u64>,
    /// When somebody signed in, if somebody did.
    pub(super) signed_in_at: Option<Timestamp>,
    pub(super) set: CredentialSet,
    pub(super) expires_at: Option<Timestamp>,
    /// When it is to be renewed. None if it is good until the source refuses it.
    pub(super) renew_at: Option<Timestamp>,
    pub(super) obtained_at: Timestamp,
    pub(super) looked_at: Duration,
}

impl LiveToken {
    pub(super) fn new(tokens: &Tokens, kept: Option<&KeptGrant>, looked_at: Duration) -> Self {
        let Tokens { access, obtained_at, expires_at, .. } = tokens;
        let renew_at = expires_at.map(|end| {
            let life = end.since(*obtained_at);
            obtained_at.plus(life.saturating_sub(MARGIN.min(life / MARGIN_SHARE)))
        });
        let value = Secret::new(format!("Bearer {}", access.expose()));
        let set = Arc::from([Credential { name: "authorization".to_owned(), value }]);
        Self {
            generation: kept.map(|kept| kept.generation),
            signed_in_at: kept.map(|kept| kept.grant.signed_in_at),
            set,
            expires_at: *expires_at,
            renew_at,
            obtained_at: *obtained_at,
            looked_at,
        }
    }

    pub(super) fn is_fresh(&self, now: Timestamp) -> bool {
        self.renew_at.is_none_or(|at| now < at)
    }

    pub(super) fn is_alive(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }
}

impl AccountEntry {
    pub(super) fn state(&self) -> AccountState {
        self.lock().clone()
    }

    pub(super) fn set(&self, state: AccountState) {
        *self.lock() = state;
    }

    pub(super) fn failed(&self, error: &CredentialError) {
        let CredentialError { reason, needs_sign_in, .. } = error;
        let refusal = TokenRefusal { reason: reason.clone(), needs_sign_in: *needs_sign_in };
        *self.last_failure() = Some((Instant::now(), refusal));
    }

    /// Why the provider gave no token since then, if it was asked and gave none.
    pub(super) fn failure_since(&self, asked_at: Instant) -> Option<CredentialError> {
        let failure = self.last_failure();
        let (_, refusal) = failure.as_ref().filter(|(at, _)| *at >= asked_at)?;
        let TokenRefusal { reason, needs_sign_in } = refusal.clone();
        Some(CredentialError { needs_sign_in, ..CredentialError::new(reason) })
    }

    fn last_failure(&self) -> MutexGuard<'_, Option<(Instant, TokenRefusal)>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the present sign-in was made, if there is one in memory.
    pub(super) fn signed_in_at(&self) -> Option<Timestamp> {
        match &*self.lock() {
            AccountState::Signed(token) => token.signed_in_at,
            _ => None,
        }
    }

    /// Credentials for which nobody has to be asked.
    pub(super) fn at_hand(&self, site: &SiteSettings, clock: &dyn Clock) -> Option<CredentialSet> {
        let uptime = clock.uptime();
        let is_recent = |looked_at: Duration| uptime.saturating_sub(looked_at) < RECHECK;
        match &*self.lock() {
            AccountState::Signed(token) if token.is_fresh(clock.now()) => {
                let is_ours = token.generation.is_none();
                (is_ours || is_recent(token.looked_at)).then(|| token.set.clone())
            }
            AccountState::Nobody { looked_at, none } => {
                let may_try = site.sign_in == SignInNeed::IfAsked && is_recent(*looked_at);
                may_try.then(|| none.clone())
            }
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, AccountState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
