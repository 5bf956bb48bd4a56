//! A provider, a place for grants in memory, and processes that share it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use gatefold_core::{Clock as _, Domain, ManualClock, Secret, Timestamp, UpstreamIdentity};
use gatefold_dispatch::{
    CredentialError, CredentialRefusal, CredentialSet, Credentials as _, IdentityScope,
    RefusalCause,
};
use gatefold_egress::{Egress, HttpClient, PrivateNetworks, Reach, Settings};
use gatefold_identity::{GrantPlace, GrantRecord, Grants, StoreAnswer};
use gatefold_oauth::{
    Accounts, BearerChallenge, ClientSettings, Grant, KeptGrant, KnownProvider, Redirect,
    RedirectAnswer, SignIn, SignInError, SignInNeed, SignInOptions, SiteSettings,
};
use gatefold_testkit::Provider;
use tokio::time::Instant;

/// The time at which every test begins.
const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);

pub(crate) const SOON: Duration = Duration::from_secs(20);

/// Grants in memory, with leases.
#[derive(Default)]
pub(crate) struct MemoryGrants {
    rows: Mutex<HashMap<GrantPlace, Row>>,
    generations: Mutex<u64>,
}

#[derive(Clone)]
struct Row {
    kept: GrantRecord,
    lease: Option<(String, Timestamp)>,
}

impl MemoryGrants {
    fn next(&self) -> u64 {
        let mut last = self.generations.lock().unwrap();
        *last += 1;
        *last
    }
}

impl Grants for MemoryGrants {
    fn read<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, Option<GrantRecord>> {
        let kept = self.rows.lock().unwrap().get(place).map(|row| row.kept.clone());
        async move { Ok(kept) }.boxed()
    }

    fn generation<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, Option<u64>> {
        let generation = self.rows.lock().unwrap().get(place).map(|row| row.kept.generation);
        async move { Ok(generation) }.boxed()
    }

    fn write<'a>(
        &'a self,
        place: &'a GrantPlace,
        text: &'a Secret,
        from: Option<u64>,
    ) -> StoreAnswer<'a, Option<u64>> {
        let mut rows = self.rows.lock().unwrap();
        let before = rows.get(place).map(|row| row.kept.generation);
        let written = if from.is_some_and(|from| before != Some(from)) {
            None
        } else {
            let generation = self.next();
            let kept = GrantRecord { generation, text: text.clone() };
            rows.insert(place.clone(), Row { kept, lease: None });
            Some(generation)
        };
        async move { Ok(written) }.boxed()
    }

    fn lease<'a>(
        &'a self,
        place: &'a GrantPlace,
        generation: u64,
        holder: &'a str,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreAnswer<'a, bool> {
        let mut rows = self.rows.lock().unwrap();
        let row = rows.get_mut(place).filter(|row| row.kept.generation == generation);
        let free = row.filter(|row| {
            row.lease.as_ref().is_none_or(|(own, until)| own == holder || *until <= now)
        });
        let leased = free.map(|row| row.lease = Some((holder.to_owned(), until))).is_some();
        async move { Ok(leased) }.boxed()
    }

    fn release<'a>(&'a self, place: &'a GrantPlace, holder: &'a str) -> StoreAnswer<'a, ()> {
        let mut rows = self.rows.lock().unwrap();
        let row = rows.get_mut(place);
        if let Some(row) =
            row.filter(|row| row.lease.as_ref().is_some_and(|(own, _)| own == holder))
        {
            row.lease = None;
        }
        async { Ok(()) }.boxed()
    }

    fn remove<'a>(&'a self, place: &'a GrantPlace) -> StoreAnswer<'a, bool> {
        let was_there = self.rows.lock().unwrap().remove(place).is_some();
        async move { Ok(was_there) }.boxed()
    }

    fn places(&self) -> StoreAnswer<'_, Vec<GrantPlace>> {
        let places = self.rows.lock().unwrap().keys().cloned().collect();
        async move { Ok(places) }.boxed()
    }
}

/// A provider, and what its users share.
pub(crate) struct Bench {
    pub(crate) provider: Provider,
    pub(crate) grants: Arc<MemoryGrants>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) client: HttpClient,
}

impl Bench {
    pub(crate) async fn new() -> Self {
        let provider = Provider::start().await.unwrap();
        let egress = Egress::new(Settings::default()).unwrap();
        let url = provider.url();
        let client = egress.client_for(Reach::for_source([url.as_str()], PrivateNetworks::None));
        Self { provider, grants: Arc::default(), clock: Arc::new(ManualClock::at(NOW)), client }
    }

    pub(crate) fn place() -> GrantPlace {
        Self::place_of(UpstreamIdentity::Shared)
    }

    pub(crate) fn place_of(identity: UpstreamIdentity) -> GrantPlace {
        GrantPlace { domain: Domain::from_key("server"), identity }
    }

