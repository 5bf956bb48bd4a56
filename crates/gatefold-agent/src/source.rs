//! Agents that others can have work done by, as a source with one tool.

mod catalogue;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use arc_swap::ArcSwap;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{
    AssemblyStep, KindName, LINE_LIMIT, Manifest, ToolPlace, TopicTool, TopicUse, address,
    nearest_texts, one_line,
};
use gatefold_core::{AgentId, BoxError, CallError, Clock, EntryKind, Payload, Principal, Target};
use gatefold_dispatch::{
    AdmittedCall, CallContext, ModelLedger, ResourceAccess, StatelessSource, UseOrigin,
};
use gatefold_exchange::Exchange;
use gatefold_model::{History, ModelClient, ToolCall, UserMessage};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::surface_tools::EarlierTurns;
use crate::{
    AgentLimits, AgentTools as _, Budget, Driver, MeteredModel, ModelMeter, ModelRoom, RunEnd,
    RunLimits, RunWatcher, SurfaceTools,
};

const CALL_AGENT: &str = "call_agent";
const AGENT_ID: &str = "agent_id";
const TASK: &str = "task";

const SUMMARY: &str = "Have another agent do a task, and get its answer. It has tools and instructions of its own, and \
     knows nothing of this conversation: put all it needs into the task.";
const HEADING: &str = "Available agents:";
const TASK_SCHEMA: &str =
    r#"{"type":"string","description":"What to do, with all that the agent has to know."}"#;

/// What the caller's model reads when the agent's own answers its user no more today.
const DAY_SPENT: &str = "The agent has worked for this user as much as it may today, and works again after \
     midnight, UTC. Do the rest yourself or through another agent, or tell the user.";

/// How many agents an error names.
const NAMED: usize = 50;

/// The longest task, in bytes.
const MAX_TASK: usize = 256 * 1024;

const PLACE: ToolPlace = ToolPlace::Topics(&[TopicTool {
    name: CALL_AGENT,
    step: AssemblyStep::CallAgent,
    noun: "agent",
    summary: SUMMARY,
    stubs_heading: HEADING,
    texts_heading: HEADING,
    usage: TopicUse::Call,
    parameter: AGENT_ID,
    parameters: &[(TASK, TASK_SCHEMA)],
}]);

/// The models of agents.
pub trait AgentModels: Send + Sync + 'static {
    /// An agent's model. None if the principal may use none that the agent could have.
    fn model(&self, agent: &AgentId, principal: &Principal) -> Option<AgentModel>;
}

/// A model with those that answer when it fails, and what an agent's runs with it are limited to.
pub struct AgentModel {
    pub client: ModelClient,
    /// The model and its fallbacks, in the order in which `client` asks them.
    pub chain: Vec<MeteredModel>,
    pub room: ModelRoom,
    pub limits: AgentLimits,
}

/// An agent that others can have work done by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallableAgent {
    pub id: AgentId,
    /// What it is for, as those read it who may call it.
    pub description: String,
    /// How it is shown its tools, if not as its client is.
    pub disclosure: Option<String>,
    /// Whether everybody finds it. The tool's own definition, which is the same for all, names no other.
    pub is_everybodys: bool,
}

/// Lets agents work within calls, each under its own rules and for the user of the call.
pub struct AgentSource {
    agents: ArcSwap<Vec<CallableAgent>>,
    models: Arc<dyn AgentModels>,
    ledger: Arc<dyn ModelLedger>,
    exchange: OnceLock<Weak<Exchange>>,
    clock: Arc<dyn Clock>,
}

#[derive(Deserialize)]
struct CallArguments {
    agent_id: String,
    task: String,
}

impl AgentSource {
    pub const KIND: KindName = KindName::at("agents", &PLACE);

    /// What its domain is called, unless a source of the configuration is called so.
    pub const DOMAIN: &str = "agents";

    pub fn new(
        models: Arc<dyn AgentModels>,
        ledger: Arc<dyn ModelLedger>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { agents: ArcSwap::default(), models, ledger, exchange: OnceLock::new(), clock }
    }

