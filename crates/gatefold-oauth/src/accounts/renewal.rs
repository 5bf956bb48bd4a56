//! One turn at a grant: read it, and refresh it if that is needed and nobody else does.

use std::time::Duration;

use gatefold_core::BoxError;
use gatefold_dispatch::{CredentialError, CredentialSet};
use gatefold_identity::GrantPlace;
use tokio::time::{Instant, sleep};

use super::entry::{AccountEntry, AccountState, LiveToken};
use super::{AccountsInner, SignInNeed, SiteSettings, TokenExchange, told};
use crate::SignInError;
use crate::endpoint::Endpoints;
use crate::grant::{Grant, KeptGrant, Tokens};
use crate::sign_in::SignIn;
use crate::token::TokenEndpoint;

/// How long a provider may take to refresh a token.
const REFRESH_DEADLINE: Duration = Duration::from_secs(30);

/// How long a lease lasts. A process that dies with one holds up the others no longer.
const LEASE: Duration = Duration::from_secs(40);

/// How often a process looks whether another one is done.
const LOOK: Duration = Duration::from_millis(50);

/// How long a token is used on after a refresh failed, if it is still good.
const AGAIN: Duration = Duration::from_secs(30);

/// The least age of a token that is renewed because the source refused it. One that is refused when
/// it is new would be refused again.
const RENEWABLE: Duration = Duration::from_secs(30);

/// How often a refreshed grant is written before it is given up.
const WRITES: usize = 5;

/// The most further scopes that are noted, and the longest of one in bytes.
const WANTED: usize = 64;
const SCOPE_BYTES: usize = 256;

/// What a caller needs.
pub(super) enum Want {
    /// Credentials that can be used now.
    Usable,
    /// Others than these, which the source does not know.
    Other(CredentialSet),
    /// More rights than these have.
    Scopes(CredentialSet, Vec<String>),
}

impl Want {
    fn refused(&self) -> Option<&CredentialSet> {
        match self {
            Self::Usable => None,
            Self::Other(set) | Self::Scopes(set, _) => Some(set),
        }
    }
}

/// What a look at a grant comes to.
enum Found {
    Usable(LiveToken),
    /// Its token has to be refreshed.
    Stale(KeptGrant),
    /// Its token is of no use, and nothing can be done about it without a person.
    Spent(KeptGrant),
    /// The source refuses a token that is new.
    Unwelcome,
    Nobody,
    Lapsed,
}

/// What a refresh came to.
enum Refreshed {
    Usable(LiveToken),
    /// Somebody else has changed the grant, or is about to.
    LookAgain,
}

/// One turn at one place.
pub(super) struct Renewal<'a> {
    pub(super) inner: &'a AccountsInner,
    pub(super) site: &'a SiteSettings,
    pub(super) place: &'a GrantPlace,
    pub(super) entry: &'a AccountEntry,
}