    pub(crate) fn site(&self) -> SiteSettings {
        SiteSettings {
            name: "server".to_owned(),
            url: self.provider.url().parse().unwrap(),
            client: self.client.clone(),
            oauth: ClientSettings::default(),
            known: None,
            scope: IdentityScope::Shared,
            sign_in: SignInNeed::IfAsked,
            exchange: None,
        }
    }

    /// The accounts as one process has them.
    pub(crate) fn process(&self) -> Accounts {
        self.process_with(self.site())
    }

    pub(crate) fn process_with(&self, site: SiteSettings) -> Accounts {
        let accounts = Accounts::new(self.grants.clone(), self.clock.clone()).unwrap();
        accounts.set_sites([(Domain::from_key("server"), site)]);
        accounts
    }

    pub(crate) async fn begin(&self, oauth: ClientSettings) -> Result<SignIn, SignInError> {
        self.begin_at(None, oauth).await
    }

    /// Begins a sign-in at a provider that is known, or at the one that the server names.
    pub(crate) async fn begin_at(
        &self,
        known: Option<KnownProvider>,
        oauth: ClientSettings,
    ) -> Result<SignIn, SignInError> {
        let challenge = Some(BearerChallenge::default());
        let options = SignInOptions {
            client: self.client.clone(),
            site: self.provider.url().parse().unwrap(),
            settings: oauth,
            known,
            challenge,
            earlier: self.kept().await.map(|kept| kept.grant),
            clock: self.clock.clone(),
        };
        SignIn::begin(options, Instant::now() + SOON).await
    }

    /// Goes the whole way of a person.
    pub(crate) async fn signed_in(&self, oauth: ClientSettings) -> Result<Grant, SignInError> {
        self.signed_in_at(None, oauth).await
    }

    pub(crate) async fn signed_in_at(
        &self,
        known: Option<KnownProvider>,
        oauth: ClientSettings,
    ) -> Result<Grant, SignInError> {
        let deadline = Instant::now() + SOON;
        let redirect = Redirect("http://127.0.0.1:4/callback".to_owned());
        let sign_in = self.begin_at(known, oauth).await?.browse(redirect, deadline).await?;
        let query = self.browse(sign_in.request.url.as_str()).await;
        sign_in.redeem(RedirectAnswer::of_query(&query).unwrap(), deadline).await
    }

    /// The query with which the provider's page sends the browser back.
    pub(crate) async fn browse(&self, url: &str) -> String {
        let request = self.client.request(http::Method::GET, url.parse().unwrap());
        let page = self.client.send_once(request).await.unwrap();
        assert!(page.status().is_redirection(), "{}", page.status());
        let back = page.headers()[http::header::LOCATION].to_str().unwrap();
        back.split_once('?').unwrap().1.to_owned()
    }

    /// Signs in and keeps the grant.
    pub(crate) async fn sign_in(&self, place: &GrantPlace) {
        let grant = self.signed_in(ClientSettings::default()).await.unwrap();
        self.keep(place, &grant).await;
    }

    pub(crate) async fn keep(&self, place: &GrantPlace, grant: &Grant) {
        self.grants.write(place, &grant.to_text(), None).await.unwrap();
    }

    /// The grant that everybody shares.
    pub(crate) async fn kept(&self) -> Option<KeptGrant> {
        KeptGrant::read(&*self.grants, &Self::place()).await.unwrap()
    }
}

/// What a call of an identity would carry.
pub(crate) async fn token(
    accounts: &Accounts,
    identity: &UpstreamIdentity,
) -> Result<Option<String>, CredentialError> {
    let domain = Domain::from_key("server");
    let set = match accounts.at_hand(&domain, identity) {
        Some(set) => set,
        None => accounts.obtain(&domain, identity).await?,
    };
    Ok(text(&set))
}

/// What a call carries the second time, after the server refused the first.
pub(crate) async fn after_refusal(
    accounts: &Accounts,
    carried: Option<&str>,
    cause: RefusalCause,
    challenge: &str,
) -> Result<Option<String>, CredentialError> {
    after_refusal_of(accounts, &UpstreamIdentity::Shared, carried, cause, challenge).await
}

/// The same for a call of an identity.
pub(crate) async fn after_refusal_of(
    accounts: &Accounts,
    identity: &UpstreamIdentity,
    carried: Option<&str>,
    cause: RefusalCause,
    challenge: &str,
) -> Result<Option<String>, CredentialError> {
    let carried = carried.map(|value| gatefold_dispatch::Credential {
        name: "authorization".to_owned(),
        value: Secret::new(value),
    });
    let refusal = CredentialRefusal {
        carried: carried.into_iter().collect(),
        cause,
        challenges: vec![challenge.to_owned()],
    };
    let set = accounts.refused(&Domain::from_key("server"), identity, refusal).await?;
    Ok(text(&set))
}

fn text(set: &CredentialSet) -> Option<String> {
    set.first().map(|credential| credential.value.expose().to_owned())
}

/// Lets the clock of all processes go on.
pub(crate) fn pass(bench: &Bench, time: Duration) {
    let before = bench.clock.now();
    bench.clock.advance(time);
    assert!(bench.clock.now() > before);
}
