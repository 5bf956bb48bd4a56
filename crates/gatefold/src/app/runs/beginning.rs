//! How a run begins: who may have it, what it is told and offered, and what its journal says first.

use std::sync::Arc;

use gatefold_agent::{
    AgentModel, AgentTools as _, EarlierTurns, RunJournal, RunLimits, SurfaceTools, ThreadHistory,
    Transcript, earlier_events, fits_journal, thread_title,
};
use gatefold_core::{AgentId, ClientName, Principal};
use gatefold_dispatch::{
    Caller, DataOwner, Journal as _, NewRun, NewRunEvent, NewThread, RequestMeta, RunId, RunKind,
    RunOutcome, SharedLabel, ThreadId, Threads as _,
};
use gatefold_exchange::{Audience, Disclosures, Scope};
use gatefold_model::{History, Turn, UserMessage};
use tokio::sync::broadcast;

use super::live::{LiveState, RunPiece};
use super::prepared::{DrivenRun, PreparedRun};
use super::setting::RunSetting;
use super::tools::HostedTools;
use super::{
    BeginRunError, BegunRun, LiveRun, NewAgentRun, RunConversation, RunHost, RunLife, owner_of_runs,
};
use crate::config::{AgentConfig, Config};
use crate::models::agent_model;

/// What was said before a run.
struct EarlierSaid {
    thread: Option<ThreadId>,
    said: ThreadHistory,
    /// Where in it its person said something.
    requests: Vec<usize>,
}

/// A run that nobody drives so far.
struct StartingRun {
    id: RunId,
    owner: DataOwner,
    thread: Option<ThreadId>,
    /// What its journal has before the loop begins.
    first: Vec<NewRunEvent>,
    setting: RunSetting,
    prepared: PreparedRun,
    conversation: Transcript,
    limits: RunLimits,
}

pub(super) async fn begin(
    host: &Arc<RunHost>,
    run: NewAgentRun,
) -> Result<BegunRun, BeginRunError> {
    let owner = owner_of_runs(&run.principal);
    host.check_room(&owner)?;
    if !fits_journal(&run.message) {
        return Err(BeginRunError::TooLarge);
    }
    let (earlier, agent) = host.earlier(&owner, &run).await?;
    let life = run.life;
    let setting = host.setting(&run, agent).await?;
    let prepared = host.prepare(&setting, run.principal.clone())?;
    let turns = EarlierTurns { turns: earlier.said.turns(), requests: earlier.requests.clone() };
    prepared.tools.surface.choose_for(turns, &run.message).await;
    let offer = prepared.tools.offer().await.map_err(BeginRunError::NoTools)?;
    let limits = RunLimits::for_model(&prepared.model.room, &offer, &prepared.model.limits);
    let mut first = vec![setting.event()];
    if let RunConversation::Sent(turns) = &run.conversation {
        first.extend(earlier_events(turns).ok_or(BeginRunError::TooLarge)?);
    }
    let (id, thread) = host.begin_journal(&owner, &run, &earlier, setting.agent.as_ref()).await?;
    let conversation = after(earlier.said.transcript, run.message);
    let starting =
        StartingRun { id, owner, thread, first, setting, prepared, conversation, limits };
    // In a task: from here on there is a run that somebody has to drive or to end, also if its client is gone.
    let started = tokio::spawn(start(host.clone(), starting));
    let (state, pieces) = started.await.map_err(|_| BeginRunError::Stopping)??;
    let run = match life {
        RunLife::Lasting => LiveRun::watching(state),
        RunLife::WithRequest => LiveRun::tied(state),
    };
    Ok(BegunRun { run, pieces })
}

type StartedRun = (Arc<LiveState>, broadcast::Receiver<RunPiece>);

async fn start(host: Arc<RunHost>, run: StartingRun) -> Result<StartedRun, BeginRunError> {
    let journal = RunJournal::new(Arc::new(host.store.clone()), run.id);
    let started = host.start(run, journal.clone()).await;
    if started.is_err() {
        let (id, last) = (journal.id(), journal.last());
        let _ = host.store.end(id, last, RunOutcome::Failed).await;
    }
    started
}

impl RunHost {
    async fn start(
        self: &Arc<Self>,
        run: StartingRun,
        journal: RunJournal,
    ) -> Result<StartedRun, BeginRunError> {
        let StartingRun { id, owner, thread, first, setting, prepared, conversation, limits } = run;
        journal.append(first).await?;
        self.store.keep_run_up(id).await?;
        let (state, pieces) = LiveState::new((id, owner, thread), journal, setting.token());
        let state = Arc::new(state);
        self.insert(&state)?;
        self.spawn(state.clone(), prepared, DrivenRun::New(conversation, limits));
        Ok((state, pieces))
    }

    /// What was said before, and the agent that it is with.
    async fn earlier(
        &self,
        owner: &DataOwner,
        run: &NewAgentRun,
    ) -> Result<(EarlierSaid, Option<AgentId>), BeginRunError> {
        let agent = run.agent.clone().or_else(|| run.principal.agent.clone());
        let said = ThreadHistory::default();
        let id = match &run.conversation {
            RunConversation::New => {
                return Ok((EarlierSaid { thread: None, said, requests: Vec::new() }, agent));
            }
            RunConversation::Sent(turns) => {
                let said = sent(turns)?;
                let is_request = |(at, turn)| matches!(turn, &Turn::User(_)).then_some(at);
                let requests = turns.iter().enumerate().filter_map(is_request).collect();
                return Ok((EarlierSaid { thread: None, said, requests }, agent));
            }
            RunConversation::Thread(id) => *id,
        };
        let thread = self.store.thread(owner, id).await?;
        let thread = thread.ok_or(BeginRunError::UnknownThread(id))?;
        if agent.is_some() && agent != thread.agent {
            return Err(BeginRunError::OtherAgent { of: thread.agent });
        }
        let runs = self.store.runs_of(owner, id).await?;
        // Its calls may be made any time, and this run would know nothing of them.
        if let Some(open) = runs.iter().find(|run| run.end.is_none()) {
            return Err(BeginRunError::ThreadBusy { run: open.id });
        }
        let runs = runs.into_iter().map(|run| run.id);
        let said = ThreadHistory::read(&self.store, owner, runs).await?;
        let requests = said.said.iter().map(|(at, _)| *at).collect();
        Ok((EarlierSaid { thread: Some(id), said, requests }, thread.agent))
    }

