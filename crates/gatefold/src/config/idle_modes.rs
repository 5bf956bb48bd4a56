//! Modes without effect: they act in the disclosure `typed` alone, and nobody is shown that.

use gatefold_exchange::Disclosures;

use super::tool_modes::{MODES, SetModes};
use super::{AgentConfig, Config};

impl Config {
    /// What is set and shows nobody anything in another way, unless a request names `typed`.
    pub fn idle_modes(&self) -> Vec<String> {
        let default = self.disclosure.default.as_str();
        let is_typed = |agent: &AgentConfig| {
            agent.disclosure.as_deref().unwrap_or(default) == Disclosures::TYPED
        };
        let of_clients = self.clients.values().filter_map(|client| client.disclosure.as_deref());
        let has_typed = default == Disclosures::TYPED
            || of_clients.into_iter().any(|name| name == Disclosures::TYPED)
            || self.agents.values().any(is_typed);
        let own = if has_typed { Vec::new() } else { self.changed_modes() };
        let idle = own.into_iter().map(|(key, variable)| {
            format!(
                "`disclosure.{key}` (or `{variable}`) counts in the disclosure `typed` alone, and the \
                 default is `{default}`: set `disclosure.default = \"typed\"`, or have clients ask for \
                 `/mcp?disclosure=typed`"
            )
        });
        let agents = self
            .agents
            .iter()
            .filter(|(_, agent)| agent.modes != SetModes::default() && !is_typed(agent));
        let of_agents = agents.map(|(name, agent)| {
            let own = agent.disclosure.as_deref().unwrap_or(default);
            format!(
                "`agents.{name}.model_config_json` counts in the disclosure `typed` alone, and the agent \
                 has `{own}`: set its `disclosure = \"typed\"`"
            )
        });
        idle.chain(of_agents).collect()
    }

    /// The modes that are not the usual ones, by their keys and their variables.
    fn changed_modes(&self) -> Vec<(&'static str, &'static str)> {
        let changed = MODES.iter().filter(|mode| mode.is_set(&self.disclosure.modes));
        changed.map(|mode| (mode.key, mode.variable)).collect()
    }
}
