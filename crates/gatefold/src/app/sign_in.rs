//! Signing in at the gateway itself, where `server.sign_in` says so: the issuer, and what it keeps in
//! the store.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Clock, Digest, Timestamp, TokenId, UserId};
use gatefold_egress::{Egress, IpNet, PrivateNetworks, Reach};
use gatefold_issuer::limits::{REGISTERED_CLIENTS, UNUSED_LIFE, USED_LIFE};
use gatefold_issuer::{
    AccessRecord, BrowserSession, ClientRecord, CodeRecord, CodeState, DocumentAccess,
    FamilyRecord, Issuer, IssuerSettings, IssuerStore, KeepOutcome, NewPassword, PasswordSignIn,
    ProvidedPerson, ProvidedSubject, ProviderVisit, PublicUrl, Registration, Renewal, Resource,
    Scopes,
};
use gatefold_store::{
    AccessRow, BrowserRow, ClientBounds, ClientRow, CodeRow, FamilyRenewal, FamilyRow, Insertion,
    LinkUse, ProvidedPersonRow, ProvidedSubject as SubjectRow, Store, StoreError, TakenCode,
    VisitRow,
};

use super::people::People;
use crate::config::ServerConfig;

mod provider;

use provider::ConfiguredProvider;
pub(super) use provider::openid;

/// What the issuer's key is derived for.
const KEY_PURPOSE: &str = "gatefold issuer";

/// The issuer of a configuration, if people sign in here.
pub(super) fn issuer(
    server: &ServerConfig,
    store: &Store,
    egress: &Egress,
    clock: &Arc<dyn Clock>,
    people: &Arc<People>,
) -> Option<Issuer> {
    let sign_in = server.sign_in.as_ref()?;
    let OwnSignIn { public_url, .. } = OwnSignIn::of(server)?;
    // Clients on this machine, such as those under development, only where nobody else comes.
    let is_near = !public_url.is_secure();
    let loopback = ["127.0.0.0/8", "::1/128"].map(str::parse::<IpNet>);
    let loopback = loopback.into_iter().filter_map(Result::ok).filter(|_| is_near).collect();
    let reach = Reach::public().allowing(PrivateNetworks::Listed(loopback));
    let settings = IssuerSettings {
        public_url,
        registration: if sign_in.registration { Registration::On } else { Registration::Off },
        password: if sign_in.password { PasswordSignIn::On } else { PasswordSignIn::Off },
        provider: ConfiguredProvider::of(server, egress, clock, people.clone()),
        documents: DocumentAccess { client: egress.client_for(reach), allows_loopback: is_near },
        key: store.seal_key().derive(KEY_PURPOSE),
    };
    Some(Issuer::new(settings, Arc::new(KeptSignIns(store.clone())), clock.clone()))
}

/// How people sign in here, as far as what they let in depends on it.
#[derive(Debug, Clone)]
pub(super) struct OwnSignIn {
    pub(super) public_url: PublicUrl,
    has_passwords: bool,
    /// The issuer of the provider.
    provider: Option<String>,
}

impl OwnSignIn {
    pub(super) fn of(server: &ServerConfig) -> Option<Self> {
        let sign_in = server.sign_in.as_ref()?;
        Some(Self {
            public_url: server.public_url.clone()?,
            has_passwords: sign_in.password,
            provider: sign_in.provider.as_ref().map(|own| own.issuer.clone()),
        })
    }

    /// Whether a user could sign in again as they did. What others let in is good for nothing.
    pub(super) fn admits(
        &self,
        user: &UserId,
        provided: Option<&SubjectRow>,
        people: &People,
    ) -> bool {
        let Some(SubjectRow { issuer, subject }) = provided else { return self.has_passwords };
        self.provider.as_ref() == Some(issuer) && people.user(issuer, subject) == *user
    }
}

/// What an issuer keeps, in the store.
struct KeptSignIns(Store);

type StoreAnswer<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

/// An answer of the store as one of the port.
async fn answered<T, U>(
    answer: impl Future<Output = Result<T, StoreError>>,
    change: impl FnOnce(T) -> U,
) -> Result<U, BoxError> {
    Ok(change(answer.await?))
}

