use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::name::text_name;

text_name! {
    /// A person or a service account.
    UserId
}
text_name! {
    /// An organisation that users belong to.
    OrganisationId
}
text_name! {
    /// Those who share what is learnt from use: an organisation, or a user without any.
    Tenant
}
text_name! {
    /// An agent that acts for a user.
    AgentId
}
text_name! {
    /// The name a client gives itself, such as `claude-code`. It is a claim, not a proof.
    ClientName
}

/// Who asks.
///
/// Two principals that are equal see the same view; the view cache rests on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Principal {
    pub user: UserId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organisations: Vec<OrganisationId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientName>,
}

impl Principal {
    /// The one user of a gateway without accounts: whoever can reach it on this machine.
    pub fn local() -> Self {
        Self::user(UserId::new("local"))
    }

    pub fn user(user: UserId) -> Self {
        Self { user, organisations: Vec::new(), agent: None, client: None }
    }

    /// The first of its organisations, else the user: `organisation:acme`, `user:ann`.
    pub fn tenant(&self) -> Tenant {
        Tenant::new(match self.organisations.first() {
            Some(organisation) => format!("organisation:{organisation}"),
            None => format!("user:{}", self.user),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_the_first_organisation_or_else_the_user() {
        let ann = Principal::user(UserId::new("acme"));
        assert_eq!(ann.tenant().as_str(), "user:acme");
        let organisations = ["acme", "other"].map(OrganisationId::new).to_vec();
        let member = Principal { organisations, ..ann };
        assert_eq!(member.tenant().as_str(), "organisation:acme");
    }
}
