//! Access tokens: who reaches the gateway where `server.authentication` is `"token"`.
//!
//! A token is one of the store's, or one of an issuer that the configuration trusts (`issued`). The store's tokens are kept in memory. A task looks twice a second whether they have changed, so
//! no request waits for the database, and a token that another process revokes is soon over for
//! requests that run as well.

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::extract::ConnectInfo;
use futures::future::BoxFuture;
use gatefold_core::{
    Clock, Digest, Narrowing, PresentedToken, Principal, Timestamp, TokenGrant, TokenId, TokenKind,
    network_of,
};
use gatefold_dispatch::Dispatcher;
use gatefold_http::{Authenticated, Authenticator, Unauthenticated, Validity};
use gatefold_identity::{FamilyRecord, KnownToken, Resource};
use gatefold_issuer::Issuer;
use gatefold_mcp::Server;
use gatefold_oauth::{TokenFault, TokenIssuers};
use gatefold_store::record_limits::ACCESS_TOKENS;
use gatefold_store::{Store, StoreError, TokenReader};
use http::request::Parts;
use subtle::ConstantTimeEq as _;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::accounts::PresentedTokens;
use super::people::{ConfiguredPeople, rights};
use issued::IssuedTokens;
use looks::Looks;
use refusals::{Presented, Refusal, RefusalForm};

mod issued;
mod looks;
mod refusals;
mod resource;

pub(super) use resource::ProtectedResource;

/// How long one look may take.
const LOOK_DEADLINE: Duration = Duration::from_secs(2);
/// How old the last look may be. After that nobody is let in, because nobody knows what was revoked.
const LOOK_AGE: Duration = Duration::from_secs(10);
/// How often to note which tokens were used.
const NOTE_INTERVAL: Duration = Duration::from_secs(10);
/// To what a token's last use is known.
const USE_MILLIS: u64 = 60 * 60 * 1000;

/// What a token of an unknown id is compared with. Nothing is known to hash to it.
const NO_HASH: Digest = Digest::new([0; 32]);

/// Lets in whoever has a token.
pub(super) struct TokenGate {
    /// At most as many as the store keeps.
    tokens: ArcSwap<HashMap<TokenId, Arc<LiveToken>>>,
    /// None where the configuration trusts no issuer.
    issued: Option<IssuedTokens>,
    people: Arc<ConfiguredPeople>,
    form: RefusalForm,
    /// Where people sign in here. None if they do not, and what they had is good for nothing.
    issuer: Option<Issuer>,
    looks: Looks,
    clock: Arc<dyn Clock>,
    /// The clock's uptime at the last successful look, in milliseconds.
    looked_at: AtomicU64,
}

/// The issuers of a configuration, and how clients find them.
pub(super) struct IssuerAccess {
    pub(super) issuers: TokenIssuers,
    /// Where their tokens are exchanged for those of sources.
    pub(super) exchanged: Arc<PresentedTokens>,
    pub(super) resource: Arc<ProtectedResource>,
    /// Where people sign in here, if they do.
    pub(super) issuer: Option<Issuer>,
}

/// A token as it is looked up.
struct LiveToken {
    known: KnownToken,
    authenticated: Authenticated,
    validity: Arc<Validity>,
    /// The hour of its last use, and the one that the store knows of, in milliseconds since 1970.
    used: AtomicU64,
    noted: AtomicU64,
}

impl LiveToken {
    /// A token, in the place of an earlier one with its id.
    fn of(
        known: KnownToken,
        form: &RefusalForm,
        earlier: Option<&Arc<Self>>,
    ) -> (TokenId, Arc<Self>) {
        let used = known.last_used().map_or(0, Timestamp::as_millis);
        let is_family = |known: &KnownToken| matches!(known, KnownToken::SignedIn { .. });
        // A client that refreshes its token goes on.
        let earlier = earlier.filter(|own| is_family(&own.known) && is_family(&known));
        let validity = earlier.map(|own| own.validity.clone());
        let validity = validity.filter(|own| !own.over.is_cancelled()).unwrap_or_else(|| {
            let refusal = form.unauthenticated(Refusal::Over, "/mcp");
            Arc::new(Validity { over: CancellationToken::new(), refusal })
        });
        let (id, principal) = (known.id().clone(), Arc::new(principal(&known)));
        let live = Self {
            known,
            authenticated: Authenticated { principal, validity: Some(validity.clone()) },
            validity,
            used: AtomicU64::new(used),
            noted: AtomicU64::new(used),
        };
        (id, Arc::new(live))
    }