impl IssuerStore for KeptSignIns {
    fn password<'a>(&'a self, user: &'a UserId) -> StoreAnswer<'a, Option<String>> {
        Box::pin(answered(self.0.password(user), |hash| hash))
    }

    fn link<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<UserId>> {
        Box::pin(answered(self.0.password_link(id, hash, now), |user| user))
    }

    fn set_password(&self, new: NewPassword, now: Timestamp) -> StoreAnswer<'_, Option<UserId>> {
        let NewPassword { link, link_hash, password } = new;
        let used = LinkUse { id: link, hash: link_hash, password };
        Box::pin(answered(self.0.set_password(used, now), |user| user))
    }

    fn note_person(&self, person: ProvidedPerson, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let ProvidedPerson { subject, user, groups } = person;
        let row = ProvidedPersonRow { subject: subject_row(subject), user, groups };
        Box::pin(answered(self.0.note_provided_person(row, now), outcome))
    }

    fn keep_visit(&self, visit: ProviderVisit, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let ProviderVisit { id, hash, browser, request, expires_at } = visit;
        let row = VisitRow { id, hash, browser, request, expires_at };
        Box::pin(answered(self.0.keep_visit(row, now), outcome))
    }

    fn take_visit<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        browser: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<String>> {
        Box::pin(answered(self.0.take_visit(id, hash, browser, now), |request| request))
    }

    fn open_session(
        &self,
        session: BrowserSession,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        let BrowserSession { id, hash, user, provided, expires_at } = session;
        let provided = provided.map(subject_row);
        let row = BrowserRow { id, hash, user, provided, expires_at };
        Box::pin(answered(self.0.open_browser(row, now), outcome))
    }

    fn session<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<BrowserSession>> {
        let session = |row: BrowserRow| {
            let BrowserRow { id, hash, user, provided, expires_at } = row;
            BrowserSession { id, hash, user, provided: provided.map(subject), expires_at }
        };
        Box::pin(answered(self.0.browser(id, now), move |row| row.map(session)))
    }

    fn close_session<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, ()> {
        Box::pin(answered(self.0.close_browser(id), |()| ()))
    }

    fn keep_code(&self, code: CodeRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let row = CodeRow {
            id: code.id,
            hash: code.hash,
            user: code.user,
            provided: code.provided.map(subject_row),
            client: code.client,
            client_name: code.client_name,
            redirect: code.redirect,
            challenge: code.challenge,
            resource: code.resource.as_str().to_owned(),
            scopes: code.scopes.as_str().to_owned(),
            expires_at: code.expires_at,
        };
        Box::pin(answered(self.0.keep_code(row, now), outcome))
    }

    fn take_code<'a>(&'a self, id: &'a TokenId, hash: Digest) -> StoreAnswer<'a, CodeState> {
        Box::pin(async move {
            Ok(match self.0.take_code(id, hash).await? {
                TakenCode::Fresh(row) => CodeState::Fresh(Box::new(code(*row)?)),
                TakenCode::Used => CodeState::Used,
                TakenCode::Unknown => CodeState::Unknown,
            })
        })
    }

    fn begin_family(&self, family: FamilyRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let row = FamilyRow {
            id: family.id,
            user: family.user,
            provided: family.provided.map(subject_row),
            client: family.client,
            client_name: family.client_name,
            resource: family.resource.as_str().to_owned(),
            scopes: family.scopes.as_str().to_owned(),
            created_at: family.created_at,
            expires_at: family.expires_at,
            refresh: family.refresh,
            refreshes: family.refreshes,
            refreshed_at: family.refreshed_at,
            access: access_row(family.access),
            last_used: None,
        };
        Box::pin(answered(self.0.begin_family(row, now), outcome))
    }

    fn family<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<FamilyRecord>> {
        Box::pin(async move { self.0.family(id, now).await?.map(family).transpose() })
    }

    fn renew_family<'a>(&'a self, id: &'a TokenId, renewal: Renewal) -> StoreAnswer<'a, bool> {
        let Renewal { from, refresh, refreshed_at, access } = renewal;
        let access = access_row(access);
        let renewal = FamilyRenewal { from, refresh, refreshed_at, access };
        Box::pin(answered(self.0.renew_family(id, renewal), |renewed| renewed))
    }

    fn end_family<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, bool> {
        Box::pin(answered(self.0.end_family(id), |ended| ended))
    }

    fn register(&self, client: ClientRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let ClientRecord { id, name, redirects, created_at, used_at } = client;
        let row = ClientRow { id, name, redirects, created_at, used_at };
        Box::pin(answered(self.0.register_client(row, bounds(now)), outcome))
    }

    fn registered<'a>(
        &'a self,
        id: &'a str,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<ClientRecord>> {
        let client = |row: ClientRow| {
            let ClientRow { id, name, redirects, created_at, used_at } = row;
            ClientRecord { id, name, redirects, created_at, used_at }
        };
        let found = self.0.registered_client(id, bounds(now));
        Box::pin(answered(found, move |row| row.map(client)))
    }

    fn note_client_use<'a>(&'a self, id: &'a str, now: Timestamp) -> StoreAnswer<'a, ()> {
        Box::pin(answered(self.0.note_client_use(id, now), |()| ()))
    }
}

