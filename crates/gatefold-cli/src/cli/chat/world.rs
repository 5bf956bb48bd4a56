//! What a chat is about: a gateway, and the configuration that has the models.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use gatefold::config::{AgentConfig, Config};
use gatefold::{App, Environment};
use gatefold_agent::{ModelMeter, SurfaceTools};
use gatefold_core::{AgentId, ClientName, Clock, Principal};
use gatefold_dispatch::{Caller, NoPeer, Peer, RequestMeta, RunId, SharedLabel, UseOrigin};
use gatefold_exchange::{Audience, Disclosures, Scope};
use gatefold_operations::complete;

use crate::cli::arguments::SharedOptions;
use crate::cli::chosen_model::{ChosenModel, ModelChooser};
use crate::cli::demo::{DemoGateway, Places};
use crate::cli::failure::usage;
use crate::cli::output::Output;
use crate::cli::progress::Progress;
use crate::cli::{catalogue, session, stdio};

use super::configuration;
use super::tools::{CallLines, ChatTools, Persona};

/// The client's name in the records of the calls.
const CLIENT: &str = "gatefold-chat";

pub(super) struct World {
    pub(super) app: Arc<App>,
    /// Has the models. Of the demonstration it is not the gateway's.
    config: Config,
    /// Who may use the models.
    principal: Arc<Principal>,
    environment: Environment,
    demo: Option<DemoGateway>,
}

/// Through whom and how somebody talks.
#[derive(Debug, Clone, Default)]
pub(super) struct Stance {
    pub(super) agent: Option<AgentId>,
    /// How tools are shown, if the person said so.
    pub(super) disclosure: Option<String>,
}

impl World {
    pub(super) async fn open(
        is_demo: bool,
        shared: &SharedOptions,
        environment: &Environment,
    ) -> anyhow::Result<Self> {
        session::refuse_inside(environment)?;
        let config = configuration(shared, environment)?;
        let demo = if is_demo {
            Some(DemoGateway::open(Places::of(shared, environment)?).await?)
        } else {
            None
        };
        let app = match &demo {
            Some(demo) => demo.app.clone(),
            None => session::open_with(config.clone(), shared, environment).await?.app,
        };
        let (principal, environment) = (config.local_user(), environment.clone());
        Ok(Self { app, config, principal, environment, demo })
    }

    /// Asks the sources that nothing is known of.
    pub(super) async fn learn(&self, output: &Output) {
        let left_out = complete(&self.app, &Progress::new(output, "learning"), |_| false).await;
        catalogue::warn_of(&left_out, output);
    }

    pub(super) async fn close(self) -> anyhow::Result<()> {
        if let Some(demo) = self.demo {
            return demo.close().await;
        }
        self.app.close().await;
        Ok(())
    }

    /// The place of a file that the person names. Where no shell did it, `~` is replaced here.
    pub(super) fn path(&self, named: &Path) -> PathBuf {
        let directory = self.environment.directory();
        match named.to_str() {
            Some(text) => self.environment.resolve(text, directory),
            None => directory.join(named),
        }
    }

    pub(super) fn models(&self) -> ModelChooser<'_> {
        let (config, principal) = (&self.config, &*self.principal);
        ModelChooser { config, principal, environment: &self.environment }
    }

    /// Fails if there is no such agent, or no such way to show tools.
    pub(super) fn check(&self, stance: &Stance) -> anyhow::Result<()> {
        self.audience(stance).map(drop)
    }

    /// The tools of a conversation. Its label is its own, as a session's is.
    pub(super) fn tools<'o>(
        &self,
        stance: &Stance,
        peer: Option<Arc<dyn Peer>>,
        lines: CallLines,
        output: &'o Output,
    ) -> anyhow::Result<ChatTools<'o>> {
        let audience = self.audience(stance)?;
        let (peer, audience) = match peer {
            Some(peer) => {
                let abilities = peer.capabilities().abilities();
                (peer, audience.of_client(abilities))
            }
            None => (Arc::new(NoPeer) as Arc<dyn Peer>, audience),
        };
        let meta = RequestMeta { client: Some(ClientName::new(CLIENT)), ..RequestMeta::default() };
        let (meta, label) = (Arc::new(meta), SharedLabel::default());
        let caller = Caller { peer, meta, label, ..Caller::silent() };
        let user = self.app.local_user();
        let acting = Principal { agent: stance.agent.clone(), ..(*user).clone() };
        let exchange = self.app.exchange().clone();
        let surface = SurfaceTools::new(exchange, audience, Arc::new(acting), caller);
        let is_told = self.agent(stance).is_some_and(|agent| !agent.instructions.is_empty());
        let persona = if is_told { Persona::Agents } else { Persona::Generic };
        let (made, is_alone) = (Mutex::default(), AtomicBool::default());
        Ok(ChatTools { surface, persona, output, lines, made, is_alone })
    }

    pub(super) fn clock(&self) -> Arc<dyn Clock> {
        self.app.clock()
    }

    /// Counts what a run spends, for whoever talks.
    pub(super) fn meter(&self, stance: &Stance, model: &ChosenModel, run: RunId) -> ModelMeter {
        let (ledger, chain) = (Arc::new(self.app.store().clone()), model.runs.chain.clone());
        let (user, agent) = (self.app.local_user(), stance.agent.as_ref());
        ModelMeter::new(ledger, &user, agent, UseOrigin::Run(run), chain)
    }

    /// The agent as it is configured.
    pub(super) fn agent(&self, stance: &Stance) -> Option<AgentConfig> {
        self.app.config().agents.get(stance.agent.as_ref()?).cloned()
    }

    fn audience(&self, stance: &Stance) -> anyhow::Result<Audience> {
        let (exchange, asked) = (self.app.exchange(), stance.disclosure.as_deref());
        let audience = match &stance.agent {
            None => exchange.audience(Scope::Everything, asked.or(Some(Disclosures::TYPED))),
            Some(id) => {
                let own = self.agent(stance).and_then(|agent| agent.disclosure);
                let usual = own.is_none().then_some(Disclosures::TYPED);
                let audience = exchange.agent_audience(id, asked.or(usual));
                let audience =
                    audience.filter(|_| exchange.shows_agent(&self.app.local_user(), id));
                let unknown = || usage(stdio::unknown_agent(id.as_str(), &self.app).to_string());
                audience.ok_or_else(unknown)?
            }
        };
        let audience = audience.map_err(|error| usage(error.to_string()))?;
        Ok(audience.told_all())
    }
}
