//! Signing in at the gateway itself, where `server.sign_in` says so: the issuer, and what it keeps in
//! the store.

use std::sync::Arc;

use futures::future::BoxFuture;
use gatefold_core::{BoxError, Clock, Digest, Timestamp, TokenId, UserId};
use gatefold_egress::{Egress, IpNet, PrivateNetworks, Reach};
use gatefold_issuer::limits::{REGISTERED_CLIENTS, UNUSED_LIFE, USED_LIFE};
use gatefold_issuer::{
    AccessRecord, BrowserSession, ClientRecord, CodeRecord, CodeState, DocumentAccess,
    FamilyRecord, Issuer, IssuerSettings, IssuerStore, KeepOutcome, NewPassword, PublicUrl,
    Registration, Renewal, Resource, Scopes,
};
use gatefold_store::{
    AccessRow, BrowserRow, ClientBounds, ClientRow, CodeRow, FamilyRenewal, FamilyRow, Insertion,
    LinkUse, Store, StoreError, TakenCode,
};

use crate::config::ServerConfig;

/// What the issuer's key is derived for.
const KEY_PURPOSE: &str = "gatefold issuer";

/// The issuer of a configuration, if people sign in here.
pub(super) fn issuer(
    server: &ServerConfig,
    store: &Store,
    egress: &Egress,
    clock: &Arc<dyn Clock>,
) -> Option<Issuer> {
    let sign_in = server.sign_in.as_ref()?;
    let public_url = public_url(server)?;
    // Clients on this machine, such as those under development, only where nobody else comes.
    let is_near = !public_url.is_secure();
    let loopback = ["127.0.0.0/8", "::1/128"].map(str::parse::<IpNet>);
    let loopback = loopback.into_iter().filter_map(Result::ok).filter(|_| is_near).collect();
    let reach = Reach::public().allowing(PrivateNetworks::Listed(loopback));
    let settings = IssuerSettings {
        public_url,
        registration: if sign_in.registration { Registration::On } else { Registration::Off },
        documents: DocumentAccess { client: egress.client_for(reach), allows_loopback: is_near },
        key: store.seal_key().derive(KEY_PURPOSE),
    };
    Some(Issuer::new(settings, Arc::new(KeptSignIns(store.clone())), clock.clone()))
}

/// The address at which people sign in, if they do.
pub(super) fn public_url(server: &ServerConfig) -> Option<PublicUrl> {
    server.sign_in.as_ref()?;
    server.public_url.clone()
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

    fn open_session(
        &self,
        session: BrowserSession,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        let BrowserSession { id, hash, user, expires_at } = session;
        let row = BrowserRow { id, hash, user, expires_at };
        Box::pin(answered(self.0.open_browser(row, now), outcome))
    }

    fn session<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<BrowserSession>> {
        let session = |row: BrowserRow| {
            let BrowserRow { id, hash, user, expires_at } = row;
            BrowserSession { id, hash, user, expires_at }
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
                TakenCode::Fresh(row) => CodeState::Fresh(code(*row)?),
                TakenCode::Used => CodeState::Used,
                TakenCode::Unknown => CodeState::Unknown,
            })
        })
    }

    fn begin_family(&self, family: FamilyRecord, now: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let row = FamilyRow {
            id: family.id,
            user: family.user,
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
