//! The agents of a configuration as a source: whoever is shown its tool can have them do tasks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use gatefold_agent::{AgentModel, AgentModels, AgentSource, CallableAgent, RunLimits};
use gatefold_core::{AgentId, Clock, Principal};
use gatefold_dispatch::{ModelLedger, Source, SourceSetup};
use gatefold_exchange::{Disclosures, Exchange};

use super::own_source;
use super::sources::SourceFactory;
use crate::config::kinds::open_resources::is_seen_by_all;
use crate::config::{AgentConfig, Config, agents_domain};
use crate::models::agent_model;

/// What a model reads about the domain.
const DESCRIPTION: &str = "Other agents, to have tasks done by";

/// How much longer a call may take than an agent's run, for its last answer.
const LAST_ANSWER: Duration = Duration::from_mins(3);

/// The agents that can be called.
pub(super) struct CallableAgents {
    source: Arc<AgentSource>,
    models: Arc<ConfiguredModels>,
    clock: Arc<dyn Clock>,
    built: Mutex<Option<BuiltSource>>,
}

/// The source as it was built last, and for which agents.
#[derive(Clone)]
struct BuiltSource {
    /// As the configuration has them, one for each `AgentConfig`.
    agents: Vec<CallableAgent>,
    source: Arc<dyn Source>,
}

/// The models of the configuration in force.
#[derive(Default)]
struct ConfiguredModels(ArcSwap<Config>);

impl AgentModels for ConfiguredModels {
    fn model(&self, agent: &AgentId, principal: &Principal) -> Option<AgentModel> {
        let config = self.0.load();
        let agent = config.agents.get(agent)?;
        let model = config.usual_model(Some(agent), principal)?;
        match agent_model(model, Some(agent), &config, principal) {
            Ok(model) => Some(model),
            Err(error) => {
                tracing::warn!(model = model.name, %error, "an agent's model cannot be used");
                None
            }
        }
    }
}

impl CallableAgents {
    /// Agents that make their calls through this exchange.
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        exchange: &Arc<Exchange>,
        ledger: Arc<dyn ModelLedger>,
    ) -> Self {
        let models = Arc::<ConfiguredModels>::default();
        let source = Arc::new(AgentSource::new(models.clone(), ledger, clock.clone()));
        source.connect(exchange);
        Self { source, models, clock, built: Mutex::default() }
    }

    /// The source for a configuration, which comes into effect with it. None where no agent can be
    /// called.
    pub(super) fn setup(&self, config: &Config, factory: &SourceFactory) -> Option<SourceSetup> {
        self.models.0.store(Arc::new(config.clone()));
        let agents = callable(config);
        if agents.is_empty() {
            return None;
        }
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let same = built.as_ref().filter(|built| built.agents == agents).cloned();
        let current = same.unwrap_or_else(|| self.build(agents, factory));
        let source = current.source.clone();
        *built = Some(current);
        let setup = own_source::setup(source, AgentSource::KIND, DESCRIPTION);
        Some(SourceSetup { call_deadline: Some(longest_run(config)), ..setup })
    }

    fn build(&self, agents: Vec<CallableAgent>, factory: &SourceFactory) -> BuiltSource {
        self.source.set_agents(agents.clone());
        let (own, clock) = (self.source.clone(), self.clock.clone());
        let manifest = own.manifest();
        let source = own_source::build(own, agents_domain(), manifest, factory, clock);
        BuiltSource { agents, source }
    }
}

/// How long the slowest agent that can be called may take, with its last answer.
fn longest_run(config: &Config) -> Duration {
    let usual = RunLimits::default().run;
    let runs = callable_agents(config).into_iter().map(|(_, agent)| {
        let limits = agent.limits.or(&config.agent_limits);
        let last = limits.turn.unwrap_or_default().max(LAST_ANSWER);
        limits.run.unwrap_or(usual).saturating_add(last)
    });
    runs.max().unwrap_or(usual)
}

/// The agents that others can have work done by. None where a source has the name of what they are called
/// by.
pub(super) fn callable_agents(config: &Config) -> Vec<(&AgentId, &AgentConfig)> {
    let domain = agents_domain();
    if config.sources.iter().any(|source| source.domain == domain) {
        return Vec::new();
    }
    let has_model = |agent: &AgentConfig| agent.model.is_some() || !config.models.is_empty();
    let agents = config.agents.iter();
    agents.filter(|(_, agent)| !agent.is_builder && has_model(agent)).collect()
}

fn callable(config: &Config) -> Vec<CallableAgent> {
    let agents = callable_agents(config).into_iter();
    agents
        .map(|(id, agent)| CallableAgent {
            id: id.clone(),
            description: agent.description.clone().unwrap_or_default(),
            disclosure: Some(disclosure(agent)),
            is_everybodys: is_everybodys(config, id),
        })
        .collect()
}

/// Whether no rule hides an agent from anybody: only such are named to all.
fn is_everybodys(config: &Config, id: &AgentId) -> bool {
    is_seen_by_all(&config.policy, &agents_domain(), &AgentSource::resource(id))
}

/// An agent of ours is shown its tools by kind, unless it says otherwise.
fn disclosure(agent: &AgentConfig) -> String {
    agent.disclosure.clone().unwrap_or_else(|| Disclosures::TYPED.to_owned())
}
