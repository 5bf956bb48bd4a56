//! Agents: a persona, and the disclosures under its own settings.
//!
//! What an agent may see and call is not decided here: its principal names it, and the policy has
//! rules for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use gatefold_core::{AgentId, Principal, Right};

use crate::audience::{AudienceAgent, Choice};
use crate::{Audience, Disclosures, Scope, UnknownDisclosure};

/// How one agent is shown tools.
#[derive(Debug)]
pub struct AgentProfile {
    /// What its model is told before anything else. May be empty.
    pub instructions: Arc<str>,
    /// Who finds it: whoever has one of these rights. Everybody, if there is none.
    pub visible_to: Vec<Right>,
    /// The disclosure for its requests that name none. Otherwise that is its client's, or the
    /// default.
    pub disclosure: Option<String>,
    /// All disclosures, with the agent's settings.
    pub disclosures: Disclosures,
}

/// The agents of a configuration, by name.
#[derive(Debug, Default)]
pub struct AgentProfiles(BTreeMap<AgentId, AgentProfile>);

impl AgentProfiles {
    /// Fails if an agent names a disclosure that is not registered.
    pub fn new(
        profiles: impl IntoIterator<Item = (AgentId, AgentProfile)>,
    ) -> Result<Self, UnknownDisclosure> {
        let profiles: BTreeMap<_, _> = profiles.into_iter().collect();
        for profile in profiles.values() {
            profile.disclosures.audience(Scope::Everything, profile.disclosure.as_deref())?;
        }
        Ok(Self(profiles))
    }

    /// Whether a principal finds an agent.
    pub(crate) fn shows(&self, principal: &Principal, agent: &AgentId) -> bool {
        let rights = self.0.get(agent).map(|profile| profile.visible_to.as_slice());
        rights.is_some_and(|wanted| {
            wanted.is_empty() || wanted.iter().any(|right| principal.rights.has(right))
        })
    }

    /// An audience for an agent's disclosure of this name, or for the one that it has if none is
    /// named. `None` if there is no such agent.
    pub(crate) fn audience(
        &self,
        agent: &AgentId,
        disclosure: Option<&str>,
    ) -> Option<Result<Audience, UnknownDisclosure>> {
        let (agent, profile) = self.0.get_key_value(agent)?;
        let own = profile.disclosure.as_deref();
        let audience = profile.disclosures.audience(Scope::Everything, disclosure.or(own));
        let choice = match (disclosure, own) {
            (Some(_), _) => Choice::Named,
            (None, Some(_)) => Choice::Agents,
            (None, None) => Choice::Usual,
        };
        let agent = AudienceAgent { id: agent.clone(), instructions: profile.instructions.clone() };
        Some(audience.map(|audience| audience.of_agent(agent, choice)))
    }
}