    async fn setting(
        &self,
        run: &NewAgentRun,
        agent: Option<AgentId>,
    ) -> Result<RunSetting, BeginRunError> {
        let has_own_token = match &run.principal.token {
            Some(token) => self.store.knows_token(&token.id).await?,
            None => false,
        };
        Ok(RunSetting {
            principal: self.people.without_groups(&run.principal),
            has_own_token,
            agent,
            model: run.model.clone(),
            instructions: run.instructions.clone(),
            origin: run.origin,
            life: run.life,
        })
    }

    /// Finds what a run is to use, as the configuration is now and as far as its principal may.
    pub(super) fn prepare(
        &self,
        setting: &RunSetting,
        principal: Arc<Principal>,
    ) -> Result<PreparedRun, BeginRunError> {
        let config = self.config.load_full();
        let agent = setting.agent.clone();
        let of_agent = agent.as_ref().and_then(|agent| config.agents.get(agent));
        let audience = self.audience(agent.as_ref(), of_agent, &principal)?;
        let model = chosen(setting.model.as_deref(), of_agent, &config, &principal)?;
        let acting = match &agent {
            None => Principal::clone(&principal),
            Some(agent) => {
                let unknown = || BeginRunError::UnknownAgent(agent.clone());
                principal.acting_as(agent).ok_or_else(unknown)?
            }
        };
        let client = ClientName::new(setting.origin.client());
        let meta = Arc::new(RequestMeta { client: Some(client), ..RequestMeta::default() });
        let caller = Caller { meta, label: SharedLabel::default(), ..Caller::silent() };
        let surface = SurfaceTools::new(self.exchange.clone(), audience, Arc::new(acting), caller);
        let tools = HostedTools {
            surface,
            has_persona: of_agent.is_some_and(|agent| !agent.instructions.is_empty()),
            instructions: setting.instructions.clone(),
            life: setting.life,
        };
        Ok(PreparedRun { principal, agent, model, tools })
    }

    fn audience(
        &self,
        agent: Option<&AgentId>,
        config: Option<&AgentConfig>,
        principal: &Principal,
    ) -> Result<Audience, BeginRunError> {
        let audience = match agent {
            None => self.exchange.audience(Scope::Everything, Some(Disclosures::TYPED)),
            Some(id) => {
                let unknown = || BeginRunError::UnknownAgent(id.clone());
                let config = config.filter(|_| self.exchange.shows_agent(principal, id));
                let own = config.ok_or_else(unknown)?.disclosure.is_some();
                let usual = (!own).then_some(Disclosures::TYPED);
                self.exchange.agent_audience(id, usual).ok_or_else(unknown)?
            }
        };
        Ok(audience.map_err(|error| BeginRunError::NoTools(error.into()))?.told_all())
    }

    /// Begins a run in the journal, and its thread with it where it begins one.
    async fn begin_journal(
        &self,
        owner: &DataOwner,
        run: &NewAgentRun,
        earlier: &EarlierSaid,
        agent: Option<&AgentId>,
    ) -> Result<(RunId, Option<ThreadId>), BeginRunError> {
        let id = RunId::new(self.clock.now(), fastrand::u128(..));
        let thread = match run.conversation {
            RunConversation::Sent(_) => None,
            RunConversation::Thread(_) => earlier.thread,
            RunConversation::New => {
                let (id, title) = (ThreadId::of(id), thread_title(&run.message));
                let new = NewThread { id, owner: *owner, title, agent: agent.cloned() };
                self.store.begin_thread(new).await?;
                Some(id)
            }
        };
        let subject = agent.map(ToString::to_string).unwrap_or_default();
        let kind = RunKind::Agent;
        let new = NewRun { id, owner: *owner, kind, subject, parent: None, thread };
        self.store.begin(new).await?;
        Ok((id, thread))
    }
}

/// The model of this name, the agent's, or the first that somebody may use.
fn chosen(
    name: Option<&str>,
    agent: Option<&AgentConfig>,
    config: &Config,
    principal: &Principal,
) -> Result<AgentModel, BeginRunError> {
    let model = match name {
        Some(name) => config.model_for(name, principal)?,
        None => config.usual_model(agent, principal).ok_or(BeginRunError::NoModel)?,
    };
    Ok(agent_model(model, agent, config, principal)?)
}

/// What a client sent, as a conversation in which every message is its person's.
fn sent(turns: &[Turn]) -> Result<ThreadHistory, BeginRunError> {
    if turns.is_empty() {
        return Ok(ThreadHistory::default());
    }
    if earlier_events(turns).is_none() {
        return Err(BeginRunError::TooLarge);
    }
    let history = History::try_from(turns.to_vec()).map_err(|_| BeginRunError::NoConversation)?;
    Ok(ThreadHistory { transcript: Some(history.into()), said: Vec::new() })
}

fn after(transcript: Option<Transcript>, message: UserMessage) -> Transcript {
    match transcript {
        None => History::new(message).into(),
        Some(mut transcript) => {
            transcript.say(message);
            transcript
        }
    }
}