    fn has_expired(&self, now: Timestamp) -> bool {
        self.known.expires_at().is_some_and(|at| at <= now)
    }

    /// Whether the store says the same of it as before.
    fn is_unchanged(&self, known: &KnownToken) -> bool {
        self.known.hash() == known.hash() && self.known.groups() == known.groups()
    }
}

fn principal(known: &KnownToken) -> Principal {
    let (name, user, agent, narrowing) = match known {
        KnownToken::Made { record, .. } => {
            let tools = record.tools.iter().map(String::as_str);
            let narrowing = Narrowing { read_only: record.read_only, ..Narrowing::to(tools) };
            (&record.name, &record.user, record.agent.clone(), narrowing)
        }
        KnownToken::SignedIn { family, .. } => {
            let read_only = family.access.scopes.is_read_only();
            let narrowing = Narrowing { read_only, ..Narrowing::default() };
            (&family.consent.client_name, &family.consent.user, None, narrowing)
        }
    };
    let token = TokenGrant { id: known.id().clone(), name: name.as_str().into(), narrowing };
    let rights = rights(known.groups());
    Principal { rights, agent, token: Some(Arc::new(token)), ..Principal::user(user.clone()) }
}

impl TokenGate {
    /// Reads the tokens for the first time.
    async fn open(
        reader: &mut TokenReader,
        clock: Arc<dyn Clock>,
        people: Arc<ConfiguredPeople>,
        issuers: Option<IssuerAccess>,
    ) -> Result<Self, StoreError> {
        let looked_at = AtomicU64::new(uptime(&*clock));
        let known = reader.changed().await?.unwrap_or_default();
        let form = RefusalForm { resource: issuers.as_ref().map(|own| own.resource.clone()) };
        let known = known.into_iter().map(|known| LiveToken::of(known, &form, None));
        let tokens = ArcSwap::from_pointee(known.collect());
        let own = issuers.as_ref().and_then(|access| access.issuer.clone());
        let issued = issuers
            .map(|own| IssuedTokens::new(own.issuers, own.exchanged, clock.clone(), form.clone()));
        let looks = Looks::new();
        Ok(Self { tokens, issued, people, form, issuer: own, looks, clock, looked_at })
    }

    async fn admit(&self, request: &Parts) -> Result<Authenticated, Refusal> {
        let path = request.uri.path();
        let Authenticated { principal, validity } = match refusals::presented(request)? {
            Presented::Own(presented) => self.find_own(&presented, resource::part_at(path)).await?,
            Presented::Other(token) => self.find_issued(token, request).await?,
        };
        // An agent's token is good where its agent is looked up, and nowhere else.
        if principal.agent.is_some() && !resource::looks_up_agents(path) {
            return Err(Refusal::Faulty(TokenFault::Audience));
        }
        let principal = self.people.in_groups(self.people.bound(principal));
        Ok(Authenticated { principal, validity })
    }

