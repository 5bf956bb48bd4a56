//! What an issuer keeps, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use futures::future::{BoxFuture, ready};
use gatefold_core::{BoxError, Digest, Timestamp, TokenId, UserId};
use gatefold_issuer::limits::{REGISTERED_CLIENTS, UNUSED_LIFE};
use gatefold_issuer::{
    BrowserSession, ClientRecord, CodeRecord, CodeState, FamilyRecord, IssuerStore, KeepOutcome,
    NewPassword, ProvidedPerson, ProvidedSubject, ProviderVisit, Renewal,
};

#[derive(Default)]
pub(crate) struct MemoryStore(Mutex<Tables>);

#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) passwords: HashMap<UserId, String>,
    pub(crate) links: HashMap<TokenId, (Digest, UserId, Timestamp)>,
    pub(crate) sessions: HashMap<TokenId, BrowserSession>,
    pub(crate) people: HashMap<ProvidedSubject, ProvidedPerson>,
    pub(crate) visits: HashMap<TokenId, ProviderVisit>,
    pub(crate) codes: HashMap<TokenId, (CodeRecord, bool)>,
    pub(crate) families: HashMap<TokenId, FamilyRecord>,
    pub(crate) clients: HashMap<String, ClientRecord>,
}

impl MemoryStore {
    pub(crate) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap()
    }
}

type Reply<'a, T> = BoxFuture<'a, Result<T, BoxError>>;

fn reply<'a, T: Send + 'a>(value: T) -> Reply<'a, T> {
    Box::pin(ready(Ok(value)))
}

impl IssuerStore for MemoryStore {
    fn password<'a>(&'a self, user: &'a UserId) -> Reply<'a, Option<String>> {
        reply(self.tables().passwords.get(user).cloned())
    }

    fn link<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        now: Timestamp,
    ) -> Reply<'a, Option<UserId>> {
        let tables = self.tables();
        let link = tables.links.get(id).filter(|link| link.0 == hash && link.2 > now);
        reply(link.map(|link| link.1.clone()))
    }

    fn set_password(&self, new: NewPassword, now: Timestamp) -> Reply<'_, Option<UserId>> {
        let mut tables = self.tables();
        let link = tables.links.get(&new.link).cloned();
        let Some((_, user, _)) = link.filter(|link| link.0 == new.link_hash && link.2 > now) else {
            return reply(None);
        };
        tables.links.remove(&new.link);
        tables.passwords.insert(user.clone(), new.password);
        tables.sessions.retain(|_, session| session.user != user);
        reply(Some(user))
    }

    fn note_person(&self, person: ProvidedPerson, _: Timestamp) -> Reply<'_, KeepOutcome> {
        self.tables().people.insert(person.subject.clone(), person);
        reply(KeepOutcome::Yes)
    }

    fn keep_visit(&self, visit: ProviderVisit, _: Timestamp) -> Reply<'_, KeepOutcome> {
        self.tables().visits.insert(visit.id.clone(), visit);
        reply(KeepOutcome::Yes)
    }

    fn take_visit<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        browser: Digest,
        now: Timestamp,
    ) -> Reply<'a, Option<String>> {
        let mut tables = self.tables();
        let is_it =
            |it: &&ProviderVisit| it.hash == hash && it.browser == browser && it.expires_at > now;
        let request = tables.visits.get(id).filter(is_it).map(|it| it.request.clone());
        if request.is_some() {
            tables.visits.remove(id);
        }
        reply(request)
    }

    fn open_session(&self, session: BrowserSession, _: Timestamp) -> Reply<'_, KeepOutcome> {
        self.tables().sessions.insert(session.id.clone(), session);
        reply(KeepOutcome::Yes)
    }

    fn session<'a>(&'a self, id: &'a TokenId, now: Timestamp) -> Reply<'a, Option<BrowserSession>> {
        reply(self.tables().sessions.get(id).filter(|it| it.expires_at > now).cloned())
    }

    fn close_session<'a>(&'a self, id: &'a TokenId) -> Reply<'a, ()> {
        self.tables().sessions.remove(id);
        reply(())
    }

    fn keep_code(&self, code: CodeRecord, _: Timestamp) -> Reply<'_, KeepOutcome> {
        self.tables().codes.insert(code.id.clone(), (code, false));
        reply(KeepOutcome::Yes)
    }

    fn take_code<'a>(&'a self, id: &'a TokenId, hash: Digest) -> Reply<'a, CodeState> {
        let mut tables = self.tables();
        let state = match tables.codes.get_mut(id).filter(|(code, _)| code.hash == hash) {
            None => CodeState::Unknown,
            Some((_, true)) => CodeState::Used,
            Some((code, used)) => {
                *used = true;
                CodeState::Fresh(Box::new(code.clone()))
            }
        };
        reply(state)
    }

    fn begin_family(&self, family: FamilyRecord, _: Timestamp) -> Reply<'_, KeepOutcome> {
        let mut tables = self.tables();
        if !tables.codes.contains_key(&family.id) {
            return reply(KeepOutcome::Refused);
        }
        tables.families.insert(family.id.clone(), family);
        reply(KeepOutcome::Yes)
    }

    fn family<'a>(&'a self, id: &'a TokenId, now: Timestamp) -> Reply<'a, Option<FamilyRecord>> {
        reply(self.tables().families.get(id).filter(|it| it.expires_at > now).cloned())
    }

    fn renew_family<'a>(&'a self, id: &'a TokenId, renewal: Renewal) -> Reply<'a, bool> {
        let mut tables = self.tables();
        let family = tables.families.get_mut(id).filter(|it| it.refresh == renewal.from);
        let is_there = family.is_some();
        if let Some(family) = family {
            family.refresh = renewal.refresh;
            family.refreshed_at = renewal.refreshed_at;
            family.refreshes += 1;
            family.access = renewal.access;
        }
        reply(is_there)
    }

    fn end_family<'a>(&'a self, id: &'a TokenId) -> Reply<'a, bool> {
        let mut tables = self.tables();
        tables.codes.remove(id);
        reply(tables.families.remove(id).is_some())
    }

    fn register(&self, client: ClientRecord, now: Timestamp) -> Reply<'_, KeepOutcome> {
        let mut tables = self.tables();
        let is_old =
            |it: &ClientRecord| it.used_at.is_none() && now.since(it.created_at) > UNUSED_LIFE;
        tables.clients.retain(|_, it| !is_old(it));
        if tables.clients.len() >= REGISTERED_CLIENTS as usize {
            return reply(KeepOutcome::Full);
        }
        tables.clients.insert(client.id.clone(), client);
        reply(KeepOutcome::Yes)
    }

    fn registered<'a>(&'a self, id: &'a str, _: Timestamp) -> Reply<'a, Option<ClientRecord>> {
        reply(self.tables().clients.get(id).cloned())
    }

    fn note_client_use<'a>(&'a self, id: &'a str, now: Timestamp) -> Reply<'a, ()> {
        if let Some(client) = self.tables().clients.get_mut(id) {
            client.used_at = Some(now);
        }
        reply(())
    }
}
