//! Through which agents a caller may speak.

use gatefold::App;
use gatefold::config::{AgentConfig, Config};
use gatefold_core::{AgentId, Principal};

/// The agents that a caller finds and that have a model which it may use, by name. One that it does not
/// find looks as if there were none.
pub(crate) fn find_agents(app: &App, principal: &Principal) -> Vec<AgentId> {
    let config = app.config();
    let may_speak = |(id, agent): &(&AgentId, &AgentConfig)| {
        principal.acting_as(id).is_some()
            && app.exchange().shows_agent(principal, id)
            && has_model(&config, agent, principal)
    };
    config.agents.iter().filter(may_speak).map(|(id, _)| id.clone()).collect()
}

/// Whether a caller may speak without an agent. One whose token is an agent's may not.
pub(crate) fn is_free(app: &App, principal: &Principal) -> bool {
    principal.agent.is_none() && has_any_model(&app.config(), principal)
}

fn has_model(config: &Config, agent: &AgentConfig, principal: &Principal) -> bool {
    match &agent.model {
        Some(choice) => config.chosen_model(choice, principal).is_some(),
        None => has_any_model(config, principal),
    }
}

fn has_any_model(config: &Config, principal: &Principal) -> bool {
    config.models_for(principal).any(|model| model.absent.is_none())
}