    /// Says where agents make their calls. The first one counts.
    pub fn connect(&self, exchange: &Arc<Exchange>) {
        let _ = self.exchange.set(Arc::downgrade(exchange));
    }

    /// Replaces the agents. What it offers afterwards is its manifest.
    pub fn set_agents(&self, agents: Vec<CallableAgent>) {
        self.agents.store(Arc::new(agents));
    }

    pub fn manifest(&self) -> Manifest {
        catalogue::manifest(&self.agents.load(), self.clock.now())
    }

    /// The address of an agent, which is hidden from whoever must not find it.
    pub fn resource(agent: &AgentId) -> String {
        format!("agent://{agent}")
    }

    async fn answer(&self, call: AdmittedCall, context: CallContext) -> Result<Payload, CallError> {
        let target = call.target().clone();
        match target.kind {
            EntryKind::Tool if &*target.name == CALL_AGENT => {
                self.delegate(&call, &context, &target).await
            }
            EntryKind::Resource => self.describe_agent(&target),
            kind => Err(CallError::Unknown { kind: kind.as_str(), name: target.name.to_string() }),
        }
    }

    async fn delegate(
        &self,
        call: &AdmittedCall,
        context: &CallContext,
        target: &Target,
    ) -> Result<Payload, CallError> {
        let invalid =
            |message| CallError::InvalidArguments { tool: target.id.clone(), message, data: None };
        let arguments = call.arguments().map_or("{}", RawValue::get);
        let arguments: CallArguments =
            serde_json::from_str(arguments).map_err(|error| invalid(error.to_string()))?;
        if arguments.task.len() > MAX_TASK {
            let limit = MAX_TASK / 1024;
            return Err(invalid(format!("`{TASK}` is longer than {limit} KiB; say it shorter")));
        }
        let task = UserMessage::text(&arguments.task)
            .map_err(|_| invalid(format!("`{TASK}` is blank; say what to do")))?;
        let exchange = self.exchange.get().and_then(Weak::upgrade).ok_or(CallError::Cancelled)?;
        let agents = self.agents.load();
        let is_seen = |agent: &&CallableAgent| {
            let address = address(&target.domain, &Self::resource(&agent.id));
            context.nested.resource_access(&address) != ResourceAccess::Hidden
                && exchange.shows_agent(call.principal(), &agent.id)
        };
        let known: Vec<_> = agents.iter().filter(is_seen).collect();
        let Some(agent) = known.iter().find(|agent| agent.id.as_str() == arguments.agent_id.trim())
        else {
            return Err(invalid(unknown(&arguments.agent_id, &known)));
        };
        let audience = exchange.agent_audience(&agent.id, agent.disclosure.as_deref());
        let Some(Ok(audience)) = audience else {
            return Ok(report_failure("The agent cannot work for now. Tell the user."));
        };
        let tools = SurfaceTools::of_delegate(exchange, context, audience.told_all());
        tools.choose_for(EarlierTurns::default(), &task).await;
        let watcher = DelegateWatcher { context, agent: &agent.id, calls: AtomicU64::default() };
        let Some(model) = self.models.model(&agent.id, call.principal()) else {
            return Ok(report_failure("The agent has no model that it could use. Tell the user."));
        };
        let Ok(offer) = tools.offer().await else {
            return Ok(report_failure("The agent has no tools for now. Tell the user."));
        };
        // What the caller may spend, if a run of ours calls. What is spent here is spent of that.
        let budget = context.caller.attachment.get::<Budget>().cloned().unwrap_or_default();
        if let Some(of) = budget.shortage() {
            return Ok(report_failure(&format!("The agent was not asked: {of}.")));
        }
        let limits = RunLimits::for_model(&model.room, &offer, &model.limits);
        let of_call = |call| UseOrigin::Call(call, budget.run());
        let origin = context.nested.parent().map_or(UseOrigin::Elsewhere, of_call);
        let (ledger, who) = (self.ledger.clone(), call.principal());
        let meter = ModelMeter::new(ledger, who, Some(&agent.id), origin, model.chain);
        let driver = Driver::new(&model.client, &tools)
            .with_clock(self.clock.clone())
            .with_watcher(&watcher)
            .with_meter(meter)
            .with_budget(budget)
            .with_cancellation(context.caller.cancel.clone());
        let run = driver.drive(History::new(task), limits).await;
        let run = run.map_err(|fault| CallError::Unavailable {
            domain: target.domain.clone(),
            reason: "the agent's run could not be kept".to_owned(),
            source: Some(fault.into()),
        })?;
        result_of(&agent.id, run.end_state(), &run.answer().unwrap_or_default())
    }

