//! What an issuer keeps, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use futures::future::ready;
use gatefold_core::{Digest, Timestamp, TokenId, UserId};
use gatefold_identity::limits::{REGISTERED_CLIENTS, UNUSED_LIFE};
use gatefold_identity::{
    BrowserSession, ClientRecord, CodeRecord, CodeState, FamilyRecord, FamilyRenewal,
    IssuerSubject, KeepOutcome, NewPassword, People, ProvidedPeople, ProvidedPerson, ProviderVisit,
    RegisteredClients, StoreAnswer, TokenFamilies,
};

#[derive(Default)]
pub(crate) struct MemoryStore(Mutex<Tables>);

#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) passwords: HashMap<UserId, String>,
    pub(crate) links: HashMap<TokenId, (Digest, UserId, Timestamp)>,
    pub(crate) sessions: HashMap<TokenId, BrowserSession>,
    pub(crate) people: HashMap<IssuerSubject, ProvidedPerson>,
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

fn reply<'a, T: Send + 'a>(value: T) -> StoreAnswer<'a, T> {
    Box::pin(ready(Ok(value)))
}

impl People for MemoryStore {
    fn password<'a>(&'a self, user: &'a UserId) -> StoreAnswer<'a, Option<String>> {
        reply(self.tables().passwords.get(user).cloned())
    }

    fn password_link<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<UserId>> {
        let tables = self.tables();
        let link = tables.links.get(id).filter(|link| link.0 == hash && link.2 > now);
        reply(link.map(|link| link.1.clone()))
    }

    fn set_password(&self, new: NewPassword, now: Timestamp) -> StoreAnswer<'_, Option<UserId>> {
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

    fn open_session(&self, session: BrowserSession, _: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        self.tables().sessions.insert(session.id.clone(), session);
        reply(KeepOutcome::Kept)
    }

    fn session<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<BrowserSession>> {
        reply(self.tables().sessions.get(id).filter(|it| it.expires_at > now).cloned())
    }

    fn close_session<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, ()> {
        self.tables().sessions.remove(id);
        reply(())
    }
}

impl ProvidedPeople for MemoryStore {
    fn note_provided_person(
        &self,
        person: ProvidedPerson,
        _: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        self.tables().people.insert(person.subject.clone(), person);
        reply(KeepOutcome::Kept)
    }

    fn keep_visit(&self, visit: ProviderVisit, _: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        self.tables().visits.insert(visit.id.clone(), visit);
        reply(KeepOutcome::Kept)
    }

    fn take_visit<'a>(
        &'a self,
        id: &'a TokenId,
        hash: Digest,
        browser: Digest,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<String>> {
        let mut tables = self.tables();
        let is_it =
            |it: &&ProviderVisit| it.hash == hash && it.browser == browser && it.expires_at > now;
        let request = tables.visits.get(id).filter(is_it).map(|it| it.request.clone());
        if request.is_some() {
            tables.visits.remove(id);
        }
        reply(request)
    }
}

impl TokenFamilies for MemoryStore {
    fn keep_code(&self, code: CodeRecord, _: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        self.tables().codes.insert(code.id.clone(), (code, false));
        reply(KeepOutcome::Kept)
    }

    fn take_code<'a>(&'a self, id: &'a TokenId, hash: Digest) -> StoreAnswer<'a, CodeState> {
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

    fn begin_family(&self, family: FamilyRecord, _: Timestamp) -> StoreAnswer<'_, KeepOutcome> {
        let mut tables = self.tables();
        if !tables.codes.contains_key(&family.id) {
            return reply(KeepOutcome::Refused);
        }
        tables.families.insert(family.id.clone(), family);
        reply(KeepOutcome::Kept)
    }

    fn family<'a>(
        &'a self,
        id: &'a TokenId,
        now: Timestamp,
    ) -> StoreAnswer<'a, Option<FamilyRecord>> {
        reply(self.tables().families.get(id).filter(|it| it.expires_at > now).cloned())
    }

    fn renew_family<'a>(
        &'a self,
        id: &'a TokenId,
        renewal: FamilyRenewal,
    ) -> StoreAnswer<'a, bool> {
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

    fn end_family<'a>(&'a self, id: &'a TokenId) -> StoreAnswer<'a, bool> {
        let mut tables = self.tables();
        tables.codes.remove(id);
        reply(tables.families.remove(id).is_some())
    }
}

impl RegisteredClients for MemoryStore {
    fn register_client(
        &self,
        client: ClientRecord,
        now: Timestamp,
    ) -> StoreAnswer<'_, KeepOutcome> {
        let mut tables = self.tables();
        let is_old =
            |it: &ClientRecord| it.used_at.is_none() && now.since(it.created_at) > UNUSED_LIFE;
        tables.clients.retain(|_, it| !is_old(it));
        if tables.clients.len() >= REGISTERED_CLIENTS as usize {
            return reply(KeepOutcome::Full);
        }
        tables.clients.insert(client.id.clone(), client);
        reply(KeepOutcome::Kept)
    }

    fn registered_client<'a>(
        &'a self,
        id: &'a str,
        _: Timestamp,
    ) -> StoreAnswer<'a, Option<ClientRecord>> {
        reply(self.tables().clients.get(id).cloned())
    }

    fn note_client_use<'a>(&'a self, id: &'a str, now: Timestamp) -> StoreAnswer<'a, ()> {
        if let Some(client) = self.tables().clients.get_mut(id) {
            client.used_at = Some(now);
        }
        reply(())
    }
}
