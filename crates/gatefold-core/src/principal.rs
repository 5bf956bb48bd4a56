use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::name::text_name;
use crate::{Digest, Domain, Narrowing, Secret, TokenGrant};

text_name! {
    /// A person or a service account.
    UserId
}
text_name! {
    /// An organisation that users belong to.
    OrganisationId
}
text_name! {
    /// Users who share what is learnt from use: an organisation, or a single user without one.
    Tenant
}
text_name! {
    /// An agent that acts for a user.
    AgentId
}
text_name! {
    /// The name that a client gives itself, such as `claude-code`. It is a claim, not a proof: it
    /// may be recorded, but grants nothing.
    ClientName
}

text_name! {
    /// A right of a principal, by its name in rules: a role or a scope.
    Right
}

/// Who makes a request.
///
/// All of it was verified when the request was admitted. A client's unverified claims, such as its
/// name, are not part of it and grant nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    /// The stable subject: it stays the same when a person's name or address changes.
    pub user: UserId,
    /// The organisation that the user currently acts for, among those they belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organisation: Option<OrganisationId>,
    #[serde(default, skip_serializing_if = "Rights::is_empty")]
    pub rights: Rights,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    /// The access token that proves it, if there is one. What a token began belongs to that token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Arc<TokenGrant>>,
    /// What the client sent for sources. What such a credential began belongs to it, and it is kept
    /// nowhere.
    #[serde(skip)]
    pub sent: ClientCredentials,
}

/// The rights of a principal: a sorted set, cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Vec<Right>", into = "Vec<Right>")]
pub struct Rights(Option<Arc<[Right]>>);

impl Rights {
    /// An empty set. It allocates nothing.
    pub const fn none() -> Self {
        Self(None)
    }

    pub fn has(&self, right: &Right) -> bool {
        self.as_slice().binary_search(right).is_ok()
    }

    /// The rights that are also in the other set.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        self.as_slice().iter().filter(|right| other.has(right)).cloned().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn as_slice(&self) -> &[Right] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl FromIterator<Right> for Rights {
    fn from_iter<I: IntoIterator<Item = Right>>(rights: I) -> Self {
        let mut rights: Vec<Right> = rights.into_iter().collect();
        rights.sort();
        rights.dedup();
        Self((!rights.is_empty()).then(|| rights.into()))
    }
}

impl From<Vec<Right>> for Rights {
    fn from(rights: Vec<Right>) -> Self {
        rights.into_iter().collect()
    }
}

impl From<Rights> for Vec<Right> {
    fn from(rights: Rights) -> Self {
        rights.as_slice().to_vec()
    }
}

/// What a client sent with a request that lets its user in at a source: the source's own credential, or
/// the token that it is exchanged for. Two with the same user and digest are equal.
#[derive(Debug)]
pub struct ClientCredential {
    pub user: UserId,
    /// What tells it apart: of a credential that is sent on, its value; of a token, whose it is and
    /// what for, since clients renew tokens.
    pub digest: Digest,
    /// What is sent on. None of a token that is exchanged: it goes to nobody but its provider.
    pub value: Option<Secret>,
}

impl PartialEq for ClientCredential {
    fn eq(&self, other: &Self) -> bool {
        (&self.user, self.digest) == (&other.user, other.digest)
    }
}

impl Eq for ClientCredential {}

impl Hash for ClientCredential {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.user, self.digest).hash(state);
    }
}

/// What came with one request: at most one credential for each source, in the order of their domains.
/// Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ClientCredentials(Option<Arc<[SourceCredential]>>);

type SourceCredential = (Domain, Arc<ClientCredential>);

impl ClientCredentials {
    /// None. It allocates nothing.
    pub const fn none() -> Self {
        Self(None)
    }

    pub fn of(&self, domain: &Domain) -> Option<&Arc<ClientCredential>> {
        let own = self.as_slice();
        own.binary_search_by(|(other, _)| other.cmp(domain)).ok().map(|at| &own[at].1)
    }

    /// These, and those of `other` for the sources that have none.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let others = other.as_slice().iter().filter(|(domain, _)| self.of(domain).is_none());
        self.as_slice().iter().chain(others).cloned().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub fn as_slice(&self) -> &[SourceCredential] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl FromIterator<(Domain, ClientCredential)> for ClientCredentials {
    fn from_iter<I: IntoIterator<Item = (Domain, ClientCredential)>>(all: I) -> Self {
        all.into_iter().map(|(domain, own)| (domain, Arc::new(own))).collect()
    }
}

impl FromIterator<SourceCredential> for ClientCredentials {
    fn from_iter<I: IntoIterator<Item = SourceCredential>>(all: I) -> Self {
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all.dedup_by(|(one, _), (other, _)| one == other);
        Self((!all.is_empty()).then(|| all.into()))
    }
}

impl Principal {
    /// The one user of a gateway without accounts: anybody who can reach it on this machine.
    pub fn local() -> Self {
        Self::user(UserId::new("local"))
    }

    pub fn user(user: UserId) -> Self {
        Self {
            user,
            organisation: None,
            rights: Rights::none(),
            agent: None,
            token: None,
            sent: ClientCredentials::none(),
        }
    }

    /// The same, acting through an agent. `None` if it acts through another one already.
    pub fn acting_as(&self, agent: &AgentId) -> Option<Self> {
        let is_free = self.agent.as_ref().is_none_or(|own| own == agent);
        is_free.then(|| Self { agent: Some(agent.clone()), ..self.clone() })
    }

    /// What its token leaves of what it may see and call, if that is not everything.
    pub fn narrowing(&self) -> Option<&Narrowing> {
        let narrowing = &self.token.as_ref()?.narrowing;
        (!narrowing.is_none()).then_some(narrowing)
    }

    /// The active organisation, otherwise the user: `organisation:acme`, `user:ann`.
    pub fn tenant(&self) -> Tenant {
        Tenant::new(match &self.organisation {
            Some(organisation) => format!("organisation:{organisation}"),
            None => format!("user:{}", self.user),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_the_active_organisation_or_else_the_user() {
        let ann = Principal::user(UserId::new("acme"));
        assert_eq!(ann.tenant().as_str(), "user:acme");
        let member = Principal { organisation: Some(OrganisationId::new("acme")), ..ann };
        assert_eq!(member.tenant().as_str(), "organisation:acme");
    }

    #[test]
    fn rights_are_a_set_whatever_their_order() {
        let rights =
            |names: &[&str]| names.iter().map(|name| Right::new(*name)).collect::<Rights>();
        let some = rights(&["write", "read", "write"]);
        assert_eq!(some, rights(&["read", "write"]));
        assert_eq!(rights(&[]), Rights::none());
        assert!(some.has(&Right::new("read")) && !some.has(&Right::new("rea")));
        assert_eq!(some.within(&rights(&["admin", "read"])), rights(&["read"]));
        let text = serde_json::to_string(&some).unwrap();
        assert_eq!(text, r#"["read","write"]"#);
        assert_eq!(serde_json::from_str::<Rights>(&text).unwrap(), some);
    }
}