    /// What reading an agent's resource gives.
    fn describe_agent(&self, target: &Target) -> Result<Payload, CallError> {
        let agents = self.agents.load();
        let agent = agents.iter().find(|agent| Self::resource(&agent.id) == *target.name);
        let agent = agent.ok_or_else(|| CallError::MissingResource {
            tool: target.id.clone(),
            message: "there is no such agent".to_owned(),
            data: None,
        })?;
        let content =
            json!({ "uri": &*target.name, "mimeType": "text/plain", "text": agent.description });
        let json = to_raw_value(&json!({ "contents": [content] }));
        Ok(Payload { json: json.expect("a JSON value is JSON"), is_error: false })
    }
}

/// Tells whoever follows the call what the agent calls.
struct DelegateWatcher<'a> {
    context: &'a CallContext,
    agent: &'a AgentId,
    calls: AtomicU64,
}

impl RunWatcher for DelegateWatcher<'_> {
    fn on_call(&self, _: usize, request: &ToolCall) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        // The name is the model's own words.
        let name = one_line(&request.name, LINE_LIMIT);
        self.context.progress(calls, None, &format!("{} calls {name}", self.agent));
    }
}

fn unknown(asked: &str, known: &[&CallableAgent]) -> String {
    let names = || known.iter().map(|agent| agent.id.as_str());
    let nearest = nearest_texts(asked, names());
    let some: Vec<_> = names().take(NAMED).collect();
    match (nearest.as_slice(), some.as_slice()) {
        ([], []) => "there is no agent".to_owned(),
        ([], some) => format!("there is no such agent; there are: {}", some.join(", ")),
        (nearest, _) => format!("there is no such agent; did you mean: {}", nearest.join(", ")),
    }
}

fn report_failure(text: &str) -> Payload {
    Payload { is_error: true, ..Payload::text(text) }
}

/// What a model is told of a run that has ended.
fn result_of(agent: &AgentId, end: Option<&RunEnd>, answer: &str) -> Result<Payload, CallError> {
    match end {
        Some(RunEnd::Answered) => Ok(Payload::text(answer)),
        Some(RunEnd::Short { of }) if answer.trim().is_empty() => {
            Ok(report_failure(&format!("The agent ended without an answer: {of}.")))
        }
        Some(RunEnd::Short { of }) => {
            Ok(Payload::text(&format!("{answer}\n\n(The agent ended early: {of}.)")))
        }
        Some(RunEnd::Refused) => Ok(report_failure("The agent's model would not answer this.")),
        Some(RunEnd::Failed { .. }) => {
            // Why it did not may have parts of the prompt or of a key in it.
            tracing::warn!(%agent, "an agent's model gave no answer: `gatefold models check` tries it");
            Ok(report_failure("The agent could not work: its model gave no answer. Tell the user."))
        }
        Some(RunEnd::DaySpent { .. }) if answer.trim().is_empty() => Ok(report_failure(DAY_SPENT)),
        Some(RunEnd::DaySpent { .. }) => Ok(Payload::text(&format!("{answer}\n\n({DAY_SPENT})"))),
        Some(RunEnd::Cancelled) | None => Err(CallError::Cancelled),
    }
}

impl StatelessSource for AgentSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async { Ok(self.manifest()) }.boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }

    fn runs_as_task(&self, tool: &str, _: &RawValue) -> bool {
        tool == CALL_AGENT
    }
}