    async fn find_issued(&self, token: &str, request: &Parts) -> Result<Authenticated, Refusal> {
        let (Some(issued), Some(own)) = (&self.issued, &self.form.resource) else {
            return Err(Refusal::Mistyped);
        };
        let peer = request.extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| peer.ip());
        let address = own.at(resource::part_at(request.uri.path()));
        issued.find(token, network_of(peer), &address, &self.people).await
    }

    /// Finds one of our own. One that somebody has just signed in for is good at once, whichever
    /// gateway gave it out.
    async fn find_own(
        &self,
        presented: &PresentedToken,
        path: &str,
    ) -> Result<Authenticated, Refusal> {
        match self.find(presented, path) {
            Err(Refusal::Unknown)
                if presented.kind == TokenKind::SignedIn && self.issuer.is_some() =>
            {
                self.looks.another().await;
                self.find(presented, path)
            }
            found => found,
        }
    }

    fn find(&self, presented: &PresentedToken, path: &str) -> Result<Authenticated, Refusal> {
        let tokens = self.tokens.load();
        let found = tokens.get(&presented.id);
        // An unknown id costs the same comparison.
        let expected = found.map_or(&NO_HASH, |token| token.known.hash());
        let is_right = bool::from(expected.as_bytes().ct_eq(presented.hash.as_bytes()));
        let token = found.filter(|_| is_right).ok_or(Refusal::Unknown)?;
        let now = self.clock.now();
        if token.has_expired(now) {
            return Err(Refusal::Expired);
        }
        if self.is_behind() {
            return Err(Refusal::Unavailable);
        }
        if let KnownToken::SignedIn { family, .. } = &token.known {
            self.check_family(family, path, now)?;
        }
        let hour = now.as_millis() / USE_MILLIS * USE_MILLIS;
        if token.used.load(Ordering::Relaxed) < hour {
            token.used.store(hour, Ordering::Relaxed);
        }
        Ok(token.authenticated.clone())
    }

    fn check_family(
        &self,
        family: &FamilyRecord,
        path: &str,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let issuer = self.issuer.as_ref().ok_or(Refusal::Unknown)?;
        let FamilyRecord { consent, access, .. } = family;
        if !issuer.admits(consent) {
            return Err(Refusal::Unknown);
        }
        // Another token has to follow. What was begun goes on.
        if access.expires_at <= now {
            return Err(Refusal::Expired);
        }
        let asked = Resource::at(issuer.public_url(), path);
        let is_covered = asked.is_some_and(|asked| access.resource.covers(&asked));
        is_covered.then_some(()).ok_or(Refusal::Faulty(TokenFault::Audience))
    }

    /// Whether the last look is too long ago.
    fn is_behind(&self) -> bool {
        let looked_at = Duration::from_millis(self.looked_at.load(Ordering::Relaxed));
        self.clock.uptime().saturating_sub(looked_at) > LOOK_AGE
    }

    /// Puts other tokens in the place of those it had, and ends those that are gone.
    fn replace(&self, known: Vec<KnownToken>) -> Vec<TokenId> {
        let old = self.tokens.load_full();
        let new: HashMap<_, _> = known
            .into_iter()
            .map(|known| match old.get(known.id()) {
                Some(same) if same.is_unchanged(&known) => (known.id().clone(), same.clone()),
                earlier => LiveToken::of(known, &self.form, earlier),
            })
            .collect();
        let is_gone = |(id, token): &(&TokenId, &Arc<LiveToken>)| {
            !new.get(*id).is_some_and(|other| Arc::ptr_eq(&other.validity, &token.validity))
        };
        let gone: Vec<_> =
            old.iter().filter(is_gone).map(|(id, token)| (id.clone(), token.clone())).collect();
        // Nobody is let in with one from here on, so nothing begins after it has ended.
        self.tokens.store(Arc::new(new));
        gone.into_iter().filter_map(|(id, token)| token.end().then_some(id)).collect()
    }

    /// Ends the tokens that have expired.
    fn expire(&self) -> Vec<TokenId> {
        let (tokens, now) = (self.tokens.load(), self.clock.now());
        let expired = tokens.iter().filter(|(_, token)| token.has_expired(now));
        expired.filter(|(_, token)| token.end()).map(|(id, _)| id.clone()).collect()
    }

    /// What the store does not know yet of uses.
    fn unnoted(&self) -> Vec<(TokenId, Timestamp)> {
        let tokens = self.tokens.load();
        let later = |token: &LiveToken| {
            let used = token.used.load(Ordering::Relaxed);
            (token.noted.swap(used, Ordering::Relaxed) < used).then_some(used)
        };
        let uses = tokens.iter().filter_map(|(id, token)| Some((id.clone(), later(token)?)));
        uses.map(|(id, at)| (id, Timestamp::from_millis(at))).collect()
    }
}

impl LiveToken {
    /// Ends what runs with it; false if that was done before.
    fn end(&self) -> bool {
        let over = &self.validity.over;
        let is_first = !over.is_cancelled();
        over.cancel();
        is_first
    }
}

impl Authenticator for TokenGate {
    fn authenticate<'a>(
        &'a self,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
        Box::pin(async {
            let admitted = self.admit(request).await;
            let path = resource::part_at(request.uri.path());
            admitted.map_err(|refusal| self.form.unauthenticated(refusal, path))
        })
    }
}

/// The gate, and what keeps it in step with the store while something is served behind it.
pub(super) struct Access {
    gate: Arc<TokenGate>,
    store: Store,
    /// What the tasks need, until they are started.
    unstarted: Mutex<Option<(TokenReader, RunningWork)>>,
    tasks: OnceLock<[AbortOnDropHandle<()>; 2]>,
}