fn subject(row: SubjectRow) -> ProvidedSubject {
    let SubjectRow { issuer, subject } = row;
    ProvidedSubject { issuer, subject }
}

fn subject_row(own: ProvidedSubject) -> SubjectRow {
    let ProvidedSubject { issuer, subject } = own;
    SubjectRow { issuer, subject }
}

fn outcome(insertion: Insertion) -> KeepOutcome {
    match insertion {
        Insertion::Done => KeepOutcome::Yes,
        Insertion::Full => KeepOutcome::Full,
        Insertion::Refused => KeepOutcome::Refused,
    }
}

fn bounds(now: Timestamp) -> ClientBounds {
    let ago = |life: std::time::Duration| {
        let life = u64::try_from(life.as_millis()).unwrap_or(u64::MAX);
        Timestamp::from_millis(now.as_millis().saturating_sub(life))
    };
    ClientBounds {
        clients: REGISTERED_CLIENTS,
        unused_before: ago(UNUSED_LIFE),
        used_before: ago(USED_LIFE),
    }
}

fn scopes(text: &str) -> Result<Scopes, BoxError> {
    Scopes::read(text).ok_or_else(|| "scopes in the store are none of ours".into())
}

fn code(row: CodeRow) -> Result<CodeRecord, BoxError> {
    Ok(CodeRecord {
        id: row.id,
        hash: row.hash,
        user: row.user,
        provided: row.provided.map(subject),
        client: row.client,
        client_name: row.client_name,
        redirect: row.redirect,
        challenge: row.challenge,
        resource: Resource::kept(row.resource),
        scopes: scopes(&row.scopes)?,
        expires_at: row.expires_at,
    })
}

fn family(row: FamilyRow) -> Result<FamilyRecord, BoxError> {
    Ok(FamilyRecord {
        id: row.id,
        user: row.user,
        provided: row.provided.map(subject),
        client: row.client,
        client_name: row.client_name,
        resource: Resource::kept(row.resource),
        scopes: scopes(&row.scopes)?,
        created_at: row.created_at,
        expires_at: row.expires_at,
        refresh: row.refresh,
        refreshes: row.refreshes,
        refreshed_at: row.refreshed_at,
        access: AccessRecord {
            hash: row.access.hash,
            resource: Resource::kept(row.access.resource),
            scopes: scopes(&row.access.scopes)?,
            expires_at: row.access.expires_at,
        },
    })
}

fn access_row(access: AccessRecord) -> AccessRow {
    let AccessRecord { hash, resource, scopes, expires_at } = access;
    let (resource, scopes) = (resource.as_str().to_owned(), scopes.as_str().to_owned());
    AccessRow { hash, resource, scopes, expires_at }
}
