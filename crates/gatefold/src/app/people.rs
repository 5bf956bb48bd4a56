//! Who people are here, by the configuration in force.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use gatefold_core::{Domain, Narrowing, Principal, Rights, TokenGrant, UserId};
use gatefold_identity::IssuerSubject;
use gatefold_oauth::TokenHolder;

use super::agents::callable_agents;
use crate::config::{Config, PeopleGroup, agents_domain};

/// The people of a configuration. A reload replaces them.
#[derive(Default)]
pub(super) struct ConfiguredPeople(ArcSwap<KnownPeople>);

/// As many as the configuration has.
#[derive(Default)]
struct KnownPeople {
    /// Where agents are called, if they are.
    agents: Option<Domain>,
    users: HashMap<IssuerSubject, UserId>,
    rights: HashMap<UserId, Rights>,
}

impl ConfiguredPeople {
    pub(super) fn replace(&self, config: &Config) {
        let named = |user: &UserId| Some((config.users[user].subject.clone()?, user.clone()));
        let groups = |user: &UserId| {
            let groups = config.users[user].groups.iter();
            groups.map(|PeopleGroup(name)| PeopleGroup::right(name)).collect::<Rights>()
        };
        let rights = config.users.keys().map(|user| (user.clone(), groups(user)));
        self.0.store(Arc::new(KnownPeople {
            agents: (!callable_agents(config).is_empty()).then(agents_domain),
            users: config.users.keys().filter_map(named).collect(),
            rights: rights.filter(|(_, rights)| !rights.is_empty()).collect(),
        }));
    }

    /// Who somebody is here whom an issuer knows, with the groups that it names.
    pub(super) fn principal(&self, holder: &TokenHolder) -> Principal {
        let user = self.user(&subject(holder));
        Principal { rights: rights(&holder.groups), ..Principal::user(user) }
    }

    /// The name here of somebody whom an issuer knows.
    pub(super) fn user(&self, subject: &IssuerSubject) -> UserId {
        let named = self.0.load().users.get(subject).cloned();
        named.unwrap_or_else(|| unlisted(subject))
    }

    /// What a token is narrowed to that is bound to an agent: it reaches other agents only where it names them.
    pub(super) fn bound(&self, principal: Arc<Principal>) -> Arc<Principal> {
        let known = self.0.load();
        let token = principal.token.as_ref().filter(|_| principal.agent.is_some());
        let Some((token, domain)) = token.zip(known.agents.as_ref()) else { return principal };
        let only_named_of = Some(domain.clone());
        let narrowing = Narrowing { only_named_of, ..token.narrowing.clone() };
        let token = Some(Arc::new(TokenGrant { narrowing, ..TokenGrant::clone(token) }));
        Arc::new(Principal { token, ..Principal::clone(&principal) })
    }

    /// The same principal, in the groups that the configuration puts its user in as well.
    pub(super) fn in_groups(&self, principal: Arc<Principal>) -> Arc<Principal> {
        let known = self.0.load();
        let Some(groups) = known.rights.get(&principal.user) else { return principal };
        let all = principal.rights.as_slice().iter().chain(groups.as_slice());
        Arc::new(Principal { rights: all.cloned().collect(), ..(*principal).clone() })
    }

    /// The same principal without the groups that the configuration puts its user in.
    pub(super) fn without_groups(&self, principal: &Principal) -> Principal {
        let known = self.0.load();
        let own = principal.rights.as_slice().iter();
        let rights = match known.rights.get(&principal.user) {
            Some(groups) => own.filter(|right| !groups.has(right)).cloned().collect(),
            None => principal.rights.clone(),
        };
        Principal { rights, ..principal.clone() }
    }

    /// The local user.
    pub(super) fn local(&self) -> Arc<Principal> {
        self.in_groups(Arc::new(Principal::local()))
    }
}

impl Config {
    /// The local user, in the groups that this configuration puts them in.
    pub fn local_user(&self) -> Arc<Principal> {
        let people = ConfiguredPeople::default();
        people.replace(self);
        people.local()
    }
}

/// The holder of a token as its issuer knows them.
pub(super) fn subject(holder: &TokenHolder) -> IssuerSubject {
    IssuerSubject { issuer: holder.issuer.to_string(), subject: holder.subject.clone() }
}

/// The rights of somebody whom an issuer puts into groups.
pub(super) fn rights(groups: &[String]) -> Rights {
    groups.iter().map(|name| PeopleGroup::right(name)).collect()
}

/// The name of somebody whom the configuration does not name. It has the issuer's host and path, so
/// that nobody becomes somebody else's namesake.
fn unlisted(IssuerSubject { issuer, subject }: &IssuerSubject) -> UserId {
    let place = issuer.split_once("://").map_or(issuer.as_str(), |(_, place)| place);
    UserId::new(format!("{subject}@{}", place.trim_end_matches('/')))
}
