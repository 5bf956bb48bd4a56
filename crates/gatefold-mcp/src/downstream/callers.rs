//! What tells the callers of sessions and calls apart.

use gatefold_core::{AgentId, OrganisationId, Principal, TokenId, UserId};

/// Whether one principal's sessions and calls are the other's too. What belongs to a token is
/// nobody else's, not even its user's with another token, and likewise with the credentials that a
/// client sends for sources. Rights are not compared: they may change
/// during a session, and each request is judged by its own.
pub(super) fn is_same_caller(one: &Principal, other: &Principal) -> bool {
    caller(one) == caller(other) && one.sent == other.sent
}

/// What tells callers apart, as far as they proved it: anybody can make up a credential for a source.
pub(super) type CallerKey<'a> =
    (&'a UserId, Option<&'a OrganisationId>, Option<&'a AgentId>, Option<&'a TokenId>);

pub(super) fn caller(principal: &Principal) -> CallerKey<'_> {
    let Principal { user, organisation, agent, token, rights: _, sent: _ } = principal;
    (user, organisation.as_ref(), agent.as_ref(), token.as_ref().map(|token| &token.id))
}

#[cfg(test)]
mod tests {
    use gatefold_core::{ClientCredential, Digest, Domain, Secret};

    use super::*;

    #[test]
    fn a_credential_for_a_source_has_sessions_of_its_own_and_no_further_share_of_them() {
        let with = |digest| {
            let (user, value) = (UserId::new("local"), Secret::new("x"));
            let credential =
                ClientCredential { user, digest: Digest::new([digest; 32]), value: Some(value) };
            let sent = [(Domain::from_key("tickets"), credential)].into_iter().collect();
            Principal { sent, ..Principal::local() }
        };
        assert!(is_same_caller(&with(1), &with(1)));
        assert!(!is_same_caller(&with(1), &with(2)));
        assert!(!is_same_caller(&with(1), &Principal::local()));
        assert_eq!(caller(&with(1)), caller(&with(2)));
    }
}