impl Access {
    pub(super) async fn open(
        store: &Store,
        clock: Arc<dyn Clock>,
        server: &Arc<Server>,
        dispatcher: &Arc<Dispatcher>,
        people: Arc<ConfiguredPeople>,
        issuers: Option<IssuerAccess>,
    ) -> Result<Self, StoreError> {
        let mut reader = store.token_reader();
        let gate = Arc::new(TokenGate::open(&mut reader, clock, people, issuers).await?);
        let running = RunningWork {
            server: Arc::downgrade(server),
            dispatcher: Arc::downgrade(dispatcher),
            just_ended: HashSet::new(),
        };
        let unstarted = Mutex::new(Some((reader, running)));
        Ok(Self { gate, store: store.clone(), unstarted, tasks: OnceLock::new() })
    }

    /// The gate to serve behind, which follows what becomes of the tokens from now on.
    ///
    /// Must be called within a Tokio runtime.
    pub(super) fn gate(&self) -> Arc<TokenGate> {
        let unstarted = self.unstarted.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((reader, running)) = unstarted {
            let watching = tokio::spawn(watch(self.gate.clone(), reader, running));
            let noting = tokio::spawn(note_uses(self.gate.clone(), self.store.clone()));
            // They are started once.
            let _ = self.tasks.set([watching, noting].map(AbortOnDropHandle::new));
        }
        self.gate.clone()
    }

    /// How clients find out whose tokens let them in, if they can.
    pub(super) fn resource(&self) -> Option<&Arc<ProtectedResource>> {
        self.gate.form.resource.as_ref()
    }

    /// Where people sign in, if they do here.
    pub(super) fn issuer(&self) -> Option<&Issuer> {
        self.gate.issuer.as_ref()
    }

    /// Notes the uses that are not on record yet.
    pub(super) async fn note(&self) {
        note(&self.gate, &self.store).await;
    }
}

/// What runs for tokens beyond the requests that came with them.
struct RunningWork {
    server: Weak<Server>,
    dispatcher: Weak<Dispatcher>,
    /// The tokens that ended at the look before, at most [`ACCESS_TOKENS`]: a request that was let in
    /// just then may have opened a session since.
    just_ended: HashSet<TokenId>,
}

impl RunningWork {
    fn end(&mut self, ended: Vec<TokenId>) {
        let limit = usize::try_from(ACCESS_TOKENS).unwrap_or(usize::MAX);
        let now: HashSet<_> = ended.into_iter().take(limit).collect();
        let before = std::mem::take(&mut self.just_ended);
        if now.is_empty() && before.is_empty() {
            return;
        }
        let is_over = |principal: &Principal| {
            let token = principal.token.as_ref().map(|token| &token.id);
            token.is_some_and(|id| now.contains(id) || before.contains(id))
        };
        if let Some(server) = self.server.upgrade() {
            server.end_sessions(is_over);
        }
        if let Some(dispatcher) = self.dispatcher.upgrade() {
            dispatcher.end_parked(is_over);
        }
        for id in &now {
            tracing::info!(token = %id, "ended what ran with a token that was revoked or expired");
        }
        self.just_ended = now;
    }
}

async fn watch(gate: Arc<TokenGate>, mut reader: TokenReader, mut running: RunningWork) {
    let mut was_read = true;
    loop {
        let look = gate.looks.begin();
        let began = uptime(&*gate.clock);
        let looked = timeout(LOOK_DEADLINE, reader.changed()).await;
        let mut ended = Vec::new();
        let fault = match looked {
            Ok(Ok(changed)) => {
                ended.extend(changed.map(|known| gate.replace(known)).unwrap_or_default());
                gate.looked_at.store(began, Ordering::Relaxed);
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some(format!("it took more than {} s", LOOK_DEADLINE.as_secs())),
        };
        ended.extend(gate.expire());
        if let Some(issued) = &gate.issued {
            issued.expire();
        }
        running.end(ended);
        if let Some(error) = fault.as_ref().filter(|_| was_read) {
            tracing::error!(%error, "the access tokens could not be read; soon nobody is let in");
        }
        was_read = fault.is_none();
        gate.looks.end(look);
        gate.looks.wait().await;
    }
}

async fn note_uses(gate: Arc<TokenGate>, store: Store) {
    loop {
        sleep(NOTE_INTERVAL).await;
        note(&gate, &store).await;
    }
}

async fn note(gate: &TokenGate, store: &Store) {
    let uses = gate.unnoted();
    if uses.is_empty() {
        return;
    }
    if let Err(error) = store.note_token_uses(&uses).await {
        tracing::warn!(%error, "which tokens were used could not be put on record");
    }
}

fn uptime(clock: &dyn Clock) -> u64 {
    u64::try_from(clock.uptime().as_millis()).unwrap_or(u64::MAX)
}
