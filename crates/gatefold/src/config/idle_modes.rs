//! Modes without effect: they act in the disclosure `typed` alone, and nobody is shown that.

use std::fmt;

use gatefold_exchange::Disclosures;

use super::tool_modes::{MODES, SetModes};
use super::{AgentConfig, Config};

/// A mode that is set and has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleMode {
    pub what: String,
    /// What gives it one.
    pub fix: String,
}

impl fmt::Display for IdleMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.fix)
    }
}

impl Config {
    /// What is set and shows nobody anything in another way, unless a request names `typed`.
    pub fn idle_modes(&self) -> Vec<IdleMode> {
        let default = self.disclosure.default.as_str();
        let is_typed = |agent: &AgentConfig| {
            agent.disclosure.as_deref().unwrap_or(default) == Disclosures::TYPED
        };
        let of_clients = self.clients.values().filter_map(|client| client.disclosure.as_deref());
        let has_typed = default == Disclosures::TYPED
            || of_clients.into_iter().any(|name| name == Disclosures::TYPED)
            || self.agents.values().any(is_typed);
        let own = if has_typed { Vec::new() } else { self.changed_modes() };
        let idle = own.into_iter().map(|(key, variable)| IdleMode {
            what: format!(
                "`disclosure.{key}` (or `{variable}`) counts in the disclosure `typed` alone, and the \
                 default is `{default}`"
            ),
            fix: "set `disclosure.default = \"typed\"`, or have clients ask for `/mcp?disclosure=typed`"
                .to_owned(),
        });
        let agents = self
            .agents
            .iter()
            .filter(|(_, agent)| agent.modes != SetModes::default() && !is_typed(agent));
        let of_agents = agents.map(|(name, agent)| {
            let own = agent.disclosure.as_deref().unwrap_or(default);
            IdleMode {
                what: format!(
                    "`agents.{name}.model_config_json` counts in the disclosure `typed` alone, and the \
                     agent has `{own}`"
                ),
                fix: "set its `disclosure = \"typed\"`".to_owned(),
            }
        });
        idle.chain(of_agents).collect()
    }

    /// The modes that are not the usual ones, by their keys and their variables.
    fn changed_modes(&self) -> Vec<(&'static str, &'static str)> {
        let changed = MODES.iter().filter(|mode| mode.is_set(&self.disclosure.modes));
        changed.map(|mode| (mode.key, mode.variable)).collect()
    }
}