impl Renewal<'_> {
    pub(super) async fn run(&self, want: Want) -> Result<CredentialSet, CredentialError> {
        let refused = want.refused();
        // Whoever had the turn before may have brought what this one needs.
        if let Some(set) = self.entry.at_hand(self.site, &*self.inner.clock)
            && refused.is_none_or(|refused| !is_same(refused, &set))
        {
            return Ok(set);
        }
        if let Some(exchange) = &self.site.exchange {
            return self.exchanged(exchange, &want).await;
        }
        if self.site.sign_in == SignInNeed::Machine {
            return self.as_machine(refused).await;
        }
        match &want {
            Want::Usable | Want::Other(_) => self.usable(refused).await,
            Want::Scopes(carried, scopes) => self.wider(carried, scopes).await,
        }
    }

    async fn usable(
        &self,
        refused: Option<&CredentialSet>,
    ) -> Result<CredentialSet, CredentialError> {
        if refused.is_none()
            && let Some(set) = self.still_stands().await?
        {
            return Ok(set);
        }
        let give_up = Instant::now() + LEASE + REFRESH_DEADLINE;
        loop {
            let found = self.look(refused).await?;
            match found {
                Found::Usable(token) => return Ok(self.hold(token)),
                Found::Stale(kept) => match self.refresh(&kept).await? {
                    Refreshed::Usable(token) => return Ok(self.hold(token)),
                    Refreshed::LookAgain => {}
                },
                Found::Spent(kept) => {
                    if self.lapse(&kept).await? {
                        return Err(self.needs_sign_in());
                    }
                }
                Found::Unwelcome => {
                    let name = &self.site.name;
                    return Err(CredentialError::needs_sign_in(format!(
                        "does not accept the token that it was given; a new sign-in may help: \
                         `gatefold login {name}`"
                    )));
                }
                Found::Nobody => return self.nobody(refused.is_some()),
                Found::Lapsed => return Err(self.needs_sign_in()),
            }
            if Instant::now() > give_up {
                let reason = "another process is refreshing its token; try again";
                return Err(CredentialError::new(reason));
            }
            sleep(LOOK).await;
        }
    }

    /// The token in memory, if its grant is still the one that is kept.
    async fn still_stands(&self) -> Result<Option<CredentialSet>, CredentialError> {
        let AccountState::Signed(token) = self.entry.state() else { return Ok(None) };
        if !token.is_fresh(self.inner.clock.now()) || token.generation.is_none() {
            return Ok(None);
        }
        let kept = self.inner.grants.generation(self.place).await.map_err(store)?;
        if kept != token.generation {
            return Ok(None);
        }
        let looked_at = self.inner.clock.uptime();
        Ok(Some(self.hold(LiveToken { looked_at, ..token })))
    }

    /// The grant for the source's present address. A token goes to no other than the one that it was
    /// given for.
    async fn kept(&self) -> Result<Option<KeptGrant>, CredentialError> {
        let kept = KeptGrant::read(&*self.inner.grants, self.place).await.map_err(store)?;
        Ok(kept.filter(|kept| kept.grant.site == self.site.url.as_str()))
    }

    async fn look(&self, refused: Option<&CredentialSet>) -> Result<Found, CredentialError> {
        let Some(kept) = self.kept().await? else { return Ok(Found::Nobody) };
        let Some(tokens) = &kept.grant.tokens else { return Ok(Found::Lapsed) };
        let (now, can_refresh) = (self.inner.clock.now(), tokens.refresh.is_some());
        let mut token = self.live(tokens, Some(&kept));
        let is_refused = refused.is_some_and(|refused| is_same(refused, &token.set));
        if is_refused && can_refresh && now.since(token.obtained_at) < RENEWABLE {
            return Ok(Found::Unwelcome);
        }
        if token.is_fresh(now) && !is_refused {
            return Ok(Found::Usable(token));
        }
        if can_refresh {
            return Ok(Found::Stale(kept));
        }
        if token.is_alive(now) && !is_refused {
            token.renew_at = token.expires_at;
            return Ok(Found::Usable(token));
        }
        Ok(Found::Spent(kept))
    }

    async fn refresh(&self, kept: &KeptGrant) -> Result<Refreshed, CredentialError> {
        let holder = self.inner.holder();
        if !self.lease(kept, &holder).await? {
            return Ok(Refreshed::LookAgain);
        }
        let grant = &kept.grant;
        match self.ask(grant).await {
            Ok(tokens) => self.keep(kept, grant.refreshed(tokens)).await,
            Err(error) if error.is_final() => {
                tracing::info!(domain = %self.place.domain, %error, "a sign-in has lapsed");
                if self.lapse_leased(kept).await? {
                    return Err(self.needs_sign_in());
                }
                Ok(Refreshed::LookAgain)
            }
            Err(error) => {
                tracing::warn!(domain = %self.place.domain, %error, "a token could not be refreshed");
                self.inner.grants.release(self.place, &holder).await.map_err(store)?;
                let now = self.inner.clock.now();
                let tokens = grant.tokens.as_ref();
                let token = tokens.map(|tokens| self.live(tokens, Some(kept)));
                if let Some(token) = token.filter(|token| token.is_alive(now)) {
                    let renew_at = Some(now.plus(AGAIN));
                    return Ok(Refreshed::Usable(LiveToken { renew_at, ..token }));
                }
                let told = told(&error);
                self.entry.failed(&told);
                Err(told)
            }
        }
    }

    /// Asks the provider for new tokens.
    async fn ask(&self, grant: &Grant) -> Result<Tokens, SignInError> {
        let refresh = grant.tokens.as_ref().and_then(|tokens| tokens.refresh.as_ref());
        let refresh = refresh.expect("only a grant with a refresh token is stale");
        let mut fields = vec![("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        fields.extend(grant.resource.as_deref().map(|resource| ("resource", resource)));
        let deadline = Instant::now() + REFRESH_DEADLINE;
        let endpoints = Endpoints { client: &self.site.client, deadline };
        let client = grant.client_with(&self.site.oauth);
        let endpoint = TokenEndpoint { issuer: &grant.issuer, url: &grant.token_endpoint };
        endpoint.ask(endpoints, &client, &fields, self.inner.clock.now()).await
    }

    /// Keeps refreshed tokens. A provider gives them once, so a store that fails is asked again.
    async fn keep(&self, kept: &KeptGrant, grant: Grant) -> Result<Refreshed, CredentialError> {
        let tokens = grant.tokens.as_ref().expect("it was refreshed");
        let mut failure = None;
        for _ in 0..WRITES {
            match self.write(kept, &grant).await {
                Ok(Some(generation)) => {
                    let token = self.live(tokens, Some(kept));
                    let generation = Some(generation);
                    return Ok(Refreshed::Usable(LiveToken { generation, ..token }));
                }
                // Somebody signed in or out meanwhile, and that counts.
                Ok(None) => return Ok(Refreshed::LookAgain),
                Err(error) => failure = Some(error),
            }
            sleep(LOOK).await;
        }
        tracing::error!(domain = %self.place.domain, ?failure, "a refreshed token could not be kept");
        Ok(Refreshed::Usable(self.live(tokens, Some(kept))))
    }

    /// Writes a grant over the one that was read. Returns its generation, or None if another one is there.
    async fn write(&self, kept: &KeptGrant, grant: &Grant) -> Result<Option<u64>, BoxError> {
        self.inner.grants.write(self.place, &grant.to_text(), Some(kept.generation)).await
    }

    /// Notes that somebody has to sign in again. Returns false if the grant has changed meanwhile.
    async fn lapse(&self, kept: &KeptGrant) -> Result<bool, CredentialError> {
        let is_leased = self.lease(kept, &self.inner.holder()).await?;
        Ok(is_leased && self.lapse_leased(kept).await?)
    }

    async fn lapse_leased(&self, kept: &KeptGrant) -> Result<bool, CredentialError> {
        let grant = Grant { tokens: None, ..kept.grant.clone() };
        let written = self.write(kept, &grant).await;
        self.entry.set(AccountState::Unread);
        Ok(written.map_err(store)?.is_some())
    }

    /// Notes which further scopes the next sign-in has to ask for.
    async fn wider(
        &self,
        carried: &CredentialSet,
        scopes: &[String],
    ) -> Result<CredentialSet, CredentialError> {
        let Some(kept) = self.kept().await? else { return self.nobody(true) };
        let token = kept.grant.tokens.as_ref().map(|own| self.live(own, Some(&kept)));
        // Somebody has signed in again since.
        if let Some(token) = token
            && !is_same(carried, &token.set)
            && token.is_fresh(self.inner.clock.now())
        {
            return Ok(self.hold(token));
        }
        let mut grant = kept.grant.clone();
        for scope in scopes.iter().filter(|scope| scope.len() <= SCOPE_BYTES) {
            if !grant.wanted.contains(scope) && grant.wanted.len() < WANTED {
                grant.wanted.push(scope.clone());
            }
        }
        // A refresh under way must not find its grant changed, or its token would be lost. If one
        // is, the scopes are noted the next time.
        if grant.wanted != kept.grant.wanted && self.lease(&kept, &self.inner.holder()).await? {
            self.write(&kept, &grant).await.map_err(store)?;
            self.entry.set(AccountState::Unread);
        }
        let (name, rights) = (&self.site.name, listed(scopes));
        Err(CredentialError::needs_sign_in(format!(
            "wants more rights than this sign-in gave{rights}: `gatefold login {name}`"
        )))
    }

    async fn as_machine(
        &self,
        refused: Option<&CredentialSet>,
    ) -> Result<CredentialSet, CredentialError> {
        if refused.is_some() && self.is_new() {
            let reason = "it does not accept the token that it was given; check `oauth`";
            return Err(CredentialError::new(reason));
        }
        let deadline = Instant::now() + REFRESH_DEADLINE;
        let options = self.site.sign_in_options(self.inner.clock.clone());
        let tokens = async { SignIn::begin(options, deadline).await?.as_machine(deadline).await };
        let tokens = tokens.await.map_err(|error| told(&error))?;
        Ok(self.hold(self.live(&tokens, None)))
    }

    /// A token for the one that the caller came in with.
    async fn exchanged(
        &self,
        exchange: &TokenExchange,
        want: &Want,
    ) -> Result<CredentialSet, CredentialError> {
        let provider = "the identity provider";
        if let Want::Scopes(_, scopes) = want {
            return Err(CredentialError::needs_sign_in(format!(
                "wants more rights than {provider} gave for it{}: whoever runs the gateway can write \
                 them into `scopes` of `exchange`",
                listed(scopes)
            )));
        }
        if want.refused().is_some() && self.is_new() {
            let reason = format!("does not accept the token that {provider} gave for it");
            return Err(CredentialError::needs_sign_in(reason));
        }
        let deadline = Instant::now() + REFRESH_DEADLINE;
        let endpoints = Endpoints { client: &self.site.client, deadline };
        let now = self.inner.clock.now();
        let Some(presented) = self.inner.presented(&self.place.identity) else {
            exchange.examine(endpoints, now).await.map_err(|error| told(&error))?;
            let reason = format!("wants to know its caller by an access token of {provider}");
            return Err(CredentialError::needs_sign_in(reason));
        };
        let error = match exchange.ask(&presented, endpoints, now).await {
            Ok(tokens) => return Ok(self.hold(self.live(&tokens, None))),
            Err(error) => error,
        };
        tracing::warn!(domain = %self.place.domain, %error, "a token was not exchanged");
        let needs_sign_in = error.is_about_the_caller();
        if let AccountState::Signed(token) = self.entry.state()
            && token.is_alive(now)
            && want.refused().is_none()
            && !needs_sign_in
        {
            return Ok(self.hold(LiveToken { renew_at: Some(now.plus(AGAIN)), ..token }));
        }
        let error = CredentialError { needs_sign_in, ..told(&error) };
        self.entry.failed(&error);
        Err(error)
    }

    /// Whether the token in memory is so new that another one would be refused, too.
    fn is_new(&self) -> bool {
        let AccountState::Signed(token) = self.entry.state() else { return false };
        self.inner.clock.now().since(token.obtained_at) < RENEWABLE
    }

    fn nobody(&self, is_refused: bool) -> Result<CredentialSet, CredentialError> {
        let (looked_at, none) = (self.inner.clock.uptime(), CredentialSet::from([]));
        self.entry.set(AccountState::Nobody { looked_at, none: none.clone() });
        let may_try = self.site.sign_in == SignInNeed::IfAsked && !is_refused;
        if may_try { Ok(none) } else { Err(self.needs_sign_in()) }
    }

    fn live(&self, tokens: &Tokens, kept: Option<&KeptGrant>) -> LiveToken {
        LiveToken::new(tokens, kept, self.inner.clock.uptime())
    }

    fn hold(&self, token: LiveToken) -> CredentialSet {
        // The same set is recognised by its address, so it is kept while it says the same.
        let token = match self.entry.state() {
            AccountState::Signed(own) if is_same(&own.set, &token.set) => {
                LiveToken { set: own.set, ..token }
            }
            _ => token,
        };
        let set = token.set.clone();
        self.entry.set(AccountState::Signed(token));
        set
    }

    async fn lease(&self, kept: &KeptGrant, holder: &str) -> Result<bool, CredentialError> {
        let now = self.inner.clock.now();
        let until = now.plus(LEASE);
        let leased = self.inner.grants.lease(self.place, kept.generation, holder, now, until).await;
        leased.map_err(store)
    }

    fn needs_sign_in(&self) -> CredentialError {
        let name = &self.site.name;
        CredentialError::needs_sign_in(format!("needs a sign-in: `gatefold login {name}`"))
    }
}

/// The scopes that a server wants, in brackets, if it names any.
fn listed(scopes: &[String]) -> String {
    let scopes = crate::error::said(&scopes.join(" "));
    if scopes.is_empty() { scopes } else { format!(" (`{scopes}`)") }
}

/// Whether two sets carry the same. The values are secrets, but both are ours.
fn is_same(one: &CredentialSet, other: &CredentialSet) -> bool {
    let pairs = one.iter().zip(other.iter());
    one.len() == other.len()
        && pairs.into_iter().all(|(one, other)| one.name == other.name && one.value == other.value)
}

fn store(source: BoxError) -> CredentialError {
    let error = CredentialError::new("the kept sign-ins cannot be read");
    CredentialError { source: Some(source), ..error }
}
